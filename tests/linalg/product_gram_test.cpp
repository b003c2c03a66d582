#include "ockham/linalg/product_gram.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "ockham/base/platform.h"
#include "ockham/base/random.h"

namespace ockham {
namespace {

struct Sizes {
  int64_t lefts, rights;
};

/// Parts one after the other: the products of each, and then its lefts.
std::vector<ProductColumns> draw(const std::vector<Sizes>& sizes, int64_t examples, int64_t columns,
                                 at::ScalarType type, bool relu, int64_t* width) {
  const at::Generator generator = random_stream({3});
  std::vector<ProductColumns> parts;
  *width = 0;
  for (const Sizes& size : sizes) {
    parts.push_back({at::randn({examples, columns, size.lefts}, generator, at::kDouble).to(type),
                     at::randn({examples, size.rights}, generator, at::kDouble).to(type), *width,
                     *width + size.lefts * size.rights});
    if (relu) parts.back().left.mul_(at::randn({examples, 1, size.lefts}, generator, at::kDouble).gt(0.3));
    *width += size.lefts * (size.rights + 1);
  }
  return parts;
}

at::Tensor rows_of(const std::vector<ProductColumns>& parts) {
  std::vector<at::Tensor> columns;
  for (const ProductColumns& part : parts) {
    const at::Tensor left = part.left.to(at::kDouble), right = part.right.to(at::kDouble);
    columns.push_back((left.unsqueeze(3) * right.unsqueeze(1).unsqueeze(1)).flatten(2));
    columns.push_back(left);
  }
  return at::cat(columns, 2).flatten(0, 1);
}

void expect_gram_of_rows(const std::vector<Sizes>& sizes, int64_t examples, int64_t columns, at::ScalarType type,
                         bool relu) {
  int64_t width = 0;
  const std::vector<ProductColumns> parts = draw(sizes, examples, columns, type, relu, &width);
  const at::Tensor rows = rows_of(parts), matrix = gram_of_products(parts, width);
  ASSERT_EQ(matrix.scalar_type(), at::kDouble);
  EXPECT_TRUE(matrix.equal(matrix.t()));
  const double scale = static_cast<double>(examples * columns);
  EXPECT_TRUE(at::allclose(matrix / scale, rows.t().mm(rows) / scale, type == at::kFloat ? 1e-6 : 0,
                           type == at::kFloat ? 2e-6 : 1e-14))
      << type << ' ' << examples << ' ' << columns << ' ' << width << ' ' << relu;
}

TEST(GramOfProducts, EqualsTheGramMatrixOfTheRows) {
  const int before = available_cpus();
  for (const int threads : {1, 2}) {
    set_threads(threads);
    for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
      for (const int64_t columns : {1, 3}) {
        for (const bool relu : {false, true}) {
          for (const int64_t examples : {1, 7, 300})
            for (const std::vector<Sizes>& sizes : std::vector<std::vector<Sizes>>{
                     {{1, 1}}, {{50, 8}, {1, 50}}, {{5, 30}, {9, 5}, {3, 9}}, {{70, 1}, {2, 70}}, {{12, 20}}})
              expect_gram_of_rows(sizes, examples, columns, type, relu);
          expect_gram_of_rows({{20, 4}, {1, 20}}, 5000, columns, type, relu);  // not all at once
        }
      }
    }
  }
  set_threads(before);
}

}  // namespace
}  // namespace ockham
