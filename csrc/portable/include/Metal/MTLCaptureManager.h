// Captures of a device's work for debuggers. Programs refer to them, but this device cannot make one.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/MTLDefines.h>

NS_ASSUME_NONNULL_BEGIN

/// The destination of a capture.
typedef NS_ENUM(NSInteger, MTLCaptureDestination) {
  MTLCaptureDestinationDeveloperTools = 1,
  MTLCaptureDestinationGPUTraceDocument = 2,
};

/// Codes of the errors of captures; in this framework always NotSupported.
typedef NS_ENUM(NSInteger, MTLCaptureError) {
  MTLCaptureErrorNotSupported = 1,
  MTLCaptureErrorAlreadyCapturing = 2,
  MTLCaptureErrorInvalidDescriptor = 3,
};

/// Domain of the errors of captures.
MTL_EXTERN NSString* const MTLCaptureErrorDomain;

/// The object to capture.
@interface MTLCaptureDescriptor : NSObject <NSCopying> {
 @package
  void* _impl;
}

/// A device or a command queue.
@property(nonatomic, readwrite, retain, nullable) id captureObject;

/// The destination; the developer tools by default.
@property(nonatomic, readwrite) MTLCaptureDestination destination;

/// The file of a document.
@property(nonatomic, readwrite, copy, nullable) NSURL* outputURL;

@end

/// Starts captures; this framework cannot make one.
@interface MTLCaptureManager : NSObject

/// The one manager of the process.
+ (MTLCaptureManager*)sharedCaptureManager;

/// Use sharedCaptureManager.
- (instancetype)init NS_UNAVAILABLE;

/// NO for every destination.
- (BOOL)supportsDestination:(MTLCaptureDestination)destination;

/// NO, with an error of MTLCaptureErrorDomain.
- (BOOL)startCaptureWithDescriptor:(MTLCaptureDescriptor*)descriptor error:(NSError* _Nullable* _Nullable)error;

/// Does nothing.
- (void)stopCapture;

/// NO.
@property(readonly) BOOL isCapturing;

@end

NS_ASSUME_NONNULL_END
