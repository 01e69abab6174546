// A hierarchy of classes over several files.
#pragma once
#include "tensor_data.h"

@interface Layer : NSObject
@property(nonatomic, copy) NSString* name;
@property(nonatomic) float rate;
- (double)apply:(double)x;
+ (NSArray<Class>*)known;
+ (void)add:(Class)layer;
@end

@interface Scale : Layer {
 @public
  double _factor;
  float _bias;
}
@end

@interface Power : Scale
@property(nonatomic) int exponent;
@end

@interface Layer (Describing)
- (NSString*)summary;
@end
