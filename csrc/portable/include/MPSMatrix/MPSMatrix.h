// Umbrella of the kernels of matrices.
#pragma once

#import <MPSMatrix/MPSMatrixMultiplication.h>
#import <MPSMatrix/MPSMatrixSoftMax.h>
#import <MPSMatrix/MPSMatrixTypes.h>
