// Convolutions and their gradients: products in tiles whose matrices are never stored, or, where groups are so small
// that tiles would be nearly empty, a thread for each element of the result.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "cuda/codegen/families.h"
#include "cuda/codegen/product.h"
#include "cuda/codegen/windows.h"

namespace alloy::cuda {
namespace {

using ir::Attr;
using ir::Dims;
using ir::Op;
using ir::OpCode;

constexpr char kConvolution[] = R"cuda(
// Numbers of images, groups, channels of a group and filters of a group; steps; the first elements of the source and of
// the weights that count; then three axes.

struct Convolution {
  i64 images, groups, channels, filters, source_image, source_channel, result_image, result_channel, weights_in,
      weights_out, source_begin, weights_begin;
  Moving axes[3];
};

)cuda";

constexpr char kTiles[] = R"cuda(
// Along an axis of places, those of `count` numbers k that have 0 <= k * step + place * own_step - before < extent are
// not padding: taps of a window's position or of a pixel, or positions of a tap.
struct Overlap { i64 before, extent, own_step, step, count; };
// With reciprocals of what images, positions, pixels and terms are divided by, all of which are below 2^31.
struct TiledConvolution : Convolution {
  i64 by_images, by_channels, by_filters, by_taps[3], by_positions[3], by_extents[3];
  Overlap overlaps[3];
};
__device__ inline int rounded_up_quotient(int a, int b) {
  if (b == 1) return a;
  const int q = a / b;
  return q * b < a ? q + 1 : q;
}

// A tap of each axis, and a channel or filter: channels are the fastest. Offsets within an image, or within the
// weights, have 32 bits. If AXES is 2, the first of the three axes has a single place.
struct Tap { int d, h, v, channel; };
__device__ inline Tap tap_of(const TiledConvolution& c, i64 k, i64 channels, i64 by_channels) {
  const int rest = divided((int)k, by_channels), next = divided(rest, c.by_taps[2]), d = divided(next, c.by_taps[1]);
  return Tap{d, next - d * (int)c.axes[1].taps, rest - next * (int)c.axes[2].taps, (int)k - rest * (int)channels};
}
template <int AXES>
__device__ inline int place_of(const TiledConvolution& c, int d, int h, int v) {
  return (AXES == 2 ? 0 : d * (int)c.axes[0].tap_step) + h * (int)c.axes[1].tap_step + v * (int)c.axes[2].tap_step;
}

// An image and a position along each axis, whose counts are given. The images are the slowest, or if SKIPS, the
// fastest, so that the lines of a tile have few positions: terms that are padding for all of these are skipped.
struct Spot { int image, d, h, v; };
template <bool SKIPS>
__device__ inline Spot spot_of(const TiledConvolution& c, int i, i64 of_d, i64 of_h, i64 of_v, const i64* by) {
  const int place = SKIPS ? divided(i, c.by_images) : i;
  const int rest = divided(place, by[2]), next = divided(rest, by[1]), slowest = SKIPS ? 0 : divided(next, by[0]);
  return Spot{SKIPS ? i - place * (int)c.images : slowest, next - slowest * (int)of_d, rest - next * (int)of_h,
              place - rest * (int)of_v};
}
template <bool SKIPS>
__device__ inline Spot position_of(const TiledConvolution& c, i64 i) {
  return spot_of<SKIPS>(c, (int)i, c.axes[0].positions, c.axes[1].positions, c.axes[2].positions, c.by_positions);
}
template <bool SKIPS>
__device__ inline Spot pixel_of(const TiledConvolution& c, i64 i) {
  return spot_of<SKIPS>(c, (int)i, c.axes[0].extent, c.axes[1].extent, c.axes[2].extent, c.by_extents);
}
// Offsets of elements, which may be outside, are sums of one of the line and one of the term, so that a thread computes
// each once for several elements.
template <int AXES>
__device__ inline int in_source(const TiledConvolution& c, int d, int h, int v) {
  return (AXES == 2 ? 0 : d * (int)c.axes[0].source_step) + h * (int)c.axes[1].source_step +
         v * (int)c.axes[2].source_step;
}
template <int AXES>
__device__ inline int in_result(const TiledConvolution& c, int d, int h, int v) {
  return (AXES == 2 ? 0 : d * (int)c.axes[0].result_step) + h * (int)c.axes[1].result_step +
         v * (int)c.axes[2].result_step;
}
template <int AXES>
__device__ inline bool is_inside(const TiledConvolution& c, int d, int h, int v) {
  return (AXES == 2 || (unsigned)d < (unsigned)c.axes[0].extent) && (unsigned)h < (unsigned)c.axes[1].extent &&
         (unsigned)v < (unsigned)c.axes[2].extent;
}

// What the matrices share.
template <class T, bool ALONG, int WIDTH, int AXES, bool SKIPS>
struct MatrixOfConvolution {
  static const bool kAlong = ALONG, kSkips = SKIPS;
  static const int kWidth = WIDTH;
  typedef T Element;
  // Of a place, and what is there.
  struct Line { const T* from; int d, h, v; };
  const T* from;
  const TiledConvolution& c;
  Terms some;

  // Of `each` terms for each number that overlaps: those of lines from one to another place. If places differ along an
  // axis, there are all along the next ones.
  template <class Place>
  __device__ Terms terms_of(const Place& first, const Place& last, i64 each, const int (&places)[3]) const {
    const int from_place[3] = {first.d, first.h, first.v}, to_place[3] = {last.d, last.h, last.v};
    Terms terms = {each, {0, 0, 0}, {1, 1, 1}};
    bool is_same = true;
#pragma unroll
    for (int i = 3 - AXES; i < 3; ++i) {
      const Overlap& o = c.overlaps[i];
      const int step = (int)o.step, one = (int)o.own_step * (is_same ? from_place[i] : 0),
                other = (int)o.own_step * (is_same ? to_place[i] : places[i] - 1);
      const int first_term = rounded_up_quotient((int)o.before - (one > other ? one : other), step);
      const int end = rounded_up_quotient((int)(o.before + o.extent) - (one < other ? one : other), step);
      terms.first[i] = first_term < 0 ? 0 : first_term;
      const int terms_there = (end < (int)o.count ? end : (int)o.count) - terms.first[i];
      terms.count *= terms_there < 0 ? 0 : terms_there;
      terms.counts[i] = terms_there < 1 ? 1 : terms_there;
      is_same = is_same && from_place[i] == to_place[i];
    }
    return terms;
  }
  __device__ int first(int axis) const { return SKIPS ? some.first[axis] : 0; }
};

// Terms are taps and channels, or filters if FILTERS, which lie so far apart.
template <class T, bool ALONG, int WIDTH, int AXES, bool SKIPS, bool FILTERS>
struct MatrixOfTaps : MatrixOfConvolution<T, ALONG, WIDTH, AXES, SKIPS> {
  static const bool kRuns = true;
  typedef Tap Term;
  __device__ int channels() const { return (int)(FILTERS ? this->c.filters : this->c.channels); }
  __device__ int taps(int axis) const { return SKIPS ? this->some.counts[axis] : (int)this->c.axes[axis].taps; }
  __device__ Term term(i64 k) const {
    const auto& c = this->c;
    const int rest = divided((int)k, FILTERS ? c.by_filters : c.by_channels);
    const int next = SKIPS ? rest / taps(2) : divided(rest, c.by_taps[2]);
    const int d = AXES == 2 ? 0 : SKIPS ? next / taps(1) : divided(next, c.by_taps[1]);
    return Tap{d, next - d * taps(1), rest - next * taps(2), (int)k - rest * channels()};
  }
  // Adds each axis; what goes beyond one is carried to the next.
  __device__ void advance(Term& tap, const Term& by) const {
    tap = Tap{tap.d + by.d, tap.h + by.h, tap.v + by.v, tap.channel + by.channel};
    if (tap.channel >= channels()) { tap.channel -= channels(); ++tap.v; }
    if (tap.v >= taps(2)) { tap.v -= taps(2); ++tap.h; }
    if (AXES == 3 && tap.h >= taps(1)) { tap.h -= taps(1); ++tap.d; }
  }
  // Of a tap, all channels lie at the same distance from each other.
  __device__ int run(const Term& tap, int terms) const {
    return channels() % terms == 0 ? (channels() - tap.channel + terms - 1) / terms : 1;
  }
  __device__ void skip(Term& tap, int by) const { advance(tap, Tap{0, 0, 0, by}); }
};

// The elements of the source under each window: a line is a position, a term a tap and channel.
template <class T, bool ALONG, int WIDTH, int AXES, bool SKIPS>
struct Windows : MatrixOfTaps<T, ALONG, WIDTH, AXES, SKIPS, false> {
  typedef typename MatrixOfConvolution<T, ALONG, WIDTH, AXES, SKIPS>::Line Line;
  __device__ Terms terms(i64 first, i64 last) const {
    const auto& c = this->c;
    return this->terms_of(position_of<SKIPS>(c, first), position_of<SKIPS>(c, last), c.channels,
                          {1, (int)c.axes[1].positions, (int)c.axes[2].positions});
  }
  __device__ Line line(i64 group, i64 i) const {
    const auto& c = this->c;
    const Spot s = position_of<SKIPS>(c, i);
    const int d = (int)c.axes[0].place(s.d, this->first(0)), h = (int)c.axes[1].place(s.h, this->first(1)),
              v = (int)c.axes[2].place(s.v, this->first(2));
    return Line{this->from + s.image * c.source_image + group * c.channels * c.source_channel +
                    in_source<AXES>(c, d, h, v), d, h, v};
  }
  __device__ const T* at(const Line& line, const Tap& tap, bool& is_there) const {
    const auto& c = this->c;
    const int d = tap.d * (int)c.axes[0].dilation, h = tap.h * (int)c.axes[1].dilation,
              v = tap.v * (int)c.axes[2].dilation;
    is_there = is_there && is_inside<AXES>(c, line.d + d, line.h + h, line.v + v);
    return line.from + (in_source<AXES>(c, d, h, v) + tap.channel * (int)c.source_channel);
  }
  __device__ int distance(int terms) const { return terms * (ALONG ? 1 : (int)this->c.source_channel); }
};

// The weights: a line is a filter, a term a tap and channel.
template <class T, bool ALONG, int WIDTH, int AXES, bool SKIPS>
struct Filters : MatrixOfTaps<T, ALONG, WIDTH, AXES, SKIPS, false> {
  typedef const T* Line;
  __device__ Line line(i64 group, i64 i) const {
    const auto& c = this->c;
    return this->from + (group * c.filters + i) * c.weights_out +
           place_of<AXES>(c, this->first(0), this->first(1), this->first(2));
  }
  __device__ const T* at(Line line, const Tap& tap, bool&) const {
    const auto& c = this->c;
    return line + (place_of<AXES>(c, tap.d, tap.h, tap.v) + tap.channel * (int)c.weights_in);
  }
  __device__ int distance(int terms) const { return terms * (ALONG ? 1 : (int)this->c.weights_in); }
};

template <bool ROWS_FIRST, int WIDTH, bool SKIPS>
struct ResultPlaces {
  static const bool kRowsFirst = ROWS_FIRST;
  static const int kWidth = WIDTH;
  const TiledConvolution& c;
  __device__ i64 row(i64, i64 i) const {
    const Spot s = position_of<SKIPS>(c, i);
    return s.image * c.result_image + in_result<3>(c, s.d, s.h, s.v);
  }
  __device__ i64 column(i64 group, i64 i) const { return (group * c.filters + i) * c.result_channel; }
};

// The gradients of the windows over each pixel, with strides of 1: a line is a pixel, a term a tap and filter.
template <class T, bool ALONG, int WIDTH, int AXES, bool SKIPS>
struct WindowsOver : MatrixOfTaps<T, ALONG, WIDTH, AXES, SKIPS, true> {
  typedef typename MatrixOfConvolution<T, ALONG, WIDTH, AXES, SKIPS>::Line Line;
  __device__ Terms terms(i64 first, i64 last) const {
    const auto& c = this->c;
    return this->terms_of(pixel_of<SKIPS>(c, first), pixel_of<SKIPS>(c, last), c.filters,
                          {1, (int)c.axes[1].extent, (int)c.axes[2].extent});
  }
  __device__ Line line(i64 group, i64 i) const {
    const auto& c = this->c;
    const Spot s = pixel_of<SKIPS>(c, i);
    const int d = s.d + (int)(c.axes[0].before - this->first(0) * c.axes[0].dilation),
              h = s.h + (int)(c.axes[1].before - this->first(1) * c.axes[1].dilation),
              v = s.v + (int)(c.axes[2].before - this->first(2) * c.axes[2].dilation);
    return Line{this->from + s.image * c.result_image + group * c.filters * c.result_channel +
                    in_result<AXES>(c, d, h, v), d, h, v};
  }
  __device__ const T* at(const Line& line, const Tap& tap, bool& is_there) const {
    const auto& c = this->c;
    const int d = tap.d * (int)c.axes[0].dilation, h = tap.h * (int)c.axes[1].dilation,
              v = tap.v * (int)c.axes[2].dilation;
    is_there = is_there && (AXES == 2 || (unsigned)(line.d - d) < (unsigned)c.axes[0].positions) &&
               (unsigned)(line.h - h) < (unsigned)c.axes[1].positions &&
               (unsigned)(line.v - v) < (unsigned)c.axes[2].positions;
    return line.from + (tap.channel * (int)c.result_channel - in_result<AXES>(c, d, h, v));
  }
  __device__ int distance(int terms) const { return terms * (ALONG ? 1 : (int)this->c.result_channel); }
};

// The weights again: a line is a channel, a term a tap and filter.
template <class T, bool ALONG, int WIDTH, int AXES, bool SKIPS>
struct Channels : MatrixOfTaps<T, ALONG, WIDTH, AXES, SKIPS, true> {
  typedef const T* Line;
  __device__ Line line(i64 group, i64 i) const {
    const auto& c = this->c;
    return this->from + c.weights_begin + i * c.weights_in + group * c.filters * c.weights_out +
           place_of<AXES>(c, this->first(0), this->first(1), this->first(2));
  }
  __device__ const T* at(Line line, const Tap& tap, bool&) const {
    const auto& c = this->c;
    return line + (place_of<AXES>(c, tap.d, tap.h, tap.v) + tap.channel * (int)c.weights_out);
  }
  __device__ int distance(int terms) const { return terms * (ALONG ? 1 : (int)this->c.weights_out); }
};

template <bool ROWS_FIRST, int WIDTH, bool SKIPS>
struct SourcePlaces {
  static const bool kRowsFirst = ROWS_FIRST;
  static const int kWidth = WIDTH;
  const TiledConvolution& c;
  __device__ i64 row(i64, i64 i) const {
    const Spot s = pixel_of<SKIPS>(c, i);
    return c.source_begin + s.image * c.source_image + in_source<3>(c, s.d, s.h, s.v);
  }
  __device__ i64 column(i64 group, i64 i) const { return (group * c.channels + i) * c.source_channel; }
};

// Terms are positions.
template <class T, bool ALONG, int WIDTH, int AXES, bool SKIPS>
struct MatrixOfPositions : MatrixOfConvolution<T, ALONG, WIDTH, AXES, SKIPS> {
  static const bool kRuns = SKIPS;
  typedef Spot Term;
  __device__ int positions(int axis) const {
    return SKIPS ? this->some.counts[axis] : (int)this->c.axes[axis].positions;
  }
  __device__ Term term(i64 k) const {
    const auto& c = this->c;
    if (!SKIPS) return position_of<false>(c, k);
    const int place = divided((int)k, c.by_images), rest = place / positions(2);
    const int next = AXES == 2 ? 0 : rest / positions(1);
    return Spot{(int)k - place * (int)c.images, next, rest - next * positions(1), place - rest * positions(2)};
  }
  __device__ void advance(Term& s, const Term& by) const {
    const int images = (int)this->c.images;
    s = Spot{s.image + by.image, s.d + by.d, s.h + by.h, s.v + by.v};
    if (SKIPS && s.image >= images) { s.image -= images; ++s.v; }
    if (s.v >= positions(2)) { s.v -= positions(2); ++s.h; }
    if (AXES == 3 && s.h >= positions(1)) { s.h -= positions(1); ++s.d; }
    if (!SKIPS && AXES == 2 && s.h >= positions(1)) { s.h -= positions(1); ++s.image; }
    if (!SKIPS && AXES == 3 && s.d >= positions(0)) { s.d -= positions(0); ++s.image; }
  }
  // At a position, all images lie at the same distance from each other.
  __device__ int run(const Term& s, int terms) const {
    const int images = (int)this->c.images;
    return images % terms == 0 ? (images - s.image + terms - 1) / terms : 1;
  }
  __device__ void skip(Term& s, int by) const { advance(s, Spot{by, 0, 0, 0}); }
};

// The elements of the source under each tap: a line is a tap and channel, a term a position.
template <class T, bool ALONG, int WIDTH, int AXES, bool SKIPS>
struct TapsOver : MatrixOfPositions<T, ALONG, WIDTH, AXES, SKIPS> {
  typedef typename MatrixOfConvolution<T, ALONG, WIDTH, AXES, SKIPS>::Line Line;
  __device__ Terms terms(i64 first, i64 last) const {
    const auto& c = this->c;
    return this->terms_of(tap_of(c, first, c.channels, c.by_channels), tap_of(c, last, c.channels, c.by_channels),
                          c.images, {1, (int)c.axes[1].taps, (int)c.axes[2].taps});
  }
  __device__ Line line(i64 group, i64 i) const {
    const auto& c = this->c;
    const Tap tap = tap_of(c, i, c.channels, c.by_channels);
    const int d = (int)c.axes[0].place(this->first(0), tap.d), h = (int)c.axes[1].place(this->first(1), tap.h),
              v = (int)c.axes[2].place(this->first(2), tap.v);
    return Line{this->from + (group * c.channels + tap.channel) * c.source_channel + in_source<AXES>(c, d, h, v),
                d, h, v};
  }
  __device__ const T* at(const Line& line, const Spot& s, bool& is_there) const {
    const auto& c = this->c;
    const int d = s.d * (int)c.axes[0].stride, h = s.h * (int)c.axes[1].stride, v = s.v * (int)c.axes[2].stride;
    is_there = is_there && is_inside<AXES>(c, line.d + d, line.h + h, line.v + v);
    return line.from + (s.image * c.source_image + in_source<AXES>(c, d, h, v));
  }
  __device__ i64 distance(int terms) const { return terms * this->c.source_image; }
};

// The incoming gradient: a line is a filter, a term a position.
template <class T, bool ALONG, int WIDTH, int AXES, bool SKIPS>
struct Incoming : MatrixOfPositions<T, ALONG, WIDTH, AXES, SKIPS> {
  typedef const T* Line;
  __device__ Line line(i64 group, i64 i) const {
    const auto& c = this->c;
    return this->from + (group * c.filters + i) * c.result_channel +
           in_result<AXES>(c, this->first(0), this->first(1), this->first(2));
  }
  __device__ const T* at(Line line, const Spot& s, bool&) const {
    return line + (s.image * this->c.result_image + in_result<AXES>(this->c, s.d, s.h, s.v));
  }
  __device__ i64 distance(int terms) const { return terms * this->c.result_image; }
};

// The same where neighbours in memory are filters and images the slowest: then the positions lie one behind the other.
template <class T, int WIDTH>
struct IncomingRows {
  static const bool kAlong = false, kRuns = true, kSkips = false;
  static const int kWidth = WIDTH;
  typedef T Element;
  typedef const T* Line;
  typedef i64 Term;
  const T* from;
  const TiledConvolution& c;
  __device__ Line line(i64 group, i64 i) const { return from + group * c.filters + i; }
  __device__ Term term(i64 k) const { return k * c.groups * c.filters; }
  __device__ void advance(Term& term, Term by) const { term += by; }
  __device__ const T* at(Line line, Term term, bool&) const { return line + term; }
  __device__ int run(Term, int) const { return 1 << 24; }
  __device__ i64 distance(int terms) const { return term(terms); }
  __device__ void skip(Term& own, int by) const { own += term(by); }
};

template <bool ROWS_FIRST, int WIDTH, bool SKIPS>
struct WeightsPlaces {
  static const bool kRowsFirst = ROWS_FIRST;
  static const int kWidth = WIDTH;
  const TiledConvolution& c;
  __device__ i64 row(i64, i64 i) const {
    const Tap tap = tap_of(c, i, c.channels, c.by_channels);
    return place_of<3>(c, tap.d, tap.h, tap.v) + tap.channel * c.weights_in;
  }
  __device__ i64 column(i64 group, i64 i) const { return (group * c.filters + i) * c.weights_out; }
};
)cuda";

constexpr char kDirect[] = R"cuda(
// Divides `rest` by a count, and returns what is left over.
__device__ inline i64 taken(i64& rest, i64 count) {
  const i64 all = rest;
  rest = quotient(all, count);
  return all - rest * count;
}
__device__ inline unsigned taken(unsigned& rest, unsigned count) {
  const unsigned all = rest;
  rest = all / count;
  return all - rest * count;
}

template <class T>
__device__ inline void convolve(const T* x, const T* w, T* y, const Convolution& c) {
  const Moving &d = c.axes[0], &h = c.axes[1], &v = c.axes[2];
  const i64 outs = c.groups * c.filters, count = c.images * outs * d.positions * h.positions * v.positions;
  for (i64 i = first_index(); i < count; i += index_step()) {
    i64 rest = i;
    // Neighbouring threads compute neighbours in memory.
    const bool channels_last = c.result_channel == 1;
    i64 out = 0;
    if (channels_last) out = taken(rest, outs);
    const i64 pv = taken(rest, v.positions);
    const i64 ph = taken(rest, h.positions);
    const i64 pd = taken(rest, d.positions);
    if (!channels_last) out = taken(rest, outs);
    const i64 image = rest, group = quotient(out, c.filters);
    float sum = 0;
    for (i64 td = 0; td < d.taps; ++td) {
      const i64 at_d = d.place(pd, td);
      if (!d.holds(at_d)) continue;
      for (i64 th = 0; th < h.taps; ++th) {
        const i64 at_h = h.place(ph, th);
        if (!h.holds(at_h)) continue;
        for (i64 tv = 0; tv < v.taps; ++tv) {
          const i64 at_v = v.place(pv, tv);
          if (!v.holds(at_v)) continue;
          const T* from = x + image * c.source_image + group * c.channels * c.source_channel +
                              at_d * d.source_step + at_h * h.source_step + at_v * v.source_step;
          const T* by = w + out * c.weights_out + td * d.tap_step + th * h.tap_step + tv * v.tap_step;
          for (i64 k = 0; k < c.channels; ++k) sum += load(from, k * c.source_channel) * load(by, k * c.weights_in);
        }
      }
    }
    store(y,
          image * c.result_image + out * c.result_channel + pd * d.result_step + ph * h.result_step +
              pv * v.result_step,
          sum);
  }
}

template <class T>
__device__ inline void convolve_data_gradient(const T* g, const T* w, T* x, const Convolution& c) {
  const Moving &d = c.axes[0], &h = c.axes[1], &v = c.axes[2];
  const i64 ins = c.groups * c.channels, count = c.images * ins * d.extent * h.extent * v.extent;
  for (i64 i = first_index(); i < count; i += index_step()) {
    i64 rest = i;
    const bool channels_last = c.source_channel == 1;
    i64 in = 0;
    if (channels_last) in = taken(rest, ins);
    const i64 at_v = taken(rest, v.extent);
    const i64 at_h = taken(rest, h.extent);
    const i64 at_d = taken(rest, d.extent);
    if (!channels_last) in = taken(rest, ins);
    const i64 image = rest, group = quotient(in, c.channels), own = in - group * c.channels;
    float sum = 0;
    for (i64 td = 0; td < d.taps; ++td) {
      const i64 pd = d.position(at_d, td);
      if (pd < 0) continue;
      for (i64 th = 0; th < h.taps; ++th) {
        const i64 ph = h.position(at_h, th);
        if (ph < 0) continue;
        for (i64 tv = 0; tv < v.taps; ++tv) {
          const i64 pv = v.position(at_v, tv);
          if (pv < 0) continue;
          const T* from = g + image * c.result_image + group * c.filters * c.result_channel + pd * d.result_step +
                              ph * h.result_step + pv * v.result_step;
          const T* by = w + own * c.weights_in + group * c.filters * c.weights_out + td * d.tap_step +
                            th * h.tap_step + tv * v.tap_step;
          for (i64 k = 0; k < c.filters; ++k) sum += load(from, k * c.result_channel) * load(by, k * c.weights_out);
        }
      }
    }
    store(x,
          image * c.source_image + in * c.source_channel + at_d * d.source_step + at_h * h.source_step +
              at_v * v.source_step,
          sum);
  }
}

// I is an integer that counts positions.
template <class I, class T>
__device__ inline void convolve_weights_gradient(const T* g, const T* x, T* w, const Convolution& c) {
  double* const sums = (double*)shared_memory<256 * sizeof(double)>();
  const Moving &d = c.axes[0], &h = c.axes[1], &v = c.axes[2];
  const i64 outs = c.groups * c.filters, count = outs * c.channels * d.taps * h.taps * v.taps;
  const I of_d = d.positions, of_h = h.positions, of_v = v.positions, positions = (I)c.images * of_d * of_h * of_v;
  for (i64 i = blockIdx.x; i < count; i += gridDim.x) {
    i64 rest = i;
    const i64 tv = taken(rest, v.taps);
    const i64 th = taken(rest, h.taps);
    const i64 td = taken(rest, d.taps);
    const i64 in = taken(rest, c.channels), out = rest, group = quotient(out, c.filters);
    double sum = 0;
    // Several factors are found and read at once.
    const int kAtOnce = 4;
    for (I first = threadIdx.x; first < positions; first += kAtOnce * blockDim.x) {
      decltype(load(g, 0)) of_result[kAtOnce], of_source[kAtOnce];
#pragma unroll
      for (int e = 0; e < kAtOnce; ++e) {
        I image = first + e * blockDim.x;
        bool is_there = image < positions;
        const i64 pv = taken(image, of_v), ph = taken(image, of_h), pd = taken(image, of_d);
        const i64 at_d = d.place(pd, td), at_h = h.place(ph, th), at_v = v.place(pv, tv);
        is_there = is_there & d.holds(at_d) & h.holds(at_h) & v.holds(at_v);
        const i64 in_result = image * c.result_image + out * c.result_channel + pd * d.result_step +
                              ph * h.result_step + pv * v.result_step;
        const i64 in_source = image * c.source_image + (group * c.channels + in) * c.source_channel +
                              at_d * d.source_step + at_h * h.source_step + at_v * v.source_step;
        // Branches would part the reads. The source may be empty.
        of_result[e] = load(g, is_there ? in_result : 0);
        of_source[e] = load(is_there ? x : g, is_there ? in_source : 0);
        if (!is_there) of_result[e] = of_source[e] = 0;
      }
#pragma unroll
      for (int e = 0; e < kAtOnce; ++e) sum += of_result[e] * of_source[e];
    }
    sum = merged_in_block(sum, sums, [](double a, double b) { return a + b; });
    if (threadIdx.x == 0) {
      store(w, out * c.weights_out + in * c.weights_in + td * d.tap_step + th * h.tap_step + tv * v.tap_step,
            (float)sum);
    }
  }
}
)cuda";

constexpr int64_t kMostOffset = int64_t{1} << 31;

// An axis of the text's Convolution.
struct Axis {
  ir::Window window;
  int64_t extent, positions, source_step, result_step, tap_step;
};

struct Sizes {
  int64_t images, groups, channels, filters, taps = 1, positions = 1, pixels = 1;
  bool channels_last, filters_last;      // neighbours in memory are channels of the source, filters of the result
  bool channels_adjoin, filters_adjoin;  // the same in the weights
  // Numbers of pixels and positions, and offsets within an image and within the weights, have 32 bits.
  bool is_small;
  Dims steps;
  std::vector<Axis> axes;

  Sizes(const Op& op, const Dims& x, const Dims& w, const Dims& y) {
    const ir::LayoutAxes data = ir::LayoutAxes::of_data(op.attributes.word(Attr::kDataLayout));
    const ir::WeightsAxes weights = ir::WeightsAxes::of_weights(op.attributes.word(Attr::kWeightsLayout));
    const Dims steps_x = steps_of(x), steps_w = steps_of(w), steps_y = steps_of(y);
    images = x[data.batch];
    groups = op.attributes.integer(Attr::kGroups);
    channels = w[weights.in];
    filters = w[weights.out] / groups;
    channels_last = steps_x[data.channels] == 1;
    filters_last = steps_y[data.channels] == 1;
    filters_adjoin = steps_w[weights.out] == 1;
    channels_adjoin = steps_w[weights.in] == 1;
    steps = {steps_x[data.batch],    steps_x[data.channels], steps_y[data.batch],
             steps_y[data.channels], steps_w[weights.in],    steps_w[weights.out]};
    axes.resize(3 - data.spatial.size(), {{1, 1, 1, 0, 0}, 1, 1, 0, 0, 0});  // so that there are as many as expected
    for (int64_t i = 0; i < data.spatial.size(); ++i) {
      const int64_t axis = data.spatial[i], of_weights = weights.spatial[i];
      axes.push_back({ir::window_of(op.attributes, i, w[of_weights], x[axis]), x[axis], y[axis], steps_x[axis],
                      steps_y[axis], steps_w[of_weights]});
      taps *= w[of_weights];
      positions *= y[axis];
      pixels *= x[axis];
    }
    const int64_t of_image = std::max(count_of(x), count_of(y)) / std::max<int64_t>(images, 1);
    is_small = std::max({of_image, count_of(w), images * pixels, images * positions}) < kMostOffset;
  }

  // The numbers of the text's Convolution, with other axes and first elements.
  std::vector<int64_t> numbers(const std::vector<Axis>& of_axes, int64_t source_begin, int64_t weights_begin) const {
    std::vector<int64_t> all{images, groups, channels, filters};
    all.insert(all.end(), steps.begin(), steps.end());
    all.insert(all.end(), {source_begin, weights_begin});
    for (const Axis& axis : of_axes) {
      append_axis(all, axis.window, axis.extent, axis.positions, axis.source_step, axis.result_step, axis.tap_step);
    }
    return all;
  }
  std::vector<int64_t> numbers() const { return numbers(axes, 0, 0); }
};

// What a convolution or a gradient of one computes.
enum class Part : uint8_t { kResult, kSource, kWeights };

// The text's Overlap of an axis, and the number of places.
struct Overlap {
  int64_t before, extent, own_step, step, count, places;
};
Overlap overlap_of(Part part, const Axis& axis) {
  const auto& [size, stride, dilation, before, after] = axis.window;
  switch (part) {
    case Part::kResult: return {before, axis.extent, stride, dilation, size, axis.positions};
    case Part::kSource: return {before - axis.positions + 1, axis.positions, -1, dilation, size, axis.extent};
    case Part::kWeights: return {before, axis.extent, dilation, stride, axis.positions, size};
  }
  throw Lacking();
}

// Lines of a product, whose axes are their own.
struct Lines {
  std::vector<Axis> axes;
  int64_t source_begin, weights_begin;
};

// The windows over a pixel have a tap there only if it is a multiple of the stride away from where they begin. So every
// stride-th pixel has the same taps, and is a share of a product whose strides are 1.
struct PixelShares {
  const Sizes& sizes;
  std::vector<Lines> all = {};

  // Adds those whose first axes are known.
  void add(std::vector<Axis> axes, int64_t source_begin, int64_t weights_begin) {
    if (axes.size() == sizes.axes.size()) {
      all.push_back({std::move(axes), source_begin, weights_begin});
      return;
    }
    const Axis& axis = sizes.axes[axes.size()];
    const ir::Window& w = axis.window;
    const int64_t period = w.stride / std::gcd(w.stride, w.dilation);
    for (int64_t pixel = 0; pixel < std::min(w.stride, axis.extent); ++pixel) {
      int64_t first = 0;
      while (first < w.size && (pixel + w.before - first * w.dilation) % w.stride != 0) ++first;
      const int64_t taps = (w.size - first + period - 1) / period;
      const ir::Window own{taps, 1, period * w.dilation / w.stride, (pixel + w.before - first * w.dilation) / w.stride,
                           0};
      const int64_t extent = (axis.extent - pixel + w.stride - 1) / w.stride;
      std::vector<Axis> longer = axes;
      longer.push_back(
          {own, extent, axis.positions, axis.source_step * w.stride, axis.result_step, axis.tap_step * period});
      add(std::move(longer), source_begin + pixel * axis.source_step, weights_begin + first * axis.tap_step);
    }
  }
};
constexpr int64_t kMostShares = 1024;

// The least lines of a product in tiles; and what is no product in tiles though it has them.
constexpr int64_t kLeastLines = 4, kFewWeights = 256, kManyPositions = 1024;

// The shares of a product, and if those of its terms are skipped that are padding for all lines of a tile.
struct Shares {
  std::vector<Product::Share> all = {};
  bool skip = false;
};

int64_t rounded_up_quotient(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return quotient * b < a ? quotient + 1 : quotient;
}

// How many terms of a place and those that follow are left, as the text's `terms_of` counts them, on average over
// tiles.
double terms_left(const std::vector<Overlap>& axes, int64_t places, int64_t lines_of_place) {
  constexpr int64_t kLines = 64, kMostTiles = 1024;  // of a tile; that are looked at
  const int64_t lines = places * lines_of_place, tiles = (lines + kLines - 1) / kLines;
  const int64_t step = (tiles + kMostTiles - 1) / kMostTiles;
  if (lines == 0) return 0;
  int64_t all = 0, count = 0;
  for (int64_t tile = 0; tile < tiles; tile += step, ++count) {
    int64_t from = tile * kLines / lines_of_place, to = std::min((tile + 1) * kLines, lines) - 1, terms = 1;
    to /= lines_of_place;
    int64_t of_rest = places;
    for (const Overlap& o : axes) {
      of_rest /= o.places;
      const bool is_same = from / (of_rest * o.places) == to / (of_rest * o.places);
      const int64_t one = o.own_step * (is_same ? from / of_rest % o.places : 0),
                    other = o.own_step * (is_same ? to / of_rest % o.places : o.places - 1);
      const int64_t first = std::max<int64_t>(0, rounded_up_quotient(o.before - std::max(one, other), o.step));
      const int64_t end = std::min(o.count, rounded_up_quotient(o.before + o.extent - std::min(one, other), o.step));
      terms *= std::max<int64_t>(0, end - first);
    }
    all += terms;
  }
  return static_cast<double>(all) / static_cast<double>(std::max<int64_t>(count, 1));
}

Shares shares_of(const Sizes& s, Part part, const std::vector<Lines>& all) {
  constexpr double kMostLeft = 0.95;
  const int64_t of_place = part == Part::kWeights ? s.channels : s.images;
  const int64_t each = part == Part::kWeights ? s.images : part == Part::kSource ? s.filters : s.channels;
  Shares shares;
  std::vector<double> left;
  double all_left = 0, whole = 0;
  for (const Lines& lines : all) {
    std::vector<int64_t> numbers = s.numbers(lines.axes, lines.source_begin, lines.weights_begin);
    numbers.insert(numbers.end(), {reciprocal_of(s.images), reciprocal_of(s.channels), reciprocal_of(s.filters)});
    for (const Axis& axis : lines.axes) numbers.push_back(reciprocal_of(axis.window.size));
    for (const Axis& axis : lines.axes) numbers.push_back(reciprocal_of(axis.positions));
    for (const Axis& axis : lines.axes) numbers.push_back(reciprocal_of(axis.extent));
    std::vector<Overlap> overlaps;
    int64_t places = 1, terms = each;
    for (const Axis& axis : lines.axes) {
      const Overlap& o = overlaps.emplace_back(overlap_of(part, axis));
      numbers.insert(numbers.end(), {o.before, o.extent, o.own_step, o.step, o.count});
      places *= o.places;
      terms *= o.count;
    }
    shares.all.push_back({std::move(numbers), places * of_place, terms});
    left.push_back(terms_left(overlaps, places, of_place) * static_cast<double>(each));
    all_left += left.back() * static_cast<double>(places);
    whole += static_cast<double>(terms) * static_cast<double>(places);
  }
  // The other order of lines would part neighbours in memory.
  shares.skip = s.channels_last && s.filters_last && all_left < kMostLeft * whole;
  for (size_t i = 0; shares.skip && i < left.size(); ++i) shares.all[i].inner = std::llround(left[i]);
  return shares;
}

std::string text_of_sizes() { return "*(const TiledConvolution*)(n + " + std::to_string(Product::kOwn) + ")"; }

// `along` and `neighbours` say how elements lie in memory (product.cpp).
std::string matrix_of(const std::string& name, bool along, int64_t neighbours, const Op& op, size_t operand,
                      bool skips) {
  const ir::DType dtype = op.operands[operand].dtype();
  return filled("@<@, @, @, @, @>{(const @*)p[@], " + text_of_sizes() + "}",
                {name, element_of(dtype), along ? "true" : "false", width_of(neighbours, dtype),
                 op.operands[0].shape().rank() == 5 ? "3" : "2", skips ? "true" : "false", element_of(dtype),
                 std::to_string(operand)});
}

std::string incoming_of(const Sizes& sizes, int64_t neighbours, const Op& op, bool skips) {
  if (!sizes.filters_last || skips) return matrix_of("Incoming", !sizes.filters_last, neighbours, op, 0, skips);
  const ir::DType dtype = op.operands[0].dtype();
  return filled("IncomingRows<@, @>{(const @*)p[0], " + text_of_sizes() + "}",
                {element_of(dtype), width_of(neighbours, dtype), element_of(dtype)});
}

// So many neighbours in memory are in a row of the result; 0 if they are in a column.
Product in_tiles(const Sizes& sizes, const std::string& left, const std::string& right, const std::string& places,
                 int64_t neighbours, int64_t columns, Shares shares) {
  return {{kWindows, kConvolution, kTiles},
          left,
          right,
          places + (neighbours > 0 ? "<false, @, " : "<true, @, ") + (shares.skip ? "true" : "false") + ">{" +
              text_of_sizes() + "}",
          neighbours > 0 && neighbours % 4 == 0 ? 4 : 1,
          columns,
          sizes.groups,
          std::move(shares.all)};
}

// True if each pixel is multiplied by one matrix, and pixels and weights are stored as rows of matrices.
bool is_product_of_matrices(const Sizes& s) {
  const auto has_one_tap = [](const Axis& axis) {
    return axis.window.size == 1 && axis.window.stride == 1 && axis.window.before == 0 && axis.extent == axis.positions;
  };
  return s.groups == 1 && s.channels_last && s.filters_last && (s.filters_adjoin || s.channels_adjoin) &&
         std::all_of(s.axes.begin(), s.axes.end(), has_one_tap);
}

Part part_of(const Op& op) {
  switch (op.code) {
    case OpCode::conv2d_data_gradient:
    case OpCode::conv3d_data_gradient: return Part::kSource;
    case OpCode::conv2d_weights_gradient:
    case OpCode::conv3d_weights_gradient: return Part::kWeights;
    default: return Part::kResult;
  }
}

Sizes sizes_of(const Op& op) {
  const Dims &first = op.operands[0].shape().dims(), &second = op.operands[1].shape().dims(),
             &made = op.results[0].shape.dims();
  switch (part_of(op)) {
    case Part::kResult: return {op, first, second, made};
    case Part::kSource: return {op, made, second, first};
    case Part::kWeights: return {op, second, made, first};
  }
  throw Lacking();
}

// `threads` is the number of threads that there is work for.
Code directly(const Op& op, const std::string& function, int64_t threads) {
  const std::string type = element_of(op.operands[0].dtype());
  Code code;
  code.launches.push_back(launch_for(
      threads, {kWindows, kConvolution, kDirect},
      filled("  @((const @*)p[0], (const @*)p[1], (@*)p[2], *(const Convolution*)n);\n", {function, type, type, type}),
      {operand(0), operand(1), result(0)}, sizes_of(op).numbers()));
  return code;
}

Code convolution(const Op& op) {
  if (!multiplies(op.operands[0].dtype())) throw Lacking();
  const int64_t count = op.results[0].shape.element_count();
  if (count == 0) return {};
  if (product_of(op)) return code_of_product(op, storing(op));
  switch (part_of(op)) {
    case Part::kResult: return directly(op, "convolve", count);
    case Part::kSource: return directly(op, "convolve_data_gradient", count);
    case Part::kWeights: {
      const Sizes s = sizes_of(op);
      const std::string counts = s.images * s.positions < int64_t{1} << 31 ? "unsigned" : "i64";
      return directly(op, "convolve_weights_gradient<" + counts + ">", 256 * count);  // a block computes an element
    }
  }
  throw Lacking();
}

}  // namespace

std::optional<Product> product_of_convolution(const Op& op) {
  const Sizes s = sizes_of(op);
  const Part part = part_of(op);
  if ((part == Part::kSource ? s.channels : s.filters) < kLeastLines || !s.is_small) return std::nullopt;
  // A tile would be nearly empty, and a block for each weight is quicker than a few for all.
  const int64_t weights = s.groups * s.taps * s.channels * s.filters, positions = s.images * s.positions;
  if (part == Part::kWeights && weights <= kFewWeights && positions >= kManyPositions) return std::nullopt;
  const int64_t of_source = s.channels_last ? s.channels : 1, of_result = s.filters_last ? s.filters : 1,
                of_weights = s.filters_adjoin    ? s.filters
                             : s.channels_adjoin ? s.channels
                                                 : 1;
  if (is_product_of_matrices(s)) {
    const int64_t pixels = s.images * s.pixels;
    const bool turned = !s.filters_adjoin;  // a row of the weights has the channels of a filter
    const Axes none{{}, {{}, {}}};
    switch (part) {
      case Part::kResult:
        return product_of_matrices(op, {pixels, s.channels, s.filters}, {0, false}, {1, turned}, none);
      case Part::kSource:
        return product_of_matrices(op, {pixels, s.filters, s.channels}, {0, false}, {1, !turned}, none);
      case Part::kWeights:
        if (turned) return product_of_matrices(op, {s.filters, pixels, s.channels}, {0, true}, {1, false}, none);
        return product_of_matrices(op, {s.channels, pixels, s.filters}, {1, true}, {0, false}, none);
    }
  }
  std::vector<Lines> lines{{s.axes, 0, 0}};
  if (part == Part::kSource) {
    int64_t count = 1;
    for (const Axis& axis : s.axes) count *= axis.window.stride;
    if (count > kMostShares) return std::nullopt;
    PixelShares pixels{s};
    pixels.add({}, 0, 0);
    lines = std::move(pixels.all);
  }
  Shares shares = shares_of(s, part, lines);
  const bool skips = shares.skip;
  switch (part) {
    case Part::kResult:
      return in_tiles(s, matrix_of("Windows", s.channels_last, of_source, op, 0, skips),
                      matrix_of("Filters", !s.filters_adjoin, of_weights, op, 1, skips), "ResultPlaces",
                      s.filters_last ? s.filters : 0, s.filters, std::move(shares));
    case Part::kSource:
      return in_tiles(s, matrix_of("WindowsOver", s.filters_last, of_result, op, 0, skips),
                      matrix_of("Channels", s.filters_adjoin, of_weights, op, 1, skips), "SourcePlaces",
                      s.channels_last ? s.channels : 0, s.channels, std::move(shares));
    case Part::kWeights:
      return in_tiles(s, matrix_of("TapsOver", !s.channels_last, of_source, op, 1, skips),
                      incoming_of(s, of_result, op, skips), "WeightsPlaces", s.filters_adjoin ? s.filters : 0,
                      s.filters, std::move(shares));
  }
  return std::nullopt;
}

Code code_of_conv2d(const Op& op) { return convolution(op); }
Code code_of_conv3d(const Op& op) { return convolution(op); }
Code code_of_conv2d_data_gradient(const Op& op) { return convolution(op); }
Code code_of_conv3d_data_gradient(const Op& op) { return convolution(op); }
Code code_of_conv2d_weights_gradient(const Op& op) { return convolution(op); }
Code code_of_conv3d_weights_gradient(const Op& op) { return convolution(op); }

}  // namespace alloy::cuda
