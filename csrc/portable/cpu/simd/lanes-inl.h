// Vectors over arrays whose last vector is incomplete: loading and storing it. Included once per instruction set.
#if defined(ALLOY_KERNELS_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ALLOY_KERNELS_LANES_INL_H_
#undef ALLOY_KERNELS_LANES_INL_H_
#else
#define ALLOY_KERNELS_LANES_INL_H_
#endif

#include "cpu/simd/targets.h"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace alloy::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Vectors of floats, which most loops use.
using FloatTag = hn::ScalableTag<float>;

// Loads the first `count` lanes from p and fills the others from `fill`; reads nothing after p + count.
template <class D>
HWY_INLINE hn::Vec<D> LoadFirst(D d, const hn::TFromD<D>* p, size_t count, hn::Vec<D> fill) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  const auto mask = hn::FirstN(d, count);
  return hn::IfThenElse(mask, hn::MaskedLoad(mask, d, p), fill);
#else
  // On these targets, a masked load reads the whole vector.
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(d)];
  hn::Store(fill, d, lanes);
  for (size_t i = 0; i < count; ++i) lanes[i] = p[i];
  return hn::Load(d, lanes);
#endif
}

// Writes the first `count` lanes to p and nothing after them.
template <class D>
HWY_INLINE void StoreFirst(D d, hn::Vec<D> v, size_t count, hn::TFromD<D>* p) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  hn::BlendedStore(v, hn::FirstN(d, count), d, p);
#else
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(d)];
  hn::Store(v, d, lanes);
  for (size_t i = 0; i < count; ++i) p[i] = lanes[i];
#endif
}

// Calls body(i, count) for vectors that cover [0, n): `count` is the number of lanes, or less for the last one.
template <class D, class Body>
HWY_INLINE void ForVectors(D d, size_t n, const Body& body) {
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) body(i, lanes);
  if (i < n) body(i, n - i);
}

// A vector with `count` lanes from p; a whole one is the common case.
template <class D>
HWY_INLINE hn::Vec<D> LoadUpTo(D d, const hn::TFromD<D>* p, size_t count, hn::Vec<D> fill) {
  return count == hn::Lanes(d) ? hn::LoadU(d, p) : LoadFirst(d, p, count, fill);
}

template <class D>
HWY_INLINE void StoreUpTo(D d, hn::Vec<D> v, size_t count, hn::TFromD<D>* p) {
  if (count == hn::Lanes(d)) {
    hn::StoreU(v, d, p);
  } else {
    StoreFirst(d, v, count, p);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace alloy::cpu
HWY_AFTER_NAMESPACE();

#endif
