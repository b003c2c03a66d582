#include "ockham/base/platform.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <thread>

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

TEST_F(Platform, SingleBlasThreadsOfSeveralThreadsMayOverlap) {
  set_threads(2);
  auto first = std::make_unique<SingleBlasThread>();
  std::unique_ptr<SingleBlasThread> second;
  std::thread([&] { second = std::make_unique<SingleBlasThread>(); }).join();
  first.reset();
  EXPECT_EQ(check_platform().blas_threads, 1) << "the other one still needs it";
  second.reset();
  EXPECT_EQ(check_platform().blas_threads, 2);
}

TEST_F(Platform, SetThreadsWaitsForASingleBlasThread) {
  set_threads(2);
  {
    const SingleBlasThread single;
    set_threads(3);
    EXPECT_EQ(check_platform().blas_threads, 1);
  }
  EXPECT_EQ(check_platform().blas_threads, 3);
}

TEST_F(Platform, SingleThreadIsForTheThreadThatHoldsIt) {
  set_threads(2);
  {
    const SingleThread single;
    EXPECT_EQ(at::get_num_threads(), 1);
    EXPECT_EQ(check_platform().blas_threads, 1);
    int others = 0;
    std::thread([&] { others = at::get_num_threads(); }).join();
    EXPECT_EQ(others, 2);
  }
  EXPECT_EQ(at::get_num_threads(), 2);
  EXPECT_EQ(check_platform().blas_threads, 2);
  int inside = 0, after = 0;
  std::thread([&] {
    {
      const SingleThread single;
      inside = at::get_num_threads();
    }
    after = at::get_num_threads();
  }).join();
  EXPECT_EQ(inside, 1);
  EXPECT_EQ(after, 2);
  EXPECT_EQ(at::get_num_threads(), 2);
}

TEST_F(Platform, SerialOperatorsKeepTheThreadsThatWorkInHalvesMayUse) {
  set_threads(2);
  EXPECT_EQ(allowed_threads(), 2);
  {
    const SerialOperators serial;
    EXPECT_EQ(at::get_num_threads(), 1);
    EXPECT_EQ(check_platform().blas_threads, 1);
    EXPECT_EQ(allowed_threads(), 2);
    {
      const SingleThread alone;
      EXPECT_EQ(allowed_threads(), 1);
    }
    EXPECT_EQ(allowed_threads(), 2);
    int others = 0;
    std::thread([&] { others = at::get_num_threads(); }).join();
    EXPECT_EQ(others, 2);
  }
  EXPECT_EQ(at::get_num_threads(), 2);
  EXPECT_EQ(check_platform().blas_threads, 2);
  EXPECT_EQ(allowed_threads(), 2);
}

TEST_F(Platform, ASerialScopeInsideAWorkerStaysOnItsThread) {
  set_threads(2);
  const SingleThread alone;
  const SerialOperators serial;
  EXPECT_EQ(allowed_threads(), 1);
}

}  // namespace
}  // namespace ockham
