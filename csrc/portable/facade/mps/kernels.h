// Functions shared by the kernels of matrices.
#pragma once

#include "facade/mps/matrices/matrices.h"

namespace alloy::facade {

// The formulas that a kernel has encoded; they live as long as the kernel.
runtime::Formulas& formulas_of(MPSKernel* kernel);

// Raises unless the matrices have elements of one type, Float32 or Float16.
void require_floats(const MatrixParts& source, const MatrixParts& result, NSString* what);

// Store a kernel's field in an archive.
void encode(NSCoder* coder, MTLOrigin field, NSString* key);
void encode(NSCoder* coder, NSUInteger field, NSString* key);
void encode(NSCoder* coder, BOOL field, NSString* key);
void encode(NSCoder* coder, float field, NSString* key);
void encode(NSCoder* coder, double field, NSString* key);
void encode(NSCoder* coder, MPSCNNNeuronType field, NSString* key);
void encode(NSCoder* coder, NSData* field, NSString* key);
void decode(NSCoder* coder, MTLOrigin& field, NSString* key);
void decode(NSCoder* coder, NSUInteger& field, NSString* key);
void decode(NSCoder* coder, BOOL& field, NSString* key);
void decode(NSCoder* coder, float& field, NSString* key);
void decode(NSCoder* coder, double& field, NSString* key);
void decode(NSCoder* coder, MPSCNNNeuronType& field, NSString* key);
void decode(NSCoder* coder, NSData*& field, NSString* key);  // retained

// Copies a field for another kernel.
template <class Field>
Field copied(Field field) {
  return field;
}
inline NSData* copied(NSData* field) { return [field retain]; }

}  // namespace alloy::facade

// Copying and archiving of a kernel: a row keeps(alpha) for each field, with `alpha` as key and _alpha as the variable.
#define KERNEL_FIELDS(Kernel, ...)                                                   \
  -(instancetype)copyWithZone : (NSZone*)zone device : (id<MTLDevice>)device {       \
    Kernel* copy = [super copyWithZone:zone device:device];                          \
    FOR_EACH_PART(KERNEL_COPY_, __VA_ARGS__)                                         \
    return copy;                                                                     \
  }                                                                                  \
  -(instancetype)initWithCoder : (NSCoder*)aDecoder device : (id<MTLDevice>)device { \
    if ((self = [super initWithCoder:aDecoder device:device])) {                     \
      FOR_EACH_PART(KERNEL_DECODE_, __VA_ARGS__)                                     \
    }                                                                                \
    return self;                                                                     \
  }                                                                                  \
  -(void)encodeWithCoder : (NSCoder*)coder {                                         \
    [super encodeWithCoder:coder];                                                   \
    FOR_EACH_PART(KERNEL_ENCODE_, __VA_ARGS__)                                       \
  }
#define KERNEL_COPY_keeps(field) copy->_##field = copied(_##field);
#define KERNEL_DECODE_keeps(field) decode(aDecoder, _##field, @ #field);
#define KERNEL_ENCODE_keeps(field) encode(coder, _##field, @ #field);
