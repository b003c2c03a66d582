#include "ockham/linalg/student.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ockham {
namespace {

TEST(Student, QuantilesAreThoseOfTheTables) {
  EXPECT_NEAR(student_quantile(1, 0.95), 12.7062, 1e-4);
  EXPECT_NEAR(student_quantile(2, 0.95), 4.30265, 1e-5);
  EXPECT_NEAR(student_quantile(3, 0.95), 3.18245, 1e-5);
  EXPECT_NEAR(student_quantile(9, 0.95), 2.26216, 1e-5);
  EXPECT_NEAR(student_quantile(10, 0.99), 3.16927, 1e-5);
  EXPECT_NEAR(student_quantile(30, 0.90), 1.69726, 1e-5);
  EXPECT_NEAR(student_quantile(100000, 0.95), 1.95999, 1e-4);
}

TEST(Student, OneDegreeIsTheCauchyDistribution) {
  EXPECT_NEAR(student_quantile(1, 0.5), 1, 1e-12);
  EXPECT_NEAR(student_quantile(1, 0.8), std::tan(0.4 * M_PI), 1e-10);
}

}  // namespace
}  // namespace ockham
