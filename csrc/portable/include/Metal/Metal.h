// Umbrella of the portable Metal: device, queues, command buffers, buffers, events. No shaders, no textures.

#pragma once

#import <Metal/MTLDefines.h>
#import <Metal/MTLResource.h>
#import <Metal/MTLBuffer.h>
#import <Metal/MTLDevice.h>
#import <Metal/MTLCommandQueue.h>
#import <Metal/MTLCommandBuffer.h>
#import <Metal/MTLEvent.h>
