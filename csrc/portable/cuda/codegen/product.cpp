#include "cuda/codegen/product.h"

#include <algorithm>
#include <utility>

#include "cuda/codegen/families.h"

namespace alloy::cuda {

using ir::Op;

const char* const kProduct = R"cuda(
// Rows and columns of the results, terms of each sum, and results; the terms are divided into parts.
struct ProductSize { i64 rows, columns, inner, matrices, parts; };

// A left matrix M has types Line and Term and functions line(matrix, row), term(k) and at(line, term); of a right
// matrix a line is a column. If M::kAlong, neighbouring threads read neighbouring terms, and a thread has one term of
// each tile; else they read neighbouring lines, and a thread has one line. The places of results have row(matrix, row),
// the index of a row's first element, and column(matrix, column), the distance from there. read(index) reads what
// write(index, read, x) needs to take an element of the result. Of several elements all is read first: the compiler
// cannot know that writing one does not change what is read for the next.

// What a thread copies of a tile of LINES lines and 16 terms.
template <class M, int LINES>
struct TileLoader {
  static const int kCount = LINES / 16;
  const M& matrix;
  typename M::Line lines[M::kAlong ? kCount : 1];
  bool inside[M::kAlong ? kCount : 1];

  __device__ TileLoader(const M& m, i64 number, i64 first, i64 count) : matrix(m) {
#pragma unroll
    for (int j = 0; j < (M::kAlong ? kCount : 1); ++j) {
      const i64 line = first + line_of(j);
      inside[j] = line < count;
      lines[j] = m.line(number, inside[j] ? line : 0);
    }
  }
  __device__ static int line_of(int j) { return M::kAlong ? threadIdx.x / 16 + 16 * j : threadIdx.x % LINES; }
  __device__ static int term_of(int j) { return M::kAlong ? threadIdx.x % 16 : threadIdx.x / LINES + 256 / LINES * j; }
  __device__ void load(float (*tile)[LINES + 4], i64 begin, i64 end) const {
    if (M::kAlong) {
      const i64 k = begin + term_of(0);
      const typename M::Term term = matrix.term(k < end ? k : begin);
#pragma unroll
      for (int j = 0; j < kCount; ++j) {
        tile[term_of(0)][line_of(j)] = inside[j] && k < end ? matrix.at(lines[j], term) : 0;
      }
    } else {
#pragma unroll 2
      for (int j = 0; j < kCount; ++j) {
        const i64 k = begin + term_of(j);
        tile[term_of(j)][line_of(0)] = inside[0] && k < end ? matrix.at(lines[0], matrix.term(k)) : 0;
      }
    }
  }
};

// A block computes 16 R x 16 R elements, a thread R x R of them: four neighbours in each 64. R is 4 or 8.
template <int R, class A, class B, class Places, class Read, class Write>
__device__ inline void product(const A& a, const B& b, const Places& places, const Read& read, const Write& write,
                               float* parts, const ProductSize& size) {
  const int kLines = 16 * R;
  __shared__ __align__(16) float left[16][kLines + 4], right[16][kLines + 4];
  const i64 across = (size.columns + kLines - 1) / kLines, tiles = across * ((size.rows + kLines - 1) / kLines);
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const i64 length = ((size.inner + size.parts - 1) / size.parts + 15) / 16 * 16, begin = blockIdx.y * length;
  const i64 end = begin + length < size.inner ? begin + length : size.inner;
  for (i64 block = blockIdx.x; block < tiles * size.matrices; block += gridDim.x) {
    const i64 matrix = quotient(block, tiles), tile = block - matrix * tiles;
    const i64 first_row = quotient(tile, across) * kLines, first_column = (tile % across) * kLines;
    const TileLoader<A, kLines> load_left(a, matrix, first_row, size.rows);
    const TileLoader<B, kLines> load_right(b, matrix, first_column, size.columns);
    float sums[R][R] = {};
    for (i64 k = begin; k < end; k += 16) {
      __syncthreads();
      load_left.load(left, k, end);
      load_right.load(right, k, end);
      __syncthreads();
#pragma unroll 4
      for (int t = 0; t < 16; ++t) {
        float of_left[R], of_right[R];
#pragma unroll
        for (int i = 0; i < R; i += 4) {
          *(float4*)&of_left[i] = *(const float4*)&left[t][i * 16 + ty * 4];
          *(float4*)&of_right[i] = *(const float4*)&right[t][i * 16 + tx * 4];
        }
#pragma unroll
        for (int i = 0; i < R; ++i) {
#pragma unroll
          for (int j = 0; j < R; ++j) sums[i][j] += of_left[i] * of_right[j];
        }
      }
    }
#pragma unroll
    for (int i = 0; i < R; ++i) {
      const i64 row = first_row + i / 4 * 64 + ty * 4 + i % 4;
      if (row >= size.rows) continue;
      const i64 to = places.row(matrix, row);
      i64 at[R];
      decltype(read(0)) got[R];
#pragma unroll
      for (int j = 0; j < R; ++j) {
        const i64 column = first_column + j / 4 * 64 + tx * 4 + j % 4;
        at[j] = column < size.columns ? to + places.column(matrix, column) : -1;
        if (at[j] >= 0 && size.parts == 1) got[j] = read(at[j]);
      }
#pragma unroll
      for (int j = 0; j < R; ++j) {
        const i64 column = first_column + j / 4 * 64 + tx * 4 + j % 4;
        if (at[j] < 0) continue;
        if (size.parts == 1) write(at[j], got[j], sums[i][j]);
        else parts[((blockIdx.y * size.matrices + matrix) * size.rows + row) * size.columns + column] = sums[i][j];
      }
    }
  }
}

template <class Places, class Read, class Write>
__device__ inline void sum_parts(const float* parts, const Places& places, const Read& read, const Write& write,
                                 const ProductSize& size) {
  const i64 count = size.matrices * size.rows * size.columns;
  for (i64 i = first_index(); i < count; i += index_step()) {
    double sum = 0;
    for (i64 part = 0; part < size.parts; ++part) sum += parts[part * count + i];
    const i64 line = quotient(i, size.columns), matrix = quotient(line, size.rows);
    const i64 at = places.row(matrix, line - matrix * size.rows) + places.column(matrix, i - line * size.columns);
    write(at, read(at), (float)sum);
  }
}
)cuda";

std::optional<Product> product_of(const Op& op) {
  if (!op.info().facts.products || op.operands[0].dtype() != ir::DType::float32) return std::nullopt;
  if (op.results[0].shape.element_count() == 0) return std::nullopt;
  return op.code == ir::OpCode::matmul ? product_of_matmul(op) : product_of_convolution(op);
}

Code code_of_product(const Op& op, const Maker& finish) {
  Code code;
  append_product(code, *product_of(op), finish);
  return code;
}

void append_product(Code& code, const Product& product, const Maker& finish) {
  const auto tiles = [&](int64_t lines) {
    return (product.rows + lines - 1) / lines * ((product.columns + lines - 1) / lines) * product.matrices;
  };
  // Large tiles read less, small ones divide the work among more processors; so do parts of the sums.
  constexpr int64_t kProcessors = 128, kLeastTerms = 128, kMostParts = 32;
  const bool is_large = product.rows >= 128 && product.columns >= 128 && tiles(128) >= kProcessors;
  const int64_t blocks = tiles(is_large ? 128 : 64);
  const int64_t parts =
      std::clamp<int64_t>(std::min(2 * kProcessors / blocks, product.inner / kLeastTerms), 1, kMostParts);
  std::vector<int64_t> numbers{product.rows, product.columns, product.inner, product.matrices, parts};
  numbers.insert(numbers.end(), product.numbers.begin(), product.numbers.end());
  std::vector<const char*> libraries{kProduct};
  libraries.insert(libraries.end(), product.libraries.begin(), product.libraries.end());
  Launch launch{libraries, "", {operand(0), operand(1)}, numbers};
  const auto body = [&](const std::string& functions, const std::string& at_parts) {
    return "  product<" + std::string(is_large ? "8" : "4") + ">(" + product.left + ", " + product.right + ", " +
           product.places + ", " + functions + ", " + at_parts + ", *(const ProductSize*)n);\n";
  };
  Launch sum = launch_for(product.matrices * product.rows * product.columns, libraries, "", launch.pointers, numbers);
  launch.blocks = static_cast<unsigned>(std::min<int64_t>(blocks, 1 << 30));
  launch.rows = static_cast<unsigned>(parts);
  if (parts == 1) {
    launch.body = body(add(launch, finish), "nullptr");
    code.launches.push_back(std::move(launch));
    return;
  }
  const Pointer at = scratch(code.scratch);
  code.scratch += static_cast<size_t>(parts * product.matrices * product.rows * product.columns) * sizeof(float);
  launch.body = body("[](i64) { return 0; }, [](i64, int, float) {}", "(float*)p[2]");
  launch.pointers.push_back(at);
  code.launches.push_back(std::move(launch));
  const std::string functions = add(sum, finish);
  sum.body = "  sum_parts((const float*)p[" + std::to_string(sum.pointers.size()) + "], " + product.places + ", " +
             functions + ", *(const ProductSize*)n);\n";
  sum.pointers.push_back(at);
  code.launches.push_back(std::move(sum));
}

}  // namespace alloy::cuda
