// Umbrella of the portable Metal: device, queues, command buffers, buffers, events. No shaders, no textures.
#pragma once

#import <Metal/MTLBuffer.h>
#import <Metal/MTLCommandBuffer.h>
#import <Metal/MTLCommandQueue.h>
#import <Metal/MTLDefines.h>
#import <Metal/MTLDevice.h>
#import <Metal/MTLEvent.h>
#import <Metal/MTLResource.h>
