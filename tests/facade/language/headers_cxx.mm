// Every public header compiles as Objective-C++.

#import <Foundation/Foundation.h>

#import <Block.h>
#import <Metal/Metal.h>
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>
#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>
#import <dispatch/dispatch.h>

int main(void) {
  NSInteger* strides = nil;
  id object = nil;
  MTLResourceOptions options = MTLResourceStorageModeShared | MTLResourceHazardTrackingModeUntracked;
  MPSDataType type = MPSDataTypeFloat32;
  return strides == nil && object == nil && options == 0x100 && MPSSizeofMPSDataType(type) == 4 &&
                 MPSSizeofMPSDataType(MPSDataTypeBool) == 1
             ? 0
             : 1;
}
