#include "tests/support/tool_fixture.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "ockham/data/npy.h"
#include "tests/support/torchscript_builder.h"

namespace ockham::testing {

ToolFixture::ToolFixture() {
  at::manual_seed(3);
  TorchScriptBuilder()
      .parameter("hidden.weight", at::randn({4, 2}, at::kDouble))
      .parameter("hidden.bias", at::randn({4}, at::kDouble))
      .parameter("out.weight", at::randn({3, 4}, at::kDouble))
      .parameter("out.bias", at::randn({3}, at::kDouble))
      .define(R"(
def forward(self, x):
    x = torch.tanh(torch.linear(x, self.hidden.weight, self.hidden.bias))
    return torch.linear(x, self.out.weight, self.out.bias)
)")
      .save(path("net.pt"));
  write("x.npy", at::randn({12, 2}, at::kDouble));
  write("y.npy", at::arange(12, at::kLong).remainder(3));
  write("r.npy", at::randn({12, 3}, at::kDouble));
}

std::string ToolFixture::write(const std::string& name, const at::Tensor& array) const {
  write_npy(path(name), array);
  return path(name);
}

std::vector<std::string> ToolFixture::arguments(const std::vector<std::string>& flags) const {
  const std::vector<std::pair<std::string, std::string>> standard = {{"--network", path("net.pt")},
                                                                     {"--inputs", path("x.npy")},
                                                                     {"--targets", path("y.npy")},
                                                                     {"--likelihood", "categorical"}};
  std::vector<std::string> all = {"evidence"};
  for (const auto& [flag, value] : standard) {
    if (std::find(flags.begin(), flags.end(), flag) != flags.end()) continue;
    all.insert(all.end(), {flag, value});
  }
  all.insert(all.end(), flags.begin(), flags.end());
  return all;
}

nlohmann::json ToolFixture::run_json(std::vector<std::string> flags) const {
  flags.push_back("--json");
  const ToolRun result = run(flags);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out, nullptr, /*allow_exceptions=*/false);
  EXPECT_TRUE(json.is_object()) << result.out;
  return json.is_object() ? json : nlohmann::json::object();
}

void ToolFixture::expect_refusal(int exit_code, const std::vector<std::string>& mentioned,
                                 const std::vector<std::string>& flags) const {
  const ToolRun result = run(flags);
  EXPECT_EQ(result.exit_code, exit_code) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err.rfind("ockham: ", 0), 0u) << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  for (const auto& part : mentioned)
    EXPECT_NE(result.err.find(part), std::string::npos) << "'" << part << "' is not in: " << result.err;
}

}  // namespace ockham::testing
