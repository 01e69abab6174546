// Descriptors: every number of api.json keeps what it is set to, beside the others and in copies; what they begin with,
// and what the shorter constructors do.

#include "api_objects.h"

// A property, and its number or numbers.
struct Field {
  NSString* name;
  id value;
  Field(NSString* property, long number) : name(property), value([NSNumber numberWithLong:number]) {}
  Field(NSString* property, const std::vector<long>& list) : name(property), value(numbers(list)) {}
};

static bool holds(id descriptor, const std::vector<Field>& fields) {
  for (const Field& field : fields) {
    id value = [descriptor valueForKey:field.name];
    if ([value isEqual:field.value]) continue;
    std::fprintf(stderr, "  %s is %s\n", [field.name UTF8String], [[value description] UTF8String]);
    return false;
  }
  return true;
}

// What the property may be: the cases of its enum, other numbers, or a list of them; nothing for other types.
static NSArray* candidates(id descriptor, NSString* property, const std::string& type) {
  if (type == "MTLHazardTrackingMode") return list(@1, @2);  // the other one is what stands for one of these
  NSDictionary* cases = [[[g_api objectForKey:@"enums"] objectForKey:string(type)] objectForKey:@"cases"];
  if (cases != nil) return [cases allValues];
  if (type == "BOOL") return list(@0, @1);
  if (type == "NSUInteger" || type == "NSInteger" || type == "float") {
    return list(number([[descriptor valueForKey:property] intValue] + 7));
  }
  if (type != "MPSShape" && type != "NSArray<NSNumber>") return [NSArray array];
  NSMutableArray* others = [NSMutableArray array];
  for (NSNumber* each in [descriptor valueForKey:property]) {
    [others addObject:number([each intValue] + static_cast<int>([others count]) + 2)];
  }
  return list(others);
}

// Sets the property to another of these; nil where it takes none.
static id changed(id descriptor, NSString* property, NSArray* candidates) {
  for (id candidate in candidates) {
    if ([candidate isEqual:[descriptor valueForKey:property]]) continue;
    @try {
      [descriptor setValue:candidate forKey:property];
      return candidate;
    } @catch (NSException* exception) {
      CHECK([[exception name] isEqual:NSInvalidArgumentException]);
    }
  }
  return nil;
}

TEST(properties_keep_what_they_are_set_to) {
  size_t count = 0;
  NSDictionary* classes = [g_api objectForKey:@"classes"];
  for (NSString* name in classes) {
    id descriptor = [name hasSuffix:@"Descriptor"] ? object_of([name UTF8String]) : nil;
    if (![descriptor respondsToSelector:@selector(copyWithZone:)]) continue;
    NSDictionary* properties = [[classes objectForKey:name] objectForKey:@"properties"];
    NSMutableDictionary *before = [NSMutableDictionary dictionary], *after = [NSMutableDictionary dictionary];
    for (NSString* property in properties) {
      const std::string type = types_of([properties objectForKey:property]).back();
      if (type.starts_with("readonly") || type.ends_with("MTLResourceOptions")) continue;  // which stands for others
      NSArray* possible = candidates(descriptor, property, name_of(type));
      if ([possible count] == 0) continue;
      id value = [[[descriptor valueForKey:property] retain] autorelease];
      id other = changed(descriptor, property, possible);
      if (other == nil) continue;
      [before setObject:value forKey:property];
      [after setObject:other forKey:property];
    }
    CHECK([[descriptor dictionaryWithValuesForKeys:[after allKeys]] isEqual:after]);
    id copy = [[descriptor copyWithZone:nil] autorelease];
    [descriptor setValuesForKeysWithDictionary:before];
    count += [after count];
    CHECK([[copy dictionaryWithValuesForKeys:[after allKeys]] isEqual:after]);
    CHECK([[descriptor dictionaryWithValuesForKeys:[before allKeys]] isEqual:before]);
  }
  CHECK(count > 150);
  std::printf("%zu properties\n", count);
}

static constexpr auto kNCHW = MPSGraphTensorNamedDataLayoutNCHW, kOIHW = MPSGraphTensorNamedDataLayoutOIHW,
                      kNCDHW = MPSGraphTensorNamedDataLayoutNCDHW, kOIDHW = MPSGraphTensorNamedDataLayoutOIDHW;
static constexpr auto kValid = MPSGraphPaddingStyleTF_VALID, kExplicit = MPSGraphPaddingStyleExplicit;

// What is not said is 1 for strides and dilations, and 0 for padding.
TEST(shorter_constructors) {
  id made = [MPSGraphConvolution2DOpDescriptor descriptorWithStrideInX:2
                                                             strideInY:3
                                                       dilationRateInX:4
                                                       dilationRateInY:5
                                                                groups:6
                                                          paddingStyle:kValid
                                                            dataLayout:kNCHW
                                                         weightsLayout:kOIHW];
  CHECK(holds(made, {{@"strideInX", 2},
                     {@"strideInY", 3},
                     {@"dilationRateInX", 4},
                     {@"dilationRateInY", 5},
                     {@"groups", 6},
                     {@"paddingStyle", kValid},
                     {@"dataLayout", kNCHW},
                     {@"weightsLayout", kOIHW},
                     {@"paddingLeft", 0},
                     {@"paddingRight", 0},
                     {@"paddingTop", 0},
                     {@"paddingBottom", 0}}));
  made = [MPSGraphConvolution3DOpDescriptor descriptorWithStrideInX:2
                                                          strideInY:3
                                                          strideInZ:4
                                                    dilationRateInX:5
                                                    dilationRateInY:6
                                                    dilationRateInZ:7
                                                             groups:8
                                                       paddingStyle:kValid
                                                         dataLayout:kNCDHW
                                                      weightsLayout:kOIDHW];
  CHECK(holds(made, {{@"strideInX", 2},
                     {@"strideInY", 3},
                     {@"strideInZ", 4},
                     {@"dilationRateInX", 5},
                     {@"dilationRateInY", 6},
                     {@"dilationRateInZ", 7},
                     {@"groups", 8},
                     {@"paddingStyle", kValid},
                     {@"dataLayout", kNCDHW},
                     {@"weightsLayout", kOIDHW},
                     {@"paddingFront", 0},
                     {@"paddingBack", 0}}));
  made = [MPSGraphDepthwiseConvolution2DOpDescriptor descriptorWithDataLayout:kNCHW weightsLayout:kOIHW];
  CHECK(holds(made, {{@"dataLayout", kNCHW},
                     {@"weightsLayout", kOIHW},
                     {@"paddingStyle", kExplicit},
                     {@"strideInX", 1},
                     {@"strideInY", 1},
                     {@"dilationRateInX", 1},
                     {@"dilationRateInY", 1},
                     {@"paddingLeft", 0},
                     {@"paddingTop", 0}}));
  made = [MPSGraphDepthwiseConvolution3DOpDescriptor descriptorWithPaddingStyle:kValid];
  CHECK(holds(made, {{@"paddingStyle", kValid},
                     {@"channelDimensionIndex", -4},
                     {@"strides", {1, 1, 1}},
                     {@"dilationRates", {1, 1, 1}},
                     {@"paddingValues", {0, 0, 0, 0, 0, 0}}}));
  made = [MPSGraphPooling2DOpDescriptor descriptorWithKernelWidth:2
                                                     kernelHeight:3
                                                        strideInX:4
                                                        strideInY:5
                                                     paddingStyle:kValid
                                                       dataLayout:kNCHW];
  CHECK(holds(made, {{@"kernelWidth", 2},
                     {@"kernelHeight", 3},
                     {@"strideInX", 4},
                     {@"strideInY", 5},
                     {@"dilationRateInX", 1},
                     {@"dilationRateInY", 1},
                     {@"paddingStyle", kValid},
                     {@"paddingLeft", 0},
                     {@"dataLayout", kNCHW},
                     {@"ceilMode", 0},
                     {@"includeZeroPadToAverage", 0},
                     {@"returnIndicesMode", MPSGraphPoolingReturnIndicesNone},
                     {@"returnIndicesDataType", MPSDataTypeInt32}}));
  made = [MPSGraphPooling4DOpDescriptor descriptorWithKernelSizes:numbers({1, 2, 3, 4}) paddingStyle:kValid];
  CHECK(holds(made, {{@"kernelSizes", {1, 2, 3, 4}},
                     {@"paddingStyle", kValid},
                     {@"strides", {1, 1, 1, 1}},
                     {@"dilationRates", {1, 1, 1, 1}},
                     {@"paddingValues", {0, 0, 0, 0, 0, 0, 0, 0}},
                     {@"ceilMode", 0},
                     {@"returnIndicesMode", MPSGraphPoolingReturnIndicesNone}}));
}

TEST(stencils) {
  const std::vector<long> ones(4, 1), eight = {0, 0, 0, 0, 1, 1, 2, 2}, four = {0, 0, 1, 1};
  id made = [[MPSGraphStencilOpDescriptor new] autorelease];
  CHECK(holds(made, {{@"reductionMode", MPSGraphReductionModeSum},
                     {@"boundaryMode", MPSGraphPaddingModeZero},
                     {@"strides", ones},
                     {@"dilationRates", ones}}));
  made = [MPSGraphStencilOpDescriptor descriptorWithPaddingStyle:kValid];
  CHECK(holds(made, {{@"paddingStyle", kValid}}));
  made = [MPSGraphStencilOpDescriptor descriptorWithExplicitPadding:numbers(eight)];
  CHECK(holds(made, {{@"paddingStyle", kExplicit}, {@"explicitPadding", eight}}));
  made = [MPSGraphStencilOpDescriptor descriptorWithOffsets:numbers(four) explicitPadding:numbers(eight)];
  CHECK(holds(
      made, {{@"paddingStyle", MPSGraphPaddingStyleExplicitOffset}, {@"explicitPadding", eight}, {@"offsets", four}}));
}

TEST(explicit_padding) {
  id flat[] = {[[MPSGraphConvolution2DOpDescriptor new] autorelease],
               [[MPSGraphDepthwiseConvolution2DOpDescriptor new] autorelease],
               [[MPSGraphPooling2DOpDescriptor new] autorelease]};
  const std::vector<Field> sides = {
      {@"paddingLeft", 1}, {@"paddingRight", 2}, {@"paddingTop", 3}, {@"paddingBottom", 4}};
  for (MPSGraphConvolution2DOpDescriptor* descriptor : flat) {
    [descriptor setPaddingStyle:kValid];
    [descriptor setExplicitPaddingWithPaddingLeft:1 paddingRight:2 paddingTop:3 paddingBottom:4];
    CHECK(holds(descriptor, sides) && [descriptor paddingStyle] == kExplicit);
  }
  MPSGraphConvolution3DOpDescriptor* volume = [[MPSGraphConvolution3DOpDescriptor new] autorelease];
  [volume setPaddingStyle:kValid];
  [volume setExplicitPaddingWithPaddingLeft:1 paddingRight:2 paddingTop:3 paddingBottom:4 paddingFront:5 paddingBack:6];
  CHECK(holds(volume, sides) && [volume paddingFront] == 5 && [volume paddingBack] == 6);
  CHECK([volume paddingStyle] == kExplicit);
}

TEST(cells_begin_with_their_usual_activations) {
  constexpr auto sigmoid = MPSGraphRNNActivationSigmoid, tanh = MPSGraphRNNActivationTanh;
  id made = [MPSGraphSingleGateRNNDescriptor descriptor];
  CHECK(holds(made,
              {{@"activation", MPSGraphRNNActivationRelu}, {@"reverse", 0}, {@"bidirectional", 0}, {@"training", 0}}));
  made = [MPSGraphLSTMDescriptor descriptor];
  CHECK(holds(made, {{@"inputGateActivation", sigmoid},
                     {@"forgetGateActivation", sigmoid},
                     {@"cellGateActivation", tanh},
                     {@"outputGateActivation", sigmoid},
                     {@"activation", tanh},
                     {@"produceCell", 0},
                     {@"forgetGateLast", 0}}));
  made = [MPSGraphGRUDescriptor descriptor];
  CHECK(holds(made, {{@"updateGateActivation", sigmoid},
                     {@"resetGateActivation", sigmoid},
                     {@"outputGateActivation", tanh},
                     {@"resetAfter", 0},
                     {@"resetGateFirst", 0},
                     {@"flipZ", 0},
                     {@"bidirectional", 0}}));
}

TEST(random_numbers_begin_with_values_of_their_distribution) {
  const auto of = [](MPSGraphRandomDistribution distribution, MPSDataType type) {
    return [MPSGraphRandomOpDescriptor descriptorWithDistribution:distribution dataType:type];
  };
  CHECK(holds(of(MPSGraphRandomDistributionUniform, MPSDataTypeFloat32),
              {{@"distribution", MPSGraphRandomDistributionUniform},
               {@"dataType", MPSDataTypeFloat32},
               {@"min", 0},
               {@"max", 1},
               {@"minInteger", 0},
               {@"maxInteger", INT32_MAX},
               {@"mean", 0},
               {@"standardDeviation", 0}}));
  for (auto distribution : {MPSGraphRandomDistributionNormal, MPSGraphRandomDistributionTruncatedNormal}) {
    CHECK(holds(of(distribution, MPSDataTypeFloat16), {{@"distribution", static_cast<long>(distribution)},
                                                       {@"dataType", MPSDataTypeFloat16},
                                                       {@"min", -2},
                                                       {@"max", 2},
                                                       {@"minInteger", 0},
                                                       {@"maxInteger", 0},
                                                       {@"mean", 0},
                                                       {@"standardDeviation", 1},
                                                       {@"samplingMethod", MPSGraphRandomNormalSamplingInvCDF}}));
  }
}

TEST(sparse_tensors) {
  id made = [MPSGraphCreateSparseOpDescriptor descriptorWithStorageType:MPSGraphSparseStorageCSC
                                                               dataType:MPSDataTypeFloat16];
  CHECK(holds(made, {{@"sparseStorageType", MPSGraphSparseStorageCSC}, {@"dataType", MPSDataTypeFloat16}}));
}

#ifndef __APPLE__  // declared by SDKs from macOS 14 on
TEST(transforms_begin_without_a_scale) {
  id made = [MPSGraphFFTDescriptor descriptor];
  CHECK(holds(made, {{@"inverse", 0}, {@"scalingMode", MPSGraphFFTScalingModeNone}, {@"roundToOddHermitean", 0}}));
}

TEST(columns) {
  MPSGraphImToColOpDescriptor* made = [MPSGraphImToColOpDescriptor descriptorWithKernelWidth:2
                                                                                kernelHeight:3
                                                                                   strideInX:4
                                                                                   strideInY:5
                                                                             dilationRateInX:6
                                                                             dilationRateInY:7
                                                                                  dataLayout:kNCHW];
  CHECK(holds(made, {{@"kernelWidth", 2},
                     {@"kernelHeight", 3},
                     {@"strideInX", 4},
                     {@"strideInY", 5},
                     {@"dilationRateInX", 6},
                     {@"dilationRateInY", 7},
                     {@"dataLayout", kNCHW},
                     {@"paddingTop", 0}}));
  [made setExplicitPaddingWithPaddingLeft:1 paddingRight:2 paddingTop:3 paddingBottom:4];
  CHECK(holds(made, {{@"paddingLeft", 1}, {@"paddingRight", 2}, {@"paddingTop", 3}, {@"paddingBottom", 4}}));
}
#endif

TEST(resource_options_are_three_properties) {
  constexpr MTLResourceOptions kAll =
      MTLResourceStorageModePrivate | MTLResourceCPUCacheModeWriteCombined | MTLResourceHazardTrackingModeUntracked;
  id both[] = {[[MTLHeapDescriptor new] autorelease], [[MTLTextureDescriptor new] autorelease]};
  CHECK(holds(both[0], {{@"size", 0},
                        {@"type", MTLHeapTypeAutomatic},
                        {@"storageMode", MTLStorageModePrivate},
                        {@"cpuCacheMode", MTLCPUCacheModeDefaultCache}}));
  for (MTLHeapDescriptor* descriptor : both) {
    [descriptor setStorageMode:MTLStorageModePrivate];
    [descriptor setCpuCacheMode:MTLCPUCacheModeWriteCombined];
    [descriptor setHazardTrackingMode:MTLHazardTrackingModeUntracked];
    CHECK([descriptor resourceOptions] == kAll);
    [descriptor setResourceOptions:MTLResourceStorageModeShared];
    CHECK(holds(descriptor, {{@"storageMode", MTLStorageModeShared}, {@"cpuCacheMode", MTLCPUCacheModeDefaultCache}}));
  }
}

TEST(images_and_textures) {
  id made = [MTLTextureDescriptor texture2DDescriptorWithPixelFormat:MTLPixelFormatRGBA16Float
                                                               width:20
                                                              height:6
                                                           mipmapped:YES];
  CHECK(holds(made, {{@"width", 20},
                     {@"height", 6},
                     {@"depth", 1},
                     {@"pixelFormat", MTLPixelFormatRGBA16Float},
                     {@"mipmapLevelCount", 5},
                     {@"textureType", MTLTextureType2D}}));
  MPSImageDescriptor* image = [MPSImageDescriptor imageDescriptorWithChannelFormat:MPSImageFeatureChannelFormatFloat16
                                                                             width:8
                                                                            height:4
                                                                   featureChannels:3];
  CHECK(holds(image, {{@"width", 8}, {@"height", 4}, {@"featureChannels", 3}, {@"numberOfImages", 1}}));
  CHECK([image pixelFormat] == MTLPixelFormatRGBA16Float);
  [image setFeatureChannels:1];
  [image setChannelFormat:MPSImageFeatureChannelFormatFloat32];
  CHECK([image pixelFormat] == MTLPixelFormatR32Float);
  image = [MPSImageDescriptor imageDescriptorWithChannelFormat:MPSImageFeatureChannelFormatUnorm8
                                                         width:1
                                                        height:1
                                               featureChannels:2
                                                numberOfImages:5
                                                         usage:MTLTextureUsageShaderWrite];
  CHECK(holds(image, {{@"numberOfImages", 5}, {@"usage", MTLTextureUsageShaderWrite}}));
  CHECK([image pixelFormat] == MTLPixelFormatRG8Unorm);
}

// What is no number.
TEST(objects_in_descriptors) {
  MTLCompileOptions* options = [[MTLCompileOptions new] autorelease];
  CHECK([options preprocessorMacros] == nil);
  [options setFastMathEnabled:NO];
  [options setPreprocessorMacros:pair(@"1", @"N")];
  [options setLanguageVersion:MTLLanguageVersion2_3];
  MTLCompileOptions* copy = [[options copy] autorelease];
  [options setPreprocessorMacros:nil];
  CHECK(![copy fastMathEnabled] && [copy languageVersion] == MTLLanguageVersion2_3);
  CHECK([[[copy preprocessorMacros] objectForKey:@"N"] isEqual:@"1"]);
#ifndef __APPLE__  // declared by SDKs from macOS 15 on
  CHECK([options mathMode] == MTLMathModeRelaxed);
  [options setMathMode:MTLMathModeSafe];
  CHECK([[[options copy] autorelease] mathMode] == MTLMathModeSafe);
#endif
  MTLComputePipelineDescriptor* pipeline = [[MTLComputePipelineDescriptor new] autorelease];
  [pipeline setLabel:@"adds"];
  [pipeline setComputeFunction:nil];
  [pipeline setMaxTotalThreadsPerThreadgroup:64];
  MTLComputePipelineDescriptor* same = [[pipeline copy] autorelease];
  [pipeline reset];
  CHECK([pipeline label] == nil && [pipeline maxTotalThreadsPerThreadgroup] != 64);
  CHECK([[same label] isEqualToString:@"adds"] && [same computeFunction] == nil);
  CHECK([same maxTotalThreadsPerThreadgroup] == 64 && ![same threadGroupSizeIsMultipleOfThreadExecutionWidth]);
  MTLCaptureDescriptor* capture = [[MTLCaptureDescriptor new] autorelease];
  CHECK([capture destination] == MTLCaptureDestinationDeveloperTools);
  [capture setCaptureObject:the_device()];
  [capture setOutputURL:[NSURL fileURLWithPath:@"/nowhere/trace"]];
  MTLCaptureDescriptor* again = [[capture copy] autorelease];
  CHECK([again captureObject] == the_device() && [[[again outputURL] path] isEqualToString:@"/nowhere/trace"]);
  MTLFunctionConstantValues* values = [[MTLFunctionConstantValues new] autorelease];
  [values reset];
  CHECK([[[values copy] autorelease] isKindOfClass:[MTLFunctionConstantValues class]]);
}

// The op keeps what its descriptor said when it was made.
TEST(an_op_copies_its_descriptor) {
  MPSGraphTensor* x = [g_graph constantWithScalar:1 shape:numbers({1, 4, 4, 1}) dataType:MPSDataTypeFloat32];
  MPSGraphPooling2DOpDescriptor* descriptor =
      [MPSGraphPooling2DOpDescriptor descriptorWithKernelWidth:2
                                                  kernelHeight:2
                                                     strideInX:2
                                                     strideInY:2
                                                  paddingStyle:kValid
                                                    dataLayout:MPSGraphTensorNamedDataLayoutNHWC];
  MPSGraphTensor* y = [g_graph avgPooling2DWithSourceTensor:x descriptor:descriptor name:nil];
  [descriptor setStrideInX:1];
  NSDictionary* results = [g_graph runWithFeeds:[NSDictionary dictionary] targetTensors:list(y) targetOperations:nil];
  CHECK([[[results objectForKey:y] shape] isEqual:numbers({1, 2, 2, 1})]);
}

int main(int count, char** arguments) {
  if (make_objects(count, arguments)) return check::run(1, arguments);
  std::fprintf(stderr, "usage: %s api.json\n", arguments[0]);
  return 2;
}
