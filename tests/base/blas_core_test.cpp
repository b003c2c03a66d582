#include "ockham/base/blas_core.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/support/variable_guard.h"

namespace ockham {
namespace {

TEST(RecommendedBlasCore, IsGivenOnlyWhereOpenBlasChoseWorse) {
  EXPECT_EQ(recommended_blas_core(VectorUnit::avx512, "Prescott"), "SkylakeX");
  EXPECT_EQ(recommended_blas_core(VectorUnit::avx512, "Zen"), "SkylakeX");
  EXPECT_EQ(recommended_blas_core(VectorUnit::avx2, "Prescott"), "Haswell");
  EXPECT_EQ(recommended_blas_core(VectorUnit::avx2, "Sandybridge"), "Haswell");

  EXPECT_EQ(recommended_blas_core(VectorUnit::avx512, "Cooperlake"), "");
  EXPECT_EQ(recommended_blas_core(VectorUnit::avx512, "skylakex"), "");
  EXPECT_EQ(recommended_blas_core(VectorUnit::avx2, "Zen"), "");
  EXPECT_EQ(recommended_blas_core(VectorUnit::avx, "Prescott"), "") << "no kernels to recommend";
  EXPECT_EQ(recommended_blas_core(VectorUnit::avx512, ""), "") << "no OpenBLAS";
}

TEST(ChooseBlasCore, LeavesASettingOfTheUserAlone) {
  const testing::VariableGuard core("OPENBLAS_CORETYPE");
  core.set("Nehalem");
  choose_blas_core();
  EXPECT_STREQ(std::getenv("OPENBLAS_CORETYPE"), "Nehalem");
}

TEST(OpenBlasCore, RunsTheBestKernelsAfterTheRestart) {
  const std::string core = openblas_core();
  if (core.empty()) GTEST_SKIP() << "this libtorch does not use OpenBLAS";
  if (std::getenv("OPENBLAS_CORETYPE") == nullptr) {
    EXPECT_EQ(recommended_blas_core(cpu_vector_unit(), core), "");
  }
}

}  // namespace
}  // namespace ockham
