// Umbrella of the portable Metal Performance Shaders: arrays and command buffers. No kernels.
#pragma once

#import <MPSCore/MPSCore.h>
