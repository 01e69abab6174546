// Umbrella of the portable Metal Performance Shaders: arrays and command buffers. No image, matrix or network kernels.

#pragma once

#import <MPSCore/MPSCore.h>
