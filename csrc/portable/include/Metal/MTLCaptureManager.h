// Captures of a device's work for debuggers, which programs name and this device cannot make.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/MTLDefines.h>

NS_ASSUME_NONNULL_BEGIN

/// Where a capture goes.
typedef NS_ENUM(NSInteger, MTLCaptureDestination) {
  MTLCaptureDestinationDeveloperTools = 1,
  MTLCaptureDestinationGPUTraceDocument = 2,
};

/// Codes of the errors of captures; here it is always NotSupported.
typedef NS_ENUM(NSInteger, MTLCaptureError) {
  MTLCaptureErrorNotSupported = 1,
  MTLCaptureErrorAlreadyCapturing = 2,
  MTLCaptureErrorInvalidDescriptor = 3,
};

/// Domain of the errors of captures.
MTL_EXTERN NSString* const MTLCaptureErrorDomain;

/// What shall be captured.
@interface MTLCaptureDescriptor : NSObject <NSCopying> {
 @package
  void* _impl;
}

/// A device or a command queue.
@property(nonatomic, readwrite, retain, nullable) id captureObject;

/// Where the capture goes; the developer tools at first.
@property(nonatomic, readwrite) MTLCaptureDestination destination;

/// The file of a document.
@property(nonatomic, readwrite, copy, nullable) NSURL* outputURL;

@end

/// Starts captures; none can be made here.
@interface MTLCaptureManager : NSObject

/// The one manager of the process.
+ (MTLCaptureManager*)sharedCaptureManager;

/// Use sharedCaptureManager.
- (instancetype)init NS_UNAVAILABLE;

/// NO for every destination.
- (BOOL)supportsDestination:(MTLCaptureDestination)destination;

/// NO, with an error of MTLCaptureErrorDomain.
- (BOOL)startCaptureWithDescriptor:(MTLCaptureDescriptor*)descriptor error:(NSError* _Nullable* _Nullable)error;

/// Nothing to stop.
- (void)stopCapture;

/// NO.
@property(readonly) BOOL isCapturing;

@end

NS_ASSUME_NONNULL_END
