/// Operations of your own for Alloy, in a shared library. Plain C, for C and C++.
///
/// A library defines alloy_op_library(), which returns the table of its ops. al.load_op_library(path) reads it, and
/// makes of each op a function of tensors. A step that uses one is cut there: what comes before is computed by the
/// device, then compute() is called on the host, then the device goes on with its results.
///
/// Functions of one op may be called from several threads at once, each for arrays of its own. None of them may keep a
/// pointer that it was given. Where a function fails, it writes a sentence for the user to `message`, at most
/// ALLOY_MESSAGE_SIZE bytes with the zero at the end, and returns something other than 0. A C++ function may also throw
/// a std::exception, which says it.
#ifndef ALLOY_OP_LIBRARY_H
#define ALLOY_OP_LIBRARY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The version of what this file describes. It grows when a library that was built before would not work any more.
#define ALLOY_OP_LIBRARY_VERSION 1
/// The most axes that a tensor has.
#define ALLOY_MOST_AXES 16
/// A number of axes or an extent that is not known before a run.
#define ALLOY_UNKNOWN (-1)
/// The size of the text that `message` points to.
#define ALLOY_MESSAGE_SIZE 512

/// The types of elements. float16 and bfloat16 take two bytes, bool one, which is 0 or 1.
enum {
  ALLOY_BOOL = 0,
  ALLOY_INT8 = 1,
  ALLOY_INT16 = 2,
  ALLOY_INT32 = 3,
  ALLOY_INT64 = 4,
  ALLOY_UINT8 = 5,
  ALLOY_UINT16 = 6,
  ALLOY_UINT32 = 7,
  ALLOY_UINT64 = 8,
  ALLOY_FLOAT16 = 9,
  ALLOY_BFLOAT16 = 10,
  ALLOY_FLOAT32 = 11
};

/// A tensor: what is known of it and, during a run, its elements.
typedef struct AlloyTensor {
  /// One of the types above.
  int32_t type;
  /// How many axes it has, or ALLOY_UNKNOWN.
  int32_t axes;
  /// Its extents, each of which may be ALLOY_UNKNOWN, as are those behind the last axis.
  int64_t extents[ALLOY_MOST_AXES];
  /// In compute(), the elements, packed in row-major order and aligned to 16 bytes; in rule() NULL.
  void* data;
} AlloyTensor;

/// A function of an op: of so many inputs it makes so many results. Returns 0, or something else behind a message.
typedef int (*AlloyFunction)(const AlloyTensor* inputs, AlloyTensor* results, char* message);

/// One op.
typedef struct AlloyOp {
  /// Its name, of letters, digits and underscores; with that of the library it names the op to users.
  const char* name;
  /// A sentence for users, which help() shows; may be NULL.
  const char* text;
  /// How many tensors it takes and gives, each at least 1.
  int32_t inputs, results;
  /// Sets type, axes and extents of the results, as far as those of the inputs tell them, or refuses the inputs. It is
  /// called when the op is added to a graph, where axes and extents may be unknown, and again when they are known.
  AlloyFunction rule;
  /// Writes the elements of the results, which have the types and shapes that rule() gave.
  AlloyFunction compute;
  /// The name of the op of this library that is its gradient, or NULL: it has none, and what asks for it is refused.
  /// That op takes the inputs, the results, and for each result that is a float the gradient that comes back to it. It
  /// gives, for each input that is a float, the gradient that goes back to it, which has that input's type and shape.
  const char* gradient;
} AlloyOp;

/// What a library says of itself.
typedef struct AlloyOpLibrary {
  /// ALLOY_OP_LIBRARY_VERSION.
  int32_t version;
  /// How many ops it has.
  int32_t count;
  /// Its name, of letters, digits and underscores; two libraries of one process have different ones.
  const char* name;
  /// Its ops.
  const AlloyOp* ops;
} AlloyOpLibrary;

/// Every library defines this. The table must last as long as the process.
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const AlloyOpLibrary* alloy_op_library(void);

#ifdef __cplusplus
}
#endif

#endif
