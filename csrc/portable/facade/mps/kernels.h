// What the kernels of matrices share.
#pragma once

#include "facade/mps/matrices/matrices.h"

namespace alloy::facade {

// The formulas that a kernel has encoded; they live as long as it.
runtime::Formulas& formulas_of(MPSKernel* kernel);

// Raises unless the matrices have elements of one type, Float32 or Float16.
void require_floats(const MatrixParts& source, const MatrixParts& result, NSString* what);

// Origins, numbers and text of kernels for coders.
void encode_origin(NSCoder* coder, MTLOrigin origin, NSString* key);
MTLOrigin decode_origin(NSCoder* coder, NSString* key);
void encode_count(NSCoder* coder, NSUInteger count, NSString* key);
NSUInteger decode_count(NSCoder* coder, NSString* key);

}  // namespace alloy::facade
