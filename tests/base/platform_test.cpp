#include "ockham/base/platform.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace ockham {
namespace {

class Platform : public testing::Test {
 protected:
  void TearDown() override { set_threads(available_cpus()); }
};

TEST_F(Platform, ReportNamesVersionsAndThreads) {
  set_threads(available_cpus());
  const PlatformReport report = check_platform();
  EXPECT_FALSE(report.libtorch_version.empty());
  EXPECT_EQ(report.cpus, available_cpus());
  EXPECT_EQ(report.aten_threads, report.cpus);
  EXPECT_EQ(report.blas_threads, report.cpus);
  if (report.blas_library.rfind("OpenBLAS ", 0) == 0) {
    EXPECT_FALSE(report.blas_core.empty());
    EXPECT_EQ(report.blas_library.find(' ', 9), std::string::npos) << report.blas_library;
  }
}

TEST_F(Platform, SetThreadsReachesLibtorchAndTheBlas) {
  set_threads(1);
  EXPECT_EQ(at::get_num_threads(), 1);
  EXPECT_EQ(check_platform().blas_threads, 1);
  set_threads(2);
  EXPECT_EQ(at::get_num_threads(), 2);
  EXPECT_EQ(check_platform().blas_threads, 2);
  set_threads(0);
  EXPECT_EQ(at::get_num_threads(), 1) << "at least one";
}

TEST_F(Platform, AdvisesOnThreadsThatDoNotFit) {
  const int cpus = available_cpus();
  set_threads(cpus + 1);
  const std::vector<std::string> advice = check_platform().advice;
  EXPECT_TRUE(std::any_of(advice.begin(), advice.end(),
                          [](const std::string& sentence) { return sentence.find("libtorch uses") == 0; }));
}

TEST_F(Platform, SingleBlasThreadRestoresTheNumberBefore) {
  set_threads(2);
  {
    const SingleBlasThread outer;
    EXPECT_EQ(check_platform().blas_threads, 1);
    {
      const SingleBlasThread inner;
      EXPECT_EQ(check_platform().blas_threads, 1);
    }
    EXPECT_EQ(check_platform().blas_threads, 1);
  }
  EXPECT_EQ(check_platform().blas_threads, 2);
  EXPECT_EQ(at::get_num_threads(), 2) << "libtorch's own threads stay";
}

}  // namespace
}  // namespace ockham
