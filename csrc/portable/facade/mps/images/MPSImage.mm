// Images and their descriptors.

#include <limits>

#include "facade/descriptor.h"
#include "facade/mps/images/images.h"

using namespace alloy;
using namespace alloy::facade;

namespace {

struct ImageFields {
  NSUInteger width = 1, height = 1, featureChannels = 1, numberOfImages = 1;
  MPSImageFeatureChannelFormat channelFormat = MPSImageFeatureChannelFormatNone;
  MTLCPUCacheMode cpuCacheMode = MTLCPUCacheModeDefaultCache;
  MTLStorageMode storageMode = MTLStorageModeManaged;
  MTLTextureUsage usage = MTLTextureUsageShaderRead | MTLTextureUsageShaderWrite;
};

}  // namespace

@implementation MPSImageDescriptor

DESCRIPTOR_WITH(MPSImageDescriptor, imageDescriptorWithChannelFormat,
                takes(channelFormat, MPSImageFeatureChannelFormat), takes(width, NSUInteger), takes(height, NSUInteger),
                takes(featureChannels, NSUInteger))
DESCRIPTOR_WITH(MPSImageDescriptor, imageDescriptorWithChannelFormat,
                takes(channelFormat, MPSImageFeatureChannelFormat), takes(width, NSUInteger), takes(height, NSUInteger),
                takes(featureChannels, NSUInteger), takes(numberOfImages, NSUInteger), takes(usage, MTLTextureUsage))

DESCRIPTOR_LIFE(ImageFields, {})
DESCRIPTOR_FIELD(ImageFields, NSUInteger, width, setWidth)
DESCRIPTOR_FIELD(ImageFields, NSUInteger, height, setHeight)
DESCRIPTOR_FIELD(ImageFields, NSUInteger, featureChannels, setFeatureChannels)
DESCRIPTOR_FIELD(ImageFields, NSUInteger, numberOfImages, setNumberOfImages)
DESCRIPTOR_FIELD(ImageFields, MPSImageFeatureChannelFormat, channelFormat, setChannelFormat)
DESCRIPTOR_FIELD(ImageFields, MTLCPUCacheMode, cpuCacheMode, setCpuCacheMode)
DESCRIPTOR_FIELD(ImageFields, MTLStorageMode, storageMode, setStorageMode)
DESCRIPTOR_FIELD(ImageFields, MTLTextureUsage, usage, setUsage)

// Formats of one channel, two, or four in each pixel.
- (MTLPixelFormat)pixelFormat {
  const auto by_channels = [&](MTLPixelFormat one, MTLPixelFormat two, MTLPixelFormat four) {
    return [self featureChannels] <= 1 ? one : [self featureChannels] == 2 ? two : four;
  };
  switch ([self channelFormat]) {
    case MPSImageFeatureChannelFormatUnorm8:
      return by_channels(MTLPixelFormatR8Unorm, MTLPixelFormatRG8Unorm, MTLPixelFormatRGBA8Unorm);
    case MPSImageFeatureChannelFormatUnorm16:
      return by_channels(MTLPixelFormatR16Unorm, MTLPixelFormatRG16Unorm, MTLPixelFormatRGBA16Unorm);
    case MPSImageFeatureChannelFormatFloat16:
      return by_channels(MTLPixelFormatR16Float, MTLPixelFormatRG16Float, MTLPixelFormatRGBA16Float);
    case MPSImageFeatureChannelFormatFloat32:
      return by_channels(MTLPixelFormatR32Float, MTLPixelFormatRG32Float, MTLPixelFormatRGBA32Float);
    default: return MTLPixelFormatInvalid;
  }
}

@end

namespace alloy::facade {

ImageParts& parts_of(MPSImage* image) {
  static const Class our_class = [MPSImage class];
  require_kind(image, our_class);
  return *static_cast<ImageParts*>(image->_impl);
}

MPSDataType channel_type(MPSImageFeatureChannelFormat format) {
  switch (format) {
    case MPSImageFeatureChannelFormatUnorm8: return MPSDataTypeUInt8;
    case MPSImageFeatureChannelFormatUnorm16: return MPSDataTypeUInt16;
    case MPSImageFeatureChannelFormatFloat16: return MPSDataTypeFloat16;
    case MPSImageFeatureChannelFormatFloat32: return MPSDataTypeFloat32;
    default:
      raise_invalid(@"[MPSImage] The channel format is %lu, but Unorm8, Unorm16, Float16 or Float32 was expected.",
                    static_cast<unsigned long>(format));
  }
}

double channel_scale(MPSImageFeatureChannelFormat format) {
  return format == MPSImageFeatureChannelFormatUnorm8 ? 255 : format == MPSImageFeatureChannelFormatUnorm16 ? 65535 : 0;
}

device::ArrayMemory part_of(const ImageParts& image, const ImagePart& part) {
  device::ArrayMemory memory = image.memory;
  const size_t starts[] = {part.image, part.y, part.x, part.channel};
  const size_t lengths[] = {part.images, part.height, part.width, part.channels};
  for (size_t axis = 0; axis < 4; ++axis) {
    memory.layout.offset += starts[axis] * static_cast<size_t>(memory.layout.strides[axis]);
    memory.layout.lengths[axis] = lengths[axis];
  }
  return memory;
}

void count_read(MPSImage* image, NSString* what) {
  ImageParts& parts = parts_of(image);
  if (![image isKindOfClass:[MPSTemporaryImage class]]) return;
  if (parts.reads_left == 0) {
    raise_invalid(@"[%@] A temporary image is read once more than its readCount says.", what);
  }
  --parts.reads_left;
}

}  // namespace alloy::facade

namespace {

// The layout of the pixels; raises if there are none or too many.
device::ArrayLayout layout_of(MPSImageDescriptor* descriptor) {
  require_kind(descriptor, [MPSImageDescriptor class]);
  const NSUInteger extents[] = {
      [descriptor numberOfImages], [descriptor height], [descriptor width], [descriptor featureChannels]};
  NSMutableArray* shape = [NSMutableArray array];
  for (const NSUInteger extent : extents) [shape addObject:[NSNumber numberWithUnsignedInteger:extent]];
  return packed_layout(shape, channel_type([descriptor channelFormat]), @"MPSImage");
}

ImageParts* new_parts(id<MTLBuffer> buffer, MPSImageDescriptor* descriptor, device::ArrayLayout layout) {
  const BufferBytes& bytes = facade::bytes_of(buffer);
  layout.offset = bytes.offset;
  return new ImageParts{
      {&device_of([buffer device]), bytes.storage, layout}, [buffer retain], [descriptor copyWithZone:nil]};
}

// Bytes of the host and their layout.
struct HostBytes {
  const void* bytes;
  MPSDataLayout layout;
  // Distances from pixel to pixel, row to row and image to image; 0 means without gaps.
  NSUInteger column, row, image;
};

// A part of an image and its bytes on the host; raises if it is not inside the image.
struct HostCopy {
  device::ArrayMemory memory;
  ptrdiff_t strides[4];  // of the host, from the fastest dimension to the slowest
};

HostCopy host_copy(const ImageParts& image, const HostBytes& host, const MTLRegion& region,
                   MPSImageReadWriteParams channels, NSUInteger index, NSString* method) {
  if (!host.bytes) raise_invalid(@"[%@] The bytes are NULL.", method);
  if (host.layout != MPSDataLayoutHeightxWidthxFeatureChannels &&
      host.layout != MPSDataLayoutFeatureChannelsxHeightxWidth) {
    raise_invalid(@"[%@] The data layout is %lu, but there are 0 and 1.", method,
                  static_cast<unsigned long>(host.layout));
  }
  const device::ArrayLayout& all = image.memory.layout;
  const NSUInteger count = channels.numberOfFeatureChannelsToReadWrite;
  if (channels.featureChannelOffset % 4 || (channels.featureChannelOffset && count % 4)) {
    raise_invalid(
        @"[%@] The channel offset is %lu and the number of channels %lu, but both are multiples of 4 where the "
        @"offset is not 0.",
        method, static_cast<unsigned long>(channels.featureChannelOffset), static_cast<unsigned long>(count));
  }
  const NSUInteger starts[] = {index, region.origin.y, region.origin.x, channels.featureChannelOffset};
  const NSUInteger lengths[] = {region.size.depth, region.size.height, region.size.width, count};
  const char* const names[] = {"images", "rows", "pixels of a row", "channels"};
  for (size_t axis = 0; axis < 4; ++axis) {
    const bool is_z = axis == 0 && region.origin.z > all.lengths[0];
    const NSUInteger start = starts[axis] + (axis == 0 && !is_z ? region.origin.z : 0);
    if (!is_z && lengths[axis] > 0 && starts[axis] < all.lengths[axis] && start < all.lengths[axis] &&
        lengths[axis] <= all.lengths[axis] - start) {
      continue;
    }
    raise_invalid(@"[%@] %lu %s from %lu on were asked for, but the image has %lu.", method,
                  static_cast<unsigned long>(lengths[axis]), names[axis], static_cast<unsigned long>(start),
                  static_cast<unsigned long>(all.lengths[axis]));
  }
  device::ArrayMemory memory =
      part_of(image, {index + region.origin.z, region.origin.y, region.origin.x, channels.featureChannelOffset,
                      lengths[0], lengths[1], lengths[2], count});
  device::ArrayLayout& layout = memory.layout;
  const bool is_planar = host.layout == MPSDataLayoutFeatureChannelsxHeightxWidth;
  const size_t element = layout.element_bytes;
  const size_t column = host.column ? host.column : is_planar ? element : count * element;
  const size_t least_row = (lengths[2] - 1) * column + (is_planar ? element : count * element);
  if (column < (is_planar ? element : count * element) || host.row < least_row) {
    raise_invalid(@"[%@] Pixels are %lu and rows %lu bytes apart, but a pixel takes %lu and a row %lu.", method,
                  static_cast<unsigned long>(column), static_cast<unsigned long>(host.row),
                  static_cast<unsigned long>(is_planar ? element : count * element),
                  static_cast<unsigned long>(least_row));
  }
  const size_t plane = lengths[1] * host.row;
  const size_t image_bytes = host.image ? host.image : is_planar ? count * plane : plane;
  const auto signed_of = [](size_t bytes) { return static_cast<ptrdiff_t>(bytes); };
  if (!is_planar) {
    return {memory, {signed_of(element), signed_of(column), signed_of(host.row), signed_of(image_bytes)}};
  }
  const ptrdiff_t channel_stride = layout.strides[3];
  for (const size_t axis : {3u, 2u}) {  // (images, channels, height, width)
    layout.lengths[axis] = layout.lengths[axis - 1];
    layout.strides[axis] = layout.strides[axis - 1];
  }
  layout.lengths[1] = count;
  layout.strides[1] = channel_stride;
  return {memory, {signed_of(column), signed_of(host.row), signed_of(plane), signed_of(image_bytes)}};
}

MTLRegion whole(MPSImage* image) { return MTLRegionMake3D(0, 0, 0, [image width], [image height], 1); }

// Bytes of a row of a whole image in the layout.
NSUInteger packed_row(MPSImage* image, MPSDataLayout layout) {
  const NSUInteger pixels = [image width] * facade::parts_of(image).memory.layout.element_bytes;
  return layout == MPSDataLayoutHeightxWidthxFeatureChannels ? pixels * [image featureChannels] : pixels;
}

}  // namespace

@implementation MPSImage

+ (id<MPSImageAllocator>)defaultAllocator {
  static const id<MPSImageAllocator> allocator = new_image_allocator(NO);
  return allocator;
}

- (instancetype)init {
  raise_invalid(@"[MPSImage] Use initWithDevice:imageDescriptor: instead of init.");
}

- (instancetype)initWithDevice:(id<MTLDevice>)device imageDescriptor:(const MPSImageDescriptor*)imageDescriptor {
  device_of(device);  // raises if it is not ours
  MPSImageDescriptor* descriptor = const_cast<MPSImageDescriptor*>(imageDescriptor);
  const device::ArrayLayout layout = layout_of(descriptor);
  id<MTLBuffer> room = room_on(device, layout.end(), MTLResourceStorageModeShared, @"MPSImage");
  ImageParts* parts = new_parts(room, descriptor, layout);
  if ((self = [super init])) _impl = parts;
  return self;
}

- (instancetype)initWithTexture:(id<MTLTexture>)texture featureChannels:(NSUInteger)featureChannels {
  require_kind_or_nil(texture, Nil, @"MTLTexture");
  [self release];
  return nil;
}

- (void)dealloc {
  if (_impl) {
    [parts_of(self).buffer release];
    [parts_of(self).descriptor release];
    [parts_of(self).label release];
  }
  delete static_cast<ImageParts*>(_impl);
  [super dealloc];
}

GETTER(id<MTLDevice>, device, [parts_of(self).buffer device])
GETTER(NSUInteger, width, [parts_of(self).descriptor width])
GETTER(NSUInteger, height, [parts_of(self).descriptor height])
GETTER(NSUInteger, featureChannels, [parts_of(self).descriptor featureChannels])
GETTER(NSUInteger, numberOfImages, [parts_of(self).descriptor numberOfImages])
GETTER(MTLPixelFormat, pixelFormat, [parts_of(self).descriptor pixelFormat])
GETTER(MTLTextureUsage, usage, [parts_of(self).descriptor usage])
GETTER(MPSImageFeatureChannelFormat, featureChannelFormat, [parts_of(self).descriptor channelFormat])

- (NSUInteger)precision {
  switch ([self featureChannelFormat]) {
    case MPSImageFeatureChannelFormatUnorm8: return 8;
    case MPSImageFeatureChannelFormatFloat16: return 11;
    case MPSImageFeatureChannelFormatUnorm16: return 16;
    default: return 24;
  }
}

LABEL(parts_of(self).label)

- (NSUInteger)resourceSize {
  return [parts_of(self).buffer allocatedSize];
}

- (void)readBytes:(void*)dataBytes
            dataLayout:(MPSDataLayout)dataLayout
           bytesPerRow:(NSUInteger)bytesPerRow
         bytesPerImage:(NSUInteger)bytesPerImage
                region:(MTLRegion)region
    featureChannelInfo:(MPSImageReadWriteParams)featureChannelInfo
            imageIndex:(NSUInteger)imageIndex {
  const HostCopy copy = host_copy(parts_of(self), {dataBytes, dataLayout, 0, bytesPerRow, bytesPerImage}, region,
                                  featureChannelInfo, imageIndex, @"readBytes");
  raise_thrown([&] {
    device::read_array(*copy.memory.device, *copy.memory.storage, copy.memory.layout, dataBytes, copy.strides);
  });
}

FORWARD(void, passes(readBytes, void*), passes(dataLayout, MPSDataLayout), passes(bytesPerRow, NSUInteger),
        sends(bytesPerImage, 0), passes(region, MTLRegion), passes(featureChannelInfo, MPSImageReadWriteParams),
        passes(imageIndex, NSUInteger))
FORWARD(void, passes(readBytes, void*), passes(dataLayout, MPSDataLayout),
        sends(bytesPerRow, packed_row(self, dataLayout)), sends(region, whole(self)),
        sends(featureChannelInfo, MPSImageReadWriteParams{0, [self featureChannels]}), passes(imageIndex, NSUInteger))

- (void)writeBytes:(const void*)dataBytes
            dataLayout:(MPSDataLayout)dataLayout
        bytesPerColumn:(NSUInteger)bytesPerColumn
           bytesPerRow:(NSUInteger)bytesPerRow
         bytesPerImage:(NSUInteger)bytesPerImage
                region:(MTLRegion)region
    featureChannelInfo:(MPSImageReadWriteParams)featureChannelInfo
            imageIndex:(NSUInteger)imageIndex {
  const HostCopy copy = host_copy(parts_of(self), {dataBytes, dataLayout, bytesPerColumn, bytesPerRow, bytesPerImage},
                                  region, featureChannelInfo, imageIndex, @"writeBytes");
  raise_thrown([&] {
    device::write_array(*copy.memory.device, *copy.memory.storage, copy.memory.layout, dataBytes, copy.strides);
  });
}

FORWARD(void, passes(writeBytes, const void*), passes(dataLayout, MPSDataLayout), sends(bytesPerColumn, 0),
        passes(bytesPerRow, NSUInteger), passes(bytesPerImage, NSUInteger), passes(region, MTLRegion),
        passes(featureChannelInfo, MPSImageReadWriteParams), passes(imageIndex, NSUInteger))
FORWARD(void, passes(writeBytes, const void*), passes(dataLayout, MPSDataLayout), passes(bytesPerRow, NSUInteger),
        sends(bytesPerImage, 0), passes(region, MTLRegion), passes(featureChannelInfo, MPSImageReadWriteParams),
        passes(imageIndex, NSUInteger))
FORWARD(void, passes(writeBytes, const void*), passes(dataLayout, MPSDataLayout),
        sends(bytesPerRow, packed_row(self, dataLayout)), sends(region, whole(self)),
        sends(featureChannelInfo, MPSImageReadWriteParams{0, [self featureChannels]}), passes(imageIndex, NSUInteger))

- (void)synchronizeOnCommandBuffer:(id<MTLCommandBuffer>)commandBuffer {
  owner_of(commandBuffer);  // raises if it is no command buffer
}

@end

@implementation MPSTemporaryImage

+ (id<MPSImageAllocator>)defaultAllocator {
  static const id<MPSImageAllocator> allocator = new_image_allocator(YES);
  return allocator;
}

+ (instancetype)temporaryImageWithCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                                imageDescriptor:(const MPSImageDescriptor*)imageDescriptor {
  MPSImageDescriptor* descriptor = const_cast<MPSImageDescriptor*>(imageDescriptor);
  const device::ArrayLayout layout = layout_of(descriptor);
  id<MTLBuffer> room = temporary_buffer(commandBuffer, layout.end());
  MPSTemporaryImage* made = [self alloc];
  made->_impl = new_parts(room, descriptor, layout);
  keep_until_done(commandBuffer, made);
  return [made autorelease];
}

+ (void)prefetchStorageWithCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                     imageDescriptorList:(NSArray<MPSImageDescriptor*>*)descriptorList {
  owner_of(commandBuffer);  // raises if it is no command buffer
  require_elements(descriptorList, [MPSImageDescriptor class]);
}

- (instancetype)initWithDevice:(id<MTLDevice>)device imageDescriptor:(const MPSImageDescriptor*)imageDescriptor {
  raise_invalid(@"[MPSTemporaryImage] Use temporaryImageWithCommandBuffer:imageDescriptor: instead.");
}

- (NSUInteger)readCount {
  return parts_of(self).reads_left;
}

- (void)setReadCount:(NSUInteger)readCount {
  set_reads_left(parts_of(self).reads_left, readCount);
}

@end

@interface AlloyImageAllocator : AlloyAllocator <MPSImageAllocator>
@end

namespace alloy::facade {

id<MPSImageAllocator> new_image_allocator(BOOL temporary) { return [AlloyImageAllocator newTemporary:temporary]; }

}  // namespace alloy::facade

@implementation AlloyImageAllocator

- (MPSImage*)imageForCommandBuffer:(id<MTLCommandBuffer>)cmdBuf
                   imageDescriptor:(MPSImageDescriptor*)descriptor
                            kernel:(MPSKernel*)kernel {
  require_kind(kernel, [MPSKernel class]);
  if (_isTemporary) return [MPSTemporaryImage temporaryImageWithCommandBuffer:cmdBuf imageDescriptor:descriptor];
  return [[[MPSImage alloc] initWithDevice:owner_of(cmdBuf) imageDescriptor:descriptor] autorelease];
}

- (MPSImageBatch*)imageBatchForCommandBuffer:(id<MTLCommandBuffer>)cmdBuf
                             imageDescriptor:(MPSImageDescriptor*)descriptor
                                      kernel:(MPSKernel*)kernel
                                       count:(NSUInteger)count {
  require_kind(kernel, [MPSKernel class]);
  NSMutableArray* images = [NSMutableArray array];
  for (NSUInteger i = 0; i < count; ++i) {
    [images addObject:[self imageForCommandBuffer:cmdBuf imageDescriptor:descriptor kernel:kernel]];
  }
  return images;
}

@end
