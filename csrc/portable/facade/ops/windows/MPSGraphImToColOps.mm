// The windows of images as columns, and the way back.

#include "facade/ops/windows/window.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;
using ir::Composite;

namespace {

ir::Attributes attributes_of(MPSGraphImToColOpDescriptor* descriptor) {
  const WindowFields& window = fields_of(descriptor);
  const ir::Attributes all = window_attributes(window, @"imToCol");
  return {{Attr::kWindow, dims_of(window.kernelHeight, window.kernelWidth)},
          {Attr::kStrides, all.ints(Attr::kStrides)},
          {Attr::kDilations, all.ints(Attr::kDilations)},
          {Attr::kPadding, all.ints(Attr::kPadding)},
          {Attr::kDataLayout, all.word(Attr::kDataLayout)}};
}

}  // namespace

@implementation MPSGraph (MPSGraphImToColOps)

- (MPSGraphTensor*)imToColWithSourceTensor:(MPSGraphTensor*)source
                                descriptor:(MPSGraphImToColOpDescriptor*)descriptor
                                      name:(NSString*)name {
  return add(self, Composite::im2col, {value_of(self, source)}, attributes_of(descriptor), name);
}

- (MPSGraphTensor*)colToImWithSourceTensor:(MPSGraphTensor*)source
                               outputShape:(MPSShape*)outputShape
                                descriptor:(MPSGraphImToColOpDescriptor*)descriptor
                                      name:(NSString*)name {
  const ir::Value columns = value_of(self, source);
  return add(self, Composite::col2im, {columns, unspecified(self, outputShape, columns.dtype())},
             attributes_of(descriptor), name);
}

@end
