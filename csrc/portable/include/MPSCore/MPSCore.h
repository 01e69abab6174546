// Umbrella of the core types of MPS.
#pragma once

#import <MPSCore/MPSCommandBuffer.h>
#import <MPSCore/MPSCoreTypes.h>
#import <MPSCore/MPSImage.h>
#import <MPSCore/MPSKernel.h>
#import <MPSCore/MPSMatrix.h>
#import <MPSCore/MPSNDArray.h>
