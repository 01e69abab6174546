// Umbrella of the core types of MPS.

#pragma once

#import <MPSCore/MPSCoreTypes.h>
#import <MPSCore/MPSNDArray.h>
#import <MPSCore/MPSCommandBuffer.h>
