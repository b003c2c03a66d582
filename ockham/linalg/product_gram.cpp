#include "ockham/linalg/product_gram.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include <algorithm>
#include <type_traits>

#include "ockham/base/platform.h"
#include "ockham/linalg/blas.h"
#include "ockham/linalg/halves.h"
#include "ockham/linalg/mirror.h"
#include "ockham/linalg/narrow_products.h"
#include "ockham/linalg/present_products.h"
#include "ockham/linalg/vector_width.h"

namespace ockham {
namespace {

constexpr int64_t kColumnsAtOnce = 128;  // of products of lefts: enough for the BLAS, and a buffer that stays in cache
constexpr int64_t kRowsByHand = 128;     // at once, for the same reason
constexpr int64_t kFewLefts = 8;         // below this the products of rights cost more than they save
constexpr int64_t kExamplesAtOnce = 2048;      // so that products of rights stay in cache, and float32 sums are short
constexpr int64_t kHalves = 1 << 18;           // multiplications; below this a second thread costs more than it saves
constexpr int64_t kByLeft = 8, kByRight = 16;  // what a product by hand takes at once
constexpr double kFew = 0.6;  // of the products of lefts that are not zero: then the others are left out

int64_t round_up(int64_t size, int64_t unit) { return (size + unit - 1) / unit * unit; }

template <class Scalar>
struct Vector {
  typedef Scalar type __attribute__((vector_size(kByLeft * sizeof(Scalar)), aligned(alignof(Scalar))));
};

/// Rows of lefts, each followed by zeros so that it can be read in vectors.
at::Tensor padded(const at::Tensor& left) {
  const int64_t width = round_up(left.size(2), kByLeft) + kByLeft;
  return at::constant_pad_nd(left, {0, width - left.size(2)});
}

/// Products of lefts (i, j): all of them, or those with i <= j where a part meets itself.
struct LeftPairs {
  int64_t first, second;  // how many
  bool own;

  int64_t first_j(int64_t i) const { return own ? i : 0; }
  int64_t before(int64_t i) const { return i * second - (own ? i * (i - 1) / 2 : 0); }
  int64_t all() const { return before(first); }
  int64_t middle() const {
    int64_t i = 0;
    while (2 * before(i) < all()) ++i;
    return i;
  }
};

/// One example: to[(i, j)] = Σ_k g_ki h_kj for i in [begin, end), `columns` of g and h. Writes up to a vector beyond.
template <class Scalar>
OCKHAM_EACH_VECTOR_WIDTH void multiply_lefts(const LeftPairs& pairs, int64_t begin, int64_t end, const Scalar* g,
                                             int64_t g_stride, const Scalar* h, int64_t h_stride, int64_t columns,
                                             Scalar* to) {
  using Some = typename Vector<Scalar>::type;
  for (int64_t i = begin; i < end; ++i) {
    const int64_t from = pairs.first_j(i);
    for (int64_t j = from; j < pairs.second; j += kByLeft) {
      Some sum = g[i] * *reinterpret_cast<const Some*>(h + j);
      for (int64_t k = 1; k < columns; ++k)
        sum += g[k * g_stride + i] * *reinterpret_cast<const Some*>(h + k * h_stride + j);
      *reinterpret_cast<Some*>(to + j - from) = sum;
    }
    to += pairs.second - from;
  }
}

/// One example: r_a s_b, with 1 after the last a and b; where a part meets itself those with a <= b.
template <class Scalar>
OCKHAM_EACH_VECTOR_WIDTH void multiply_rights(const Scalar* r, int64_t d, const Scalar* s, int64_t e, bool own,
                                              Scalar* to) {
  for (int64_t a = 0; a <= d; ++a) {
    const Scalar factor = a < d ? r[a] : Scalar(1);
    const int64_t from = own ? a : 0;
    for (int64_t b = from; b < e; ++b) to[b - from] = factor * s[b];
    to += e - from;
    *to++ = factor;
  }
}

/// Whether sums are the first of their place in the matrix, or join those of earlier examples.
enum class Sums { first, further };

/// The block of the matrix in which two parts meet, or a part meets itself. Below the diagonal only.
template <class Scalar>
class Block {
 public:
  using Present = PresentLefts<Scalar>;

  Block(const ProductColumns& first, const Present& first_present, const ProductColumns& second,
        const Present& second_present, Sums sums, const at::Tensor& matrix)
      : first_(first),
        second_(second),
        first_present_(first_present),
        second_present_(second_present),
        own_(&first == &second),
        pairs_{first.left.size(2), second.left.size(2), own_},
        sums_(sums),
        matrix_(matrix.data_ptr<double>()),
        width_(matrix.size(1)) {}

  void fill() {
    if (pairs_.all() < kFewLefts) return fill_by_rows();
    multiply_rights();
    const bool few = first_present_.share() * second_present_.share() < kFew;
    if (!few) {
      first_left_ = padded(first_.left);
      second_left_ = own_ ? first_left_ : padded(second_.left);
    }
    const auto fill_rows = [&](int64_t begin, int64_t end) { few ? fill_where_present(begin, end) : fill(begin, end); };
    if (pairs_.all() * rights_.numel() < kHalves) return fill_rows(0, pairs_.first);
    run_in_halves(
        {[&](int half) { half == 0 ? fill_rows(0, pairs_.middle()) : fill_rows(pairs_.middle(), pairs_.first); }});
  }

 private:
  static int64_t inputs(const ProductColumns& part) { return part.right.size(1); }
  static const Scalar* values(const at::Tensor& tensor) { return tensor.data_ptr<Scalar>(); }
  int64_t examples() const { return first_.right.size(0); }

  void multiply_rights() {
    const int64_t d = inputs(first_), e = inputs(second_);
    const int64_t count = own_ ? (d + 1) * (d + 2) / 2 : (d + 1) * (e + 1), width = round_up(count, kByRight);
    rights_ = at::empty({examples(), width}, first_.right.options());
    Scalar* to = rights_.data_ptr<Scalar>();
    for (int64_t n = 0; n < examples(); ++n, to += width) {
      ockham::multiply_rights(values(first_.right) + n * d, d, values(second_.right) + n * e, e, own_, to);
      std::fill(to + count, to + width, Scalar(0));
    }
  }

  bool by_hand() const { return std::is_same_v<Scalar, float> && has_stacked_product(kByLeft, kByRight); }

  /// sums [p, q] += productsᵀ rights_ over `count` examples from `first` on.
  void multiply(const Scalar* products, int64_t stride, int64_t p, int64_t first, int64_t count, Scalar* sums) const {
    const int64_t q = rights_.size(1);
    const Scalar* rights = values(rights_) + first * q;
    if constexpr (std::is_same_v<Scalar, float>) {
      if (by_hand()) return add_stacked_product(sums, q, {{products, stride, rights, q, count}}, p, q);
    }
    const int height = static_cast<int>(q), width = static_cast<int>(p), depth = static_cast<int>(count);
    const int leading = static_cast<int>(stride);
    const Scalar one = 1;
    blas_gemm("N", "T", &height, &width, &depth, &one, rights, &height, products, &leading, &one, sums, &height);
  }

  /// The rows and columns of the first part's lefts [begin, end).
  void fill(int64_t begin, int64_t end) const {
    const int64_t q = rights_.size(1), columns = first_.left.size(1);
    const int64_t g_stride = first_left_.size(2), h_stride = second_left_.size(2);
    const int64_t at_once = by_hand() ? std::min(kRowsByHand, examples()) : examples();
    const int64_t widest = round_up(std::max(kColumnsAtOnce, pairs_.second), kByLeft), stride = widest + kByLeft;
    const at::Tensor products = at::zeros({at_once, stride}, rights_.options());
    const at::Tensor sums = at::empty({widest, q}, rights_.options()), tile = empty_tile();
    for (int64_t next; begin < end; begin = next) {
      next = begin + 1;
      while (next < end && pairs_.before(next + 1) - pairs_.before(begin) <= kColumnsAtOnce) ++next;
      const int64_t p = round_up(pairs_.before(next) - pairs_.before(begin), kByLeft);
      std::fill_n(sums.data_ptr<Scalar>(), p * q, Scalar(0));
      for (int64_t first = 0; first < examples(); first += at_once) {
        const int64_t count = std::min(at_once, examples() - first);
        for (int64_t n = 0; n < count; ++n)
          multiply_lefts(pairs_, begin, next, values(first_left_) + (first + n) * columns * g_stride, g_stride,
                         values(second_left_) + (first + n) * columns * h_stride, h_stride, columns,
                         products.data_ptr<Scalar>() + n * stride);
        multiply(values(products), stride, p, first, count, sums.data_ptr<Scalar>());
      }
      const Scalar* sum = values(sums);
      for (int64_t i = begin; i < next; ++i)
        for (int64_t j = pairs_.first_j(i); j < pairs_.second; ++j, sum += q) write(i, j, sum, tile.data_ptr<double>());
    }
  }

  /// The same, without the products that are zero.
  void fill_where_present(int64_t begin, int64_t end) const {
    const int64_t q = rights_.size(1);
    const at::Tensor sums = at::empty({pairs_.second, q}, rights_.options()), tile = empty_tile();
    Scalar* const sum = sums.data_ptr<Scalar>();
    for (int64_t i = begin; i < end; ++i) {
      const int64_t from = pairs_.first_j(i);
      std::fill_n(sum, (pairs_.second - from) * q, Scalar(0));
      for (int64_t piece = 0; piece < first_present_.pieces(); ++piece) {
        const Scalar* rights = values(rights_) + piece * kExamplesOfPiece * q;
        for (int64_t j = from; j < pairs_.second; ++j)
          first_present_.add_products(i, second_present_, j, piece, rights, q, sum + (j - from) * q);
      }
      for (int64_t j = from; j < pairs_.second; ++j) write(i, j, sum + (j - from) * q, tile.data_ptr<double>());
    }
  }

  /// From the rows themselves.
  void fill_by_rows() const {
    const auto rows_of = [](const ProductColumns& part) {
      const at::Tensor ones = at::ones({part.right.size(0), 1}, part.right.options());
      const at::Tensor right = at::cat({part.right, ones}, 1);
      return (part.left.unsqueeze(3) * right.unsqueeze(1).unsqueeze(1)).flatten(2).flatten(0, 1);
    };
    const at::Tensor rows = rows_of(first_), others = own_ ? rows : rows_of(second_);
    at::Tensor product = at::mm(rows.t(), others);
    if (own_) product = product.add(product.t()).mul_(0.5);  // else symmetric up to rounding only
    product = product.to(at::kDouble);
    const int64_t d = inputs(first_) + 1, e = inputs(second_) + 1, stride = product.size(1);
    for (int64_t i = 0; i < pairs_.first; ++i)
      for (int64_t j = pairs_.first_j(i); j < pairs_.second; ++j)
        write_tile(i, j, product.data_ptr<double>() + i * d * stride + j * e, stride);
  }

  at::Tensor empty_tile() const { return at::empty({inputs(first_) + 1, inputs(second_) + 1}, at::kDouble); }

  /// The sums of (i, j), in the order of rights_; `tile` is scratch.
  void write(int64_t i, int64_t j, const Scalar* sum, double* tile) const {
    const int64_t d = inputs(first_) + 1, e = inputs(second_) + 1;
    if (own_) {
      for (int64_t a = 0; a < d; ++a)
        for (int64_t b = a; b < d; ++b) tile[a * d + b] = tile[b * d + a] = static_cast<double>(*sum++);
    } else {
      std::copy_n(sum, d * e, tile);
    }
    write_tile(i, j, tile, e);
  }

  /// tile[a, b], rows `stride` apart, to (i, a) of the first part and (j, b) of the second.
  void write_tile(int64_t i, int64_t j, const double* tile, int64_t stride) const {
    const int64_t d = inputs(first_), e = inputs(second_);
    const int64_t down = first_.products + i * d, across = second_.products + j * e;
    write_rectangle(down, d, across, e, tile, stride);
    if (!own_ || i != j) write_rectangle(down, d, second_.lefts + j, 1, tile + e, stride);  // else as the next
    write_rectangle(first_.lefts + i, 1, across, e, tile + d * stride, stride);
    write_rectangle(first_.lefts + i, 1, second_.lefts + j, 1, tile + d * stride + e, stride);
  }

  /// To the rows from `down` and the columns from `across` on, or mirrored where that is above the diagonal.
  void write_rectangle(int64_t down, int64_t height, int64_t across, int64_t width, const double* from,
                       int64_t stride) const {
    if (down >= across)
      for (int64_t a = 0; a < height; ++a) write_row(down + a, across, width, from + a * stride, 1);
    else
      for (int64_t b = 0; b < width; ++b) write_row(across + b, down, height, from + b, stride);
  }
  void write_row(int64_t row, int64_t column, int64_t count, const double* from, int64_t step) const {
    double* to = matrix_ + row * width_ + column;
    if (sums_ == Sums::first)
      for (int64_t at = 0; at < count; ++at) to[at] = from[at * step];
    else
      for (int64_t at = 0; at < count; ++at) to[at] += from[at * step];
  }

  const ProductColumns &first_, &second_;
  const Present &first_present_, &second_present_;
  const bool own_;
  const LeftPairs pairs_;
  const Sums sums_;
  double* const matrix_;
  const int64_t width_;
  at::Tensor rights_, first_left_, second_left_;
};

template <class Scalar>
void fill_lower(const std::vector<ProductColumns>& parts, Sums sums, const at::Tensor& matrix) {
  std::vector<PresentLefts<Scalar>> present;
  for (const ProductColumns& part : parts) present.emplace_back(part.left);
  for (size_t first = 0; first < parts.size(); ++first)
    for (size_t second = first; second < parts.size(); ++second)
      Block<Scalar>(parts[first], present[first], parts[second], present[second], sums, matrix).fill();
}

}  // namespace

at::Tensor gram_of_products(const std::vector<ProductColumns>& parts, int64_t width) {
  at::Tensor matrix = at::empty({width, width}, at::kDouble);
  const SingleBlasThread single;
  const int64_t examples = parts.front().left.size(0);
  for (int64_t from = 0; from < examples; from += kExamplesAtOnce) {
    std::vector<ProductColumns> some = parts;
    for (ProductColumns& part : some) {
      const int64_t count = std::min(kExamplesAtOnce, examples - from);
      part.left = part.left.narrow(0, from, count);
      part.right = part.right.narrow(0, from, count);
    }
    const Sums sums = from == 0 ? Sums::first : Sums::further;
    AT_DISPATCH_FLOATING_TYPES(some.front().left.scalar_type(), "gram_of_products",
                               [&] { fill_lower<scalar_t>(some, sums, matrix); });
  }
  mirror_lower(matrix);
  return matrix;
}

}  // namespace ockham
