// Kernels that compute an image from an image: the pixels that they read and write.

#include <algorithm>
#include <limits>

#include "facade/mps/images/cnn.h"

using namespace alloy;
using namespace alloy::facade;

namespace {

struct Settings {
  MPSOffset offset = {0, 0, 0};
  MTLRegion clip = MPSRectNoClip;
  NSUInteger first_written = 0, first_read = 0, most_read = NSUIntegerMax;
  MPSImageEdgeMode edge = MPSImageEdgeModeZero;
  Retained<id<MPSNNPadding>> padding;
  Retained<id<MPSImageAllocator>> allocator;
};

Settings& settings_of(MPSCNNKernel* kernel) { return *static_cast<Settings*>(kernel->_settings); }

Settings* new_settings() {
  auto* settings = new Settings;
  settings->padding = Retained<id<MPSNNPadding>>(
      [MPSNNDefaultPadding paddingWithMethod:MPSNNPaddingMethodAddRemainderToTopLeft | MPSNNPaddingMethodAlignCentered |
                                             MPSNNPaddingMethodSizeSame]);
  settings->allocator = Retained<id<MPSImageAllocator>>([MPSTemporaryImage defaultAllocator]);
  return settings;
}

// The pixels of `source` read for `written` pixels of the result.
ReadAxis read_axis(const WindowAxis& window, NSInteger offset, NSUInteger source, NSUInteger written, bool clamps) {
  constexpr double kMost = std::numeric_limits<int>::max();
  const double reach = static_cast<double>(written - 1) * static_cast<double>(window.stride) +
                       static_cast<double>(window.kernel - 1) * static_cast<double>(window.dilation) + 1;
  if (reach > kMost || static_cast<double>(offset) > kMost || static_cast<double>(offset) < -kMost) {
    raise_invalid(@"[MPSCNNKernel] %.0f pixels around %ld would be read, but an offset and an axis go to %d.", reach,
                  static_cast<long>(offset), std::numeric_limits<int>::max());
  }
  const int64_t extent = window.extent(), pixels = static_cast<int64_t>(source), all = static_cast<int64_t>(reach);
  const int64_t first = offset - extent / 2, last = first + all - 1;
  if (clamps) {
    const int64_t low = std::clamp<int64_t>(first, 0, pixels - 1), high = std::clamp<int64_t>(last, 0, pixels - 1);
    const int64_t count = high - low + 1, before = std::clamp<int64_t>(low - first, 0, all - count);
    return {low, count, before, all - count - before};
  }
  const int64_t low = std::max<int64_t>(first, 0), high = std::min(last, pixels - 1);
  if (low > high) return {0, 0, 0, 0};
  return {low, high - low + 1, low - first, last - high};
}

// The length of a part that begins at `start`, cut at `all`.
NSUInteger clipped(NSUInteger start, NSUInteger length, NSUInteger all) {
  return start < all ? std::min(length, all - start) : 0;
}

// The extent of the result along an axis with `source` pixels.
NSUInteger result_extent(const WindowAxis& window, NSUInteger source, MPSNNPaddingMethod method) {
  const MPSNNPaddingMethod size = method & MPSNNPaddingMethodSize_reserved;
  const int64_t more = window.extent() - 1, pixels = static_cast<int64_t>(source);
  const int64_t readable = size == MPSNNPaddingMethodSizeSame   ? pixels
                           : size == MPSNNPaddingMethodSizeFull ? pixels + more
                                                                : pixels - more;
  const auto stride = static_cast<int64_t>(window.stride);
  return readable <= 0 ? 0 : static_cast<NSUInteger>((readable + stride - 1) / stride);
}

// The offset along an axis. `at_end`: an odd pixel of a centered window lies behind the source.
NSInteger result_offset(const WindowAxis& window, NSUInteger source, NSUInteger written, MPSNNPaddingMethod method,
                        bool at_end) {
  const int64_t all = static_cast<int64_t>((written - 1) * window.stride) + window.extent();
  const int64_t outside = all - static_cast<int64_t>(source);
  const MPSNNPaddingMethod align = method & MPSNNPaddingMethodAlignMask;
  const int64_t before = align == MPSNNPaddingMethodAlignTopLeft       ? outside
                         : align == MPSNNPaddingMethodAlignBottomRight ? 0
                                                                       : (outside + (at_end ? 0 : 1)) / 2;
  return window.extent() / 2 - before;
}

void require_batch(MPSImageBatch* images) {
  require_kind(images, [NSArray class]);
  require_elements(images, [MPSImage class]);
}

MPSImageBatch* batch_of(MPSImage* image) { return [NSArray arrayWithObject:image]; }

}  // namespace

@implementation MPSNNDefaultPadding

+ (BOOL)supportsSecureCoding {
  return YES;
}

+ (instancetype)paddingWithMethod:(MPSNNPaddingMethod)method {
  if (method & MPSNNPaddingMethodCustom || (method & MPSNNPaddingMethodAlignMask) == MPSNNPaddingMethodAlign_reserved ||
      (method & MPSNNPaddingMethodSizeMask) > MPSNNPaddingMethodSizeFull) {
    raise_invalid(@"[MPSNNDefaultPadding] The method 0x%lx is reserved, or Custom, which needs a class of its own.",
                  static_cast<unsigned long>(method));
  }
  MPSNNDefaultPadding* padding = [[self new] autorelease];
  padding->_method = method;
  return padding;
}

- (instancetype)initWithCoder:(NSCoder*)coder {
  if ((self = [super init])) _method = static_cast<MPSNNPaddingMethod>([coder decodeInt64ForKey:@"method"]);
  return self;
}

- (void)encodeWithCoder:(NSCoder*)coder {
  [coder encodeInt64:static_cast<int64_t>(_method) forKey:@"method"];
}

- (MPSNNPaddingMethod)paddingMethod {
  return _method;
}

- (NSString*)label {
  return [NSString stringWithFormat:@"padding 0x%lx", static_cast<unsigned long>(_method)];
}

- (MPSImageDescriptor*)destinationImageDescriptorForSourceImages:(NSArray<MPSImage*>*)sourceImages
                                                    sourceStates:(NSArray<MPSState*>*)sourceStates
                                                       forKernel:(MPSKernel*)kernel
                                             suggestedDescriptor:(MPSImageDescriptor*)inDescriptor {
  require_elements(sourceImages, [MPSImage class]);
  require_kind_or_nil(sourceStates, [NSArray class]);
  for (id state in sourceStates) require_kind(state, Nil, @"MPSState");
  require_kind(kernel, [MPSKernel class]);
  require_kind(inDescriptor, [MPSImageDescriptor class]);
  return inDescriptor;
}

@end

@implementation MPSCNNKernel

- (instancetype)initWithDevice:(id<MTLDevice>)device {
  if ((self = [super initWithDevice:device])) _settings = new_settings();
  return self;
}

- (instancetype)initWithCoder:(NSCoder*)aDecoder device:(id<MTLDevice>)device {
  raise_invalid(@"[%@] Kernels of images are not archived here; use initWithDevice:.", [self class]);
}

- (void)encodeWithCoder:(NSCoder*)coder {
  raise_invalid(@"[%@] Kernels of images are not archived here.", [self class]);
}

- (void)dealloc {
  delete static_cast<Settings*>(_settings);
  [super dealloc];
}

- (instancetype)copyWithZone:(NSZone*)zone device:(id<MTLDevice>)device {
  MPSCNNKernel* copy = [super copyWithZone:zone device:device];
  copy->_settings = new Settings(settings_of(self));
  return copy;
}

PROPERTY(MPSOffset, offset, setOffset, settings_of(self).offset)
PROPERTY(MTLRegion, clipRect, setClipRect, settings_of(self).clip)
PROPERTY(NSUInteger, destinationFeatureChannelOffset, setDestinationFeatureChannelOffset,
         settings_of(self).first_written)
PROPERTY(NSUInteger, sourceFeatureChannelOffset, setSourceFeatureChannelOffset, settings_of(self).first_read)
PROPERTY(NSUInteger, sourceFeatureChannelMaxCount, setSourceFeatureChannelMaxCount, settings_of(self).most_read)
PROPERTY(MPSImageEdgeMode, edgeMode, setEdgeMode, settings_of(self).edge)
GETTER(NSUInteger, kernelWidth, [self alloyWindow:1].kernel)
GETTER(NSUInteger, kernelHeight, [self alloyWindow:0].kernel)
GETTER(NSUInteger, strideInPixelsX, [self alloyWindow:1].stride)
GETTER(NSUInteger, strideInPixelsY, [self alloyWindow:0].stride)
GETTER(NSUInteger, dilationRateX, [self alloyWindow:1].dilation)
GETTER(NSUInteger, dilationRateY, [self alloyWindow:0].dilation)

- (BOOL)isBackwards {
  return NO;
}

- (id<MPSNNPadding>)padding {
  return settings_of(self).padding.get();
}

- (void)setPadding:(id<MPSNNPadding>)padding {
  if (padding != nil) require_method(padding, @selector(paddingMethod));
  settings_of(self).padding = Retained<id<MPSNNPadding>>(padding);
}

- (id<MPSImageAllocator>)destinationImageAllocator {
  return settings_of(self).allocator.get();
}

- (void)setDestinationImageAllocator:(id<MPSImageAllocator>)allocator {
  if (allocator != nil) require_method(allocator, @selector(imageForCommandBuffer:imageDescriptor:kernel:));
  settings_of(self).allocator = Retained<id<MPSImageAllocator>>(allocator);
}

- (WindowAxis)alloyWindow:(int)axis {
  return {};
}

- (NSUInteger)alloyChannelsRead {
  raise_invalid(@"[%@] The class is abstract; use one that computes something.", [self class]);
}

- (NSUInteger)alloyChannelsWritten {
  return [self alloyChannelsRead];
}

- (void)alloyEncode:(id<MTLCommandBuffer>)buffer
               from:(MPSImage*)source
                 to:(MPSImage*)destination
            passage:(const Passage&)passage {
  [self alloyChannelsRead];
}

- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                  sourceImage:(MPSImage*)sourceImage
             destinationImage:(MPSImage*)destinationImage {
  const Settings& settings = settings_of(self);
  const ImageParts &source = parts_of(sourceImage), &destination = parts_of(destinationImage);
  const auto number = [](NSUInteger n) { return static_cast<unsigned long>(n); };
  if (source.memory.storage == destination.memory.storage) {
    raise_invalid(@"[%@] The destination is the source, but it needs memory of its own.", [self class]);
  }
  if (settings.edge != MPSImageEdgeModeZero && settings.edge != MPSImageEdgeModeClamp) {
    raise_invalid(@"[%@] The edge mode is %lu, but Zero or Clamp was expected.", [self class], number(settings.edge));
  }
  const NSUInteger read = [self alloyChannelsRead], written = [self alloyChannelsWritten];
  if (settings.first_read % 4 || settings.first_written % 4) {
    raise_invalid(@"[%@] The channel offsets are %lu and %lu, but they are multiples of 4.", [self class],
                  number(settings.first_read), number(settings.first_written));
  }
  if (clipped(settings.first_read, settings.most_read, [sourceImage featureChannels]) < read) {
    raise_invalid(@"[%@] %lu channels from %lu on are read, at most %lu, but the source has %lu.", [self class],
                  number(read), number(settings.first_read), number(settings.most_read),
                  number([sourceImage featureChannels]));
  }
  if (clipped(settings.first_written, written, [destinationImage featureChannels]) < written) {
    raise_invalid(@"[%@] %lu channels from %lu on are written, but the destination has %lu.", [self class],
                  number(written), number(settings.first_written), number([destinationImage featureChannels]));
  }
  const MTLRegion& clip = settings.clip;
  const NSUInteger images = clipped(clip.origin.z, clip.size.depth, [destinationImage numberOfImages]);
  const NSUInteger height = clipped(clip.origin.y, clip.size.height, [destinationImage height]);
  const NSUInteger width = clipped(clip.origin.x, clip.size.width, [destinationImage width]);
  if (images == 0 || height == 0 || width == 0) return;
  const MPSOffset offset = settings.offset;
  if (offset.z < 0 || clipped(static_cast<NSUInteger>(offset.z), images, [sourceImage numberOfImages]) < images) {
    raise_invalid(@"[%@] %lu images from %ld on are read, but the source has %lu.", [self class], number(images),
                  static_cast<long>(offset.z), number([sourceImage numberOfImages]));
  }
  const bool clamps = settings.edge == MPSImageEdgeModeClamp;
  Passage passage{read_axis([self alloyWindow:0], offset.y, [sourceImage height], height, clamps),
                  read_axis([self alloyWindow:1], offset.x, [sourceImage width], width, clamps),
                  settings.edge,
                  {},
                  {}};
  const auto place = [](int64_t n) { return static_cast<NSUInteger>(n); };
  passage.read = {place(offset.z), place(passage.rows.first), place(passage.columns.first), settings.first_read,
                  images,          place(passage.rows.count), place(passage.columns.count), read};
  passage.written = {clip.origin.z, clip.origin.y, clip.origin.x, settings.first_written,
                     images,        height,        width,         written};
  count_read(sourceImage, @"MPSCNNKernel");
  [self alloyEncode:commandBuffer from:sourceImage to:destinationImage passage:passage];
}

- (void)encodeBatchToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                      sourceImages:(MPSImageBatch*)sourceImages
                 destinationImages:(MPSImageBatch*)destinationImages {
  owner_of(commandBuffer);  // raises if it is not ours
  require_batch(sourceImages);
  require_batch(destinationImages);
  if ([sourceImages count] != [destinationImages count]) {
    raise_invalid(@"[%@] There are %lu sources for %lu destinations.", [self class],
                  static_cast<unsigned long>([sourceImages count]),
                  static_cast<unsigned long>([destinationImages count]));
  }
  for (NSUInteger i = 0; i < [sourceImages count]; ++i) {
    [self encodeToCommandBuffer:commandBuffer
                    sourceImage:[sourceImages objectAtIndex:i]
               destinationImage:[destinationImages objectAtIndex:i]];
  }
}

- (MPSImage*)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer sourceImage:(MPSImage*)sourceImage {
  owner_of(commandBuffer);
  parts_of(sourceImage);
  MPSImageDescriptor* descriptor = [self destinationImageDescriptorForSourceImages:batch_of(sourceImage)
                                                                      sourceStates:nil];
  MPSImage* made = [[self destinationImageAllocator] imageForCommandBuffer:commandBuffer
                                                           imageDescriptor:descriptor
                                                                    kernel:self];
  [self encodeToCommandBuffer:commandBuffer sourceImage:sourceImage destinationImage:made];
  return made;
}

- (MPSImageBatch*)encodeBatchToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                                sourceImages:(MPSImageBatch*)sourceImages {
  owner_of(commandBuffer);
  require_batch(sourceImages);
  NSMutableArray* made = [NSMutableArray array];
  for (MPSImage* source in sourceImages) {
    [made addObject:[self encodeToCommandBuffer:commandBuffer sourceImage:source]];
  }
  return made;
}

- (MPSImageDescriptor*)destinationImageDescriptorForSourceImages:(NSArray<MPSImage*>*)sourceImages
                                                    sourceStates:(NSArray<MPSState*>*)sourceStates {
  require_batch(sourceImages);
  if ([sourceImages count] != 1 || [[sourceImages objectAtIndex:0] numberOfImages] != 1) {
    raise_invalid(@"[%@] One source of one image was expected where the kernel makes the destination.", [self class]);
  }
  MPSImage* source = [sourceImages objectAtIndex:0];
  id<MPSNNPadding> padding = [self padding];
  const MPSNNPaddingMethod method = [padding paddingMethod];
  const WindowAxis rows = [self alloyWindow:0], columns = [self alloyWindow:1];
  const NSUInteger height = result_extent(rows, [source height], method),
                   width = result_extent(columns, [source width], method);
  if (height == 0 || width == 0) {
    raise_invalid(@"[%@] The window has %ld x %ld pixels, but the source only %lu x %lu.", [self class],
                  static_cast<long>(rows.extent()), static_cast<long>(columns.extent()),
                  static_cast<unsigned long>([source height]), static_cast<unsigned long>([source width]));
  }
  const MPSNNPaddingMethod remainder = method & MPSNNPaddingMethodAddRemainderToMask;
  const bool bottom = remainder == MPSNNPaddingMethodAddRemainderToBottomLeft ||
                      remainder == MPSNNPaddingMethodAddRemainderToBottomRight;
  const bool right =
      remainder == MPSNNPaddingMethodAddRemainderToTopRight || remainder == MPSNNPaddingMethodAddRemainderToBottomRight;
  [self setOffset:MPSOffset{result_offset(columns, [source width], width, method, right),
                            result_offset(rows, [source height], height, method, bottom), 0}];
  MPSImageDescriptor* suggested = [MPSImageDescriptor
      imageDescriptorWithChannelFormat:[source featureChannelFormat]
                                 width:width
                                height:height
                       featureChannels:[self destinationFeatureChannelOffset] + [self alloyChannelsWritten]];
  if ((method & MPSNNPaddingMethodCustom) == 0) return suggested;
  return [padding destinationImageDescriptorForSourceImages:sourceImages
                                               sourceStates:sourceStates
                                                  forKernel:self
                                        suggestedDescriptor:suggested];
}

@end
