// Fits a line to noisy points. Forward pass, gradients and updates are one compiled graph. Slope and offset never leave
// the device.
//
// On Linux:  alloy-clang++ -fobjc-arc examples/linear_regression.mm -o linear_regression
// On a Mac:  clang++ -fobjc-arc examples/linear_regression.mm -o linear_regression
//                -framework CoreGraphics -framework Foundation -framework Metal
//                -framework MetalPerformanceShadersGraph

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <cstdio>
#include <random>
#include <vector>

static NSData* bytes_of(const std::vector<float>& numbers) {
  return [NSData dataWithBytes:numbers.data() length:numbers.size() * sizeof(float)];
}

static float number_of(MPSGraphTensorData* data) {
  float number = 0;
  [data.mpsndarray readBytes:&number strideBytes:nil];
  return number;
}

int main() {
  @autoreleasepool {
    // Points around y = 3 x - 0.5.
    std::mt19937 engine(0);
    std::uniform_real_distribution<float> place(-1, 1);
    std::normal_distribution<float> noise(0, 0.05f);
    std::vector<float> x_data(256), y_data(256);
    for (size_t i = 0; i < x_data.size(); ++i) {
      x_data[i] = place(engine);
      y_data[i] = 3 * x_data[i] - 0.5f + noise(engine);
    }

    MPSGraph* graph = [MPSGraph new];
    MPSShape* column = @[ @256, @1 ];
    MPSGraphTensor* x = [graph placeholderWithShape:column dataType:MPSDataTypeFloat32 name:@"x"];
    MPSGraphTensor* y = [graph placeholderWithShape:column dataType:MPSDataTypeFloat32 name:@"y"];
    MPSGraphTensor* slope = [graph variableWithData:bytes_of({0})
                                              shape:@[ @1, @1 ]
                                           dataType:MPSDataTypeFloat32
                                               name:@"slope"];
    MPSGraphTensor* offset = [graph variableWithData:bytes_of({0})
                                               shape:@[ @1 ]
                                            dataType:MPSDataTypeFloat32
                                                name:@"offset"];
    MPSGraphTensor* product = [graph matrixMultiplicationWithPrimaryTensor:x secondaryTensor:slope name:nil];
    MPSGraphTensor* guess = [graph additionWithPrimaryTensor:product secondaryTensor:offset name:nil];
    MPSGraphTensor* error = [graph subtractionWithPrimaryTensor:guess secondaryTensor:y name:nil];
    MPSGraphTensor* loss = [graph meanOfTensor:[graph squareWithTensor:error name:nil] axes:@[ @0, @1 ] name:@"loss"];

    NSDictionary<MPSGraphTensor*, MPSGraphTensor*>* gradients = [graph gradientForPrimaryTensor:loss
                                                                                    withTensors:@[ slope, offset ]
                                                                                           name:nil];
    MPSGraphTensor* rate = [graph constantWithScalar:0.5 dataType:MPSDataTypeFloat32];
    NSMutableArray<MPSGraphOperation*>* updates = [NSMutableArray array];
    for (MPSGraphTensor* variable in gradients) {
      MPSGraphTensor* next = [graph stochasticGradientDescentWithLearningRateTensor:rate
                                                                       valuesTensor:variable
                                                                     gradientTensor:gradients[variable]
                                                                               name:nil];
      [updates addObject:[graph assignVariable:variable withValueOfTensor:next name:nil]];
    }

    id<MTLDevice> metal = MTLCreateSystemDefaultDevice();
    MPSGraphDevice* device = [MPSGraphDevice deviceWithMTLDevice:metal];
    MPSGraphTensorDataDictionary* feeds = @{
      x : [[MPSGraphTensorData alloc] initWithDevice:device
                                                data:bytes_of(x_data)
                                               shape:column
                                            dataType:MPSDataTypeFloat32],
      y : [[MPSGraphTensorData alloc] initWithDevice:device
                                                data:bytes_of(y_data)
                                               shape:column
                                            dataType:MPSDataTypeFloat32],
    };
    id<MTLCommandQueue> queue = [metal newCommandQueue];
    float last = 0;
    for (int step = 0; step < 100; ++step) {
      @autoreleasepool {
        last = number_of([graph runWithMTLCommandQueue:queue
                                                 feeds:feeds
                                         targetTensors:@[ loss ]
                                      targetOperations:updates][loss]);
      }
    }
    MPSGraphTensorDataDictionary* fitted = [graph runWithMTLCommandQueue:queue
                                                                   feeds:@{}
                                                           targetTensors:@[ slope, offset ]
                                                        targetOperations:nil];
    std::printf("loss %.4f, y = %.2f x + %.2f\n", last, number_of(fitted[slope]), number_of(fitted[offset]));
  }
}
