// Libraries of shaders. Programs refer to them, but this device cannot make one.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/MTLDefines.h>
#import <Metal/MTLFunctionConstantValues.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLDevice;

/// The kind of a function.
typedef NS_ENUM(NSUInteger, MTLFunctionType) {
  MTLFunctionTypeVertex = 1,
  MTLFunctionTypeFragment = 2,
  MTLFunctionTypeKernel = 3,
  MTLFunctionTypeVisible = 5,
  MTLFunctionTypeIntersection = 6,
  MTLFunctionTypeMesh = 7,
  MTLFunctionTypeObject = 8,
};

/// Version of the shading language.
typedef NS_ENUM(NSUInteger, MTLLanguageVersion) {
  MTLLanguageVersion1_0 = 0x10000,
  MTLLanguageVersion1_1 = 0x10001,
  MTLLanguageVersion1_2 = 0x10002,
  MTLLanguageVersion2_0 = 0x20000,
  MTLLanguageVersion2_1 = 0x20001,
  MTLLanguageVersion2_2 = 0x20002,
  MTLLanguageVersion2_3 = 0x20003,
  MTLLanguageVersion2_4 = 0x20004,
  MTLLanguageVersion3_0 = 0x30000,
};

/// How freely arithmetic may be reordered.
typedef NS_ENUM(NSInteger, MTLMathMode) {
  MTLMathModeSafe = 0,
  MTLMathModeRelaxed = 1,
  MTLMathModeFast = 2,
};

/// Codes of the errors of libraries; in this framework always Unsupported.
typedef NS_ENUM(NSUInteger, MTLLibraryError) {
  MTLLibraryErrorUnsupported = 1,
  MTLLibraryErrorInternal = 2,
  MTLLibraryErrorCompileFailure = 3,
  MTLLibraryErrorCompileWarning = 4,
  MTLLibraryErrorFunctionNotFound = 5,
  MTLLibraryErrorFileNotFound = 6,
};

/// Domain of the errors of libraries, and of pipelines made from them.
MTL_EXTERN NSString* const MTLLibraryErrorDomain;

/// Options for compiling a source.
@interface MTLCompileOptions : NSObject <NSCopying> {
 @package
  void* _impl;
}

/// Names and their replacements; nil by default.
@property(nonatomic, readwrite, copy, nullable) NSDictionary<NSString*, NSObject*>* preprocessorMacros;

/// Whether arithmetic may be reordered; YES by default.
@property(nonatomic, readwrite) BOOL fastMathEnabled;

/// The same with a third mode; MTLMathModeRelaxed by default, as on Apple silicon.
@property(nonatomic, readwrite) MTLMathMode mathMode;

/// Version of the language; the newest by default.
@property(nonatomic, readwrite) MTLLanguageVersion languageVersion;

@end

/// A function of a library; no object of it exists.
@protocol MTLFunction <NSObject>

/// Free text for debuggers.
@property(atomic, readwrite, copy, nullable) NSString* label;

/// The device of the library.
@property(readonly) id<MTLDevice> device;

/// Its kind.
@property(readonly) MTLFunctionType functionType;

/// Its name in the source.
@property(readonly) NSString* name;

@end

/// Compiled functions; no object of it exists.
@protocol MTLLibrary <NSObject>

/// Free text for debuggers.
@property(atomic, readwrite, copy, nullable) NSString* label;

/// The device it was compiled for.
@property(readonly) id<MTLDevice> device;

/// Names of the functions.
@property(readonly) NSArray<NSString*>* functionNames;

/// A function by name.
- (id<MTLFunction> _Nullable)newFunctionWithName:(NSString*)functionName;

/// A function by name, with values for its constants.
- (id<MTLFunction> _Nullable)newFunctionWithName:(NSString*)name
                                  constantValues:(MTLFunctionConstantValues*)constantValues
                                           error:(NSError* _Nullable* _Nullable)error;

@end

NS_ASSUME_NONNULL_END
