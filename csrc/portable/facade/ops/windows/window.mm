#include "facade/ops/windows/window.h"

#include <algorithm>

namespace alloy::facade {

using ir::Attr;

namespace {

std::string style_word(MPSGraphPaddingStyle style, NSString* method) {
  switch (style) {
    case MPSGraphPaddingStyleExplicit: return "explicit";
    case MPSGraphPaddingStyleTF_VALID: return "valid";
    case MPSGraphPaddingStyleTF_SAME: return "same";
    case MPSGraphPaddingStyleONNX_SAME_LOWER: return "same_lower";
    default: raise_invalid(@"[%@] The padding style %d is not for this op.", method, static_cast<int>(style));
  }
}

using Layout = MPSGraphTensorNamedDataLayout;

Layout one_of(Layout layout, Layout first, Layout second, NSString* field, NSString* expected) {
  if (layout == first || layout == second) return layout;
  raise_invalid(@"[%@] The layout is %lu, but %@.", field, static_cast<unsigned long>(layout), expected);
}

}  // namespace

ir::Dims dims_of(NSUInteger y, NSUInteger x) { return {static_cast<int64_t>(y), static_cast<int64_t>(x)}; }

std::string layout_word(MPSGraphTensorNamedDataLayout layout, NSString* method) {
  switch (layout) {
    case MPSGraphTensorNamedDataLayoutNCHW: return "NCHW";
    case MPSGraphTensorNamedDataLayoutNHWC: return "NHWC";
    case MPSGraphTensorNamedDataLayoutOIHW: return "OIHW";
    case MPSGraphTensorNamedDataLayoutHWIO: return "HWIO";
    case MPSGraphTensorNamedDataLayoutNCDHW: return "NCDHW";
    case MPSGraphTensorNamedDataLayoutNDHWC: return "NDHWC";
    case MPSGraphTensorNamedDataLayoutOIDHW: return "OIDHW";
    case MPSGraphTensorNamedDataLayoutDHWIO: return "DHWIO";
    default: raise_invalid(@"[%@] The layout %d is not one of images or weights.", method, static_cast<int>(layout));
  }
}

ir::Attributes window_attributes(const WindowFields& w, NSString* method) {
  return {{Attr::kStrides, dims_of(w.strideInY, w.strideInX)},
          {Attr::kDilations, dims_of(w.dilationRateInY, w.dilationRateInX)},
          {Attr::kPadding, ir::Dims{static_cast<int64_t>(w.paddingTop), static_cast<int64_t>(w.paddingBottom),
                                    static_cast<int64_t>(w.paddingLeft), static_cast<int64_t>(w.paddingRight)}},
          {Attr::kPaddingStyle, style_word(w.paddingStyle, method)},
          {Attr::kDataLayout, layout_word(w.dataLayout, method)}};
}

ir::Attributes volume_attributes(const WindowFields& w, NSString* method) {
  ir::Attributes attributes = window_attributes(w, method);
  const auto put_first = [&](Attr attr, std::initializer_list<NSUInteger> along_z) {
    ir::Dims values(along_z.begin(), along_z.end());
    const ir::Dims& others = attributes.ints(attr);
    values.insert(values.end(), others.begin(), others.end());
    attributes.set(attr, values);
  };
  put_first(Attr::kStrides, {w.strideInZ});
  put_first(Attr::kDilations, {w.dilationRateInZ});
  put_first(Attr::kPadding, {w.paddingFront, w.paddingBack});
  return attributes;
}

ir::Attributes convolution_attributes(ir::Attributes attributes, const WindowFields& window, NSString* method) {
  attributes.set(Attr::kWeightsLayout, layout_word(window.weightsLayout, method));
  attributes.set(Attr::kGroups, static_cast<int64_t>(window.groups));
  return attributes;
}

ir::Attributes list_attributes(const WindowLists& lists, NSString* method) {
  return {{Attr::kStrides, lists.strides},
          {Attr::kDilations, lists.dilationRates},
          {Attr::kPadding, lists.paddingValues},
          {Attr::kPaddingStyle, style_word(lists.paddingStyle, method)}};
}

NSUInteger checked_count(NSUInteger value, NSString* field) {
  if (value == 0) raise_invalid(@"[%@] The value is 0, but it must be positive.", field);
  return value;
}

// A negative length arrives as a huge one.
NSUInteger checked_length(NSUInteger value, NSString* field) {
  if (value > static_cast<NSUInteger>(NSIntegerMax)) {
    raise_invalid(@"[%@] The value is %ld, but it must not be negative.", field, static_cast<long>(value));
  }
  return value;
}

MPSGraphPaddingStyle checked_style(MPSGraphPaddingStyle style, NSString* field) {
  if (style != MPSGraphPaddingStyleExplicit && style != MPSGraphPaddingStyleTF_VALID &&
      style != MPSGraphPaddingStyleTF_SAME && style != MPSGraphPaddingStyleONNX_SAME_LOWER) {
    raise_invalid(@"[%@] The padding style %lu does not exist for windows.", field, static_cast<unsigned long>(style));
  }
  return style;
}

Layout checked_data_layout(Layout layout, NSString* field) {
  return one_of(layout, MPSGraphTensorNamedDataLayoutNCHW, MPSGraphTensorNamedDataLayoutNHWC, field,
                @"data is NCHW or NHWC");
}

Layout checked_weights_layout(Layout layout, NSString* field) {
  return one_of(layout, MPSGraphTensorNamedDataLayoutOIHW, MPSGraphTensorNamedDataLayoutHWIO, field,
                @"weights are OIHW or HWIO");
}

Layout checked_volume_layout(Layout layout, NSString* field) {
  return one_of(layout, MPSGraphTensorNamedDataLayoutNCDHW, MPSGraphTensorNamedDataLayoutNDHWC, field,
                @"volumes are NCDHW or NDHWC");
}

Layout checked_volume_weights_layout(Layout layout, NSString* field) {
  return one_of(layout, MPSGraphTensorNamedDataLayoutOIDHW, MPSGraphTensorNamedDataLayoutDHWIO, field,
                @"weights of volumes are OIDHW or DHWIO");
}

MPSGraphPoolingReturnIndicesMode checked_indices_mode(MPSGraphPoolingReturnIndicesMode mode, NSString* field) {
  if (mode > MPSGraphPoolingReturnIndicesLocalFlatten4D) {
    raise_invalid(@"[%@] The mode %lu does not exist.", field, static_cast<unsigned long>(mode));
  }
  return mode;
}

MPSDataType checked_indices_type(MPSDataType type, NSString* field) {
  if (type != MPSDataTypeInt32) raise_invalid(@"[%@] Indices are of type Int32 alone.", field);
  return type;
}

NSInteger checked_channel_index(NSInteger index, NSString* field) {
  if (index < -4 || index > -1) {
    raise_invalid(@"[%@] The index is %ld, but channels lie at -4 to -1.", field, static_cast<long>(index));
  }
  return index;
}

ir::Dims checked_list(NSArray<NSNumber*>* numbers, int64_t count, int64_t least, NSString* field) {
  const ir::Dims list = numbers_of(numbers);
  if (list.size() == count && std::all_of(list.begin(), list.end(), [=](int64_t n) { return n >= least; })) return list;
  raise_invalid(@"[%@] %lld numbers of %lld or more were expected, got %s.", field, static_cast<long long>(count),
                static_cast<long long>(least), to_string(ir::Shape(list)).c_str());
}

}  // namespace alloy::facade
