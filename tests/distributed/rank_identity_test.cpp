#include "ockham/distributed/rank_identity.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/support/expect_error.h"

namespace ockham {
namespace {

using Variables = std::map<std::string, std::string>;

std::optional<RankIdentity> find(const Variables& variables) {
  return find_rank_identity([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(RankIdentity, WithoutVariablesThereIsNone) {
  EXPECT_FALSE(find({}));
  EXPECT_FALSE(find({{"RANK", "0"}}));  // of something else
  EXPECT_FALSE(find({{"RANK", "0"}, {"WORLD_SIZE", "1"}}));
  EXPECT_FALSE(find({{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"MASTER_ADDR", "node1"}}));
}

TEST(RankIdentity, TwoOfThreeVariablesAreRefused) {
  const auto refuse = [](const std::string& missing, const Variables& variables) {
    testing::expect_error(ErrorKind::usage, {missing + " is not set"}, [&] { find(variables); });
  };
  refuse("MASTER_ADDR", {{"RANK", "0"}, {"WORLD_SIZE", "4"}});
  refuse("RANK", {{"WORLD_SIZE", "4"}, {"MASTER_ADDR", "node1"}});
  refuse("WORLD_SIZE", {{"RANK", "0"}, {"MASTER_ADDR", "node1"}});
  // A launcher's own variables are enough.
  EXPECT_TRUE(find(
      {{"WORLD_SIZE", "4"}, {"MASTER_ADDR", "node1"}, {"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "4"}}));
}

TEST(RankIdentity, OfTheToolItself) {
  const auto me = find({{"RANK", "2"},
                        {"WORLD_SIZE", "4"},
                        {"OCKHAM_RANKS_FILE", "/somewhere/store"},
                        {"SLURM_PROCID", "0"},
                        {"SLURM_STEP_NUM_TASKS", "8"}});
  ASSERT_TRUE(me);
  EXPECT_EQ(me->rank, 2);
  EXPECT_EQ(me->size, 4);
  EXPECT_EQ(me->file, "/somewhere/store");
}

TEST(RankIdentity, OfTheUsualVariables) {
  const auto me = find({{"RANK", "3"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "node1"}, {"MASTER_PORT", "1234"}});
  ASSERT_TRUE(me);
  EXPECT_EQ(me->rank, 3);
  EXPECT_EQ(me->address, "node1");
  EXPECT_EQ(me->port, 1234);
  EXPECT_EQ(find({{"RANK", "3"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "node1"}})->port, default_rank_port);
}

TEST(RankIdentity, OfSlurm) {
  const Variables step = {{"SLURM_PROCID", "5"},
                          {"SLURM_STEP_NUM_TASKS", "8"},
                          {"SLURM_STEP_NODELIST", "gpu[07-09,12],big3"},
                          {"SLURM_JOB_ID", "123456"}};
  const auto me = find(step);
  ASSERT_TRUE(me);
  EXPECT_EQ(me->rank, 5);
  EXPECT_EQ(me->size, 8);
  EXPECT_EQ(me->address, "gpu07");
  EXPECT_EQ(me->port, 20000 + 123456 % 20000);
  // The batch script itself is one process, though it has a number of tasks.
  EXPECT_FALSE(find({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_JOB_ID", "1"}}));
}

TEST(RankIdentity, OfMpirun) {
  const Variables here = {
      {"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};
  EXPECT_EQ(find(here)->address, "127.0.0.1");
  Variables elsewhere = here;
  elsewhere["OMPI_COMM_WORLD_LOCAL_SIZE"] = "1";
  testing::expect_error(ErrorKind::usage, {"MASTER_ADDR"}, [&] { find(elsewhere); });
  elsewhere["MASTER_ADDR"] = "node1";
  EXPECT_EQ(find(elsewhere)->address, "node1");
}

TEST(RankIdentity, RefusesWhatContradictsItself) {
  testing::expect_error(ErrorKind::usage, {"rank 4 of 4"}, [] {
    find({{"RANK", "4"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "a"}});
  });
  testing::expect_error(ErrorKind::usage, {"WORLD_SIZE", "many"}, [] {
    find({{"RANK", "0"}, {"WORLD_SIZE", "many"}, {"MASTER_ADDR", "a"}});
  });
}

TEST(RankIdentity, FirstNodeOfASlurmList) {
  EXPECT_EQ(first_slurm_node("node1"), "node1");
  EXPECT_EQ(first_slurm_node("node1,node2"), "node1");
  EXPECT_EQ(first_slurm_node("node[3,5-7]"), "node3");
  EXPECT_EQ(first_slurm_node("a-[010-012]-ib,b1"), "a-010-ib");
}

}  // namespace
}  // namespace ockham
