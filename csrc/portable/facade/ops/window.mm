#include "facade/ops/window.h"

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

}  // namespace

ir::Dims dims_of(NSUInteger y, NSUInteger x) { return {static_cast<int64_t>(y), static_cast<int64_t>(x)}; }

std::string layout_word(MPSGraphTensorNamedDataLayout layout, NSString* method) {
  switch (layout) {
    case MPSGraphTensorNamedDataLayoutNCHW: return "NCHW";
    case MPSGraphTensorNamedDataLayoutNHWC: return "NHWC";
    case MPSGraphTensorNamedDataLayoutOIHW: return "OIHW";
    case MPSGraphTensorNamedDataLayoutHWIO: return "HWIO";
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

MPSGraphTensorNamedDataLayout checked_data_layout(MPSGraphTensorNamedDataLayout layout, NSString* field) {
  if (layout != MPSGraphTensorNamedDataLayoutNCHW && layout != MPSGraphTensorNamedDataLayoutNHWC) {
    raise_invalid(@"[%@] The layout is %lu, but data is NCHW or NHWC.", field, static_cast<unsigned long>(layout));
  }
  return layout;
}

MPSGraphTensorNamedDataLayout checked_weights_layout(MPSGraphTensorNamedDataLayout layout, NSString* field) {
  if (layout != MPSGraphTensorNamedDataLayoutOIHW && layout != MPSGraphTensorNamedDataLayoutHWIO) {
    raise_invalid(@"[%@] The layout is %lu, but weights are OIHW or HWIO.", field, static_cast<unsigned long>(layout));
  }
  return layout;
}

}  // namespace alloy::facade
