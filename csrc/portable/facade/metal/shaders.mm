// The error for everything that needs a shader.

#include "facade/metal/metal.h"

NSString* const MTLLibraryErrorDomain = @"MTLLibraryErrorDomain";

namespace alloy::facade {

void refuse_shaders(NSError** error, NSString* method) {
  set_error(
      error, MTLLibraryErrorDomain, MTLLibraryErrorUnsupported,
      [NSString stringWithFormat:@"[%@] Shaders do not exist on this device: it computes graphs and the kernels of "
                                 @"Metal Performance Shaders.",
                                 method]);
}

}  // namespace alloy::facade
