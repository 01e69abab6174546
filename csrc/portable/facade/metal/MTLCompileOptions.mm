// Options for compiling shaders, which this device does not do.

#import <Metal/Metal.h>

#include "facade/descriptor.h"

using namespace alloy::facade;

namespace {

using Macros = NSDictionary<NSString*, NSObject*>*;

struct CompileFields {
  Retained<Macros> preprocessorMacros;
  BOOL fastMathEnabled = YES;
  MTLMathMode mathMode = MTLMathModeRelaxed;
  MTLLanguageVersion languageVersion = MTLLanguageVersion3_0;
};

}  // namespace

@implementation MTLCompileOptions

DESCRIPTOR_LIFE(CompileFields, {})
DESCRIPTOR_OBJECT(CompileFields, Macros, preprocessorMacros, setPreprocessorMacros, copy, [NSDictionary class])
DESCRIPTOR_FIELD(CompileFields, BOOL, fastMathEnabled, setFastMathEnabled)
DESCRIPTOR_FIELD(CompileFields, MTLMathMode, mathMode, setMathMode)
DESCRIPTOR_FIELD(CompileFields, MTLLanguageVersion, languageVersion, setLanguageVersion)

@end
