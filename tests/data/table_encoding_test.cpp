#include "ockham/data/table_encoding.h"

#include <ATen/ATen.h>

#include <cmath>
#include <string>

#include "tests/support/expect_error.h"

namespace ockham {
namespace {

using testing::expect_error;

TableEncoding mixed_encoding() {
  EncodingOptions options;
  options.missing = MissingValues::impute;
  options.targets = {"y", "z"};
  return learn_encoding(parse_csv("a,c,y,z\n0.1,\"x \"\"é\",1.5,7\n0.2,,2.5,9\n0.4,z,3.7,1\n", "t.csv"), options);
}

TEST(TableEncoding, SurvivesJsonExactly) {
  const TableEncoding encoding = mixed_encoding();
  const TableEncoding back = parse_encoding(format_encoding(encoding));
  EXPECT_EQ(format_encoding(back), format_encoding(encoding));
  EXPECT_EQ(back.inputs[0].mean, encoding.inputs[0].mean);
  EXPECT_EQ(back.inputs[0].sd, encoding.inputs[0].sd);
  EXPECT_EQ(back.inputs[1].levels, encoding.inputs[1].levels);
  EXPECT_TRUE(back.inputs[1].missing_level);
  EXPECT_EQ(back.missing, MissingValues::impute);
  EXPECT_EQ(back.messages, encoding.messages);
  EXPECT_EQ(back.targets[1].sd, encoding.targets[1].sd);
  const TableEncoding classes = learn_encoding(parse_csv("a,y\n1,n\n2,j\n3,n\n4,j\n", "t.csv"), {});
  EXPECT_EQ(parse_encoding(format_encoding(classes)).classes, classes.classes);
  EXPECT_EQ(parse_encoding(format_encoding(classes)).task, Task::classification);
}

TEST(TableEncoding, RefusesDamagedJson) {
  const std::string json = format_encoding(mixed_encoding());
  const auto refuse = [](const std::string& text, const std::string& part) {
    expect_error(ErrorKind::data, {part}, [&] { parse_encoding(text); });
  };
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = json;
    return text.replace(text.find(from), from.size(), to);
  };
  refuse("", "cannot be read");
  refuse("[]", "cannot be read");
  refuse(json.substr(0, json.size() / 2), "cannot be read");
  refuse(changed("\"version\": 1", "\"version\": 2"), "version 2");
  refuse(changed("ockham table encoding", "something"), "not a table encoding");
  refuse(changed("\"regression\"", "\"automatic\""), "'automatic'");
  refuse(changed("\"sd\": ", "\"sd\": -"), "must be positive");
  refuse(changed("\"levels\"", "\"steps\""), "cannot be read");
}

TEST(TableEncoding, ChangesTheUnitsOfADensity) {
  const TableEncoding encoding = mixed_encoding();
  // The same Gaussian, with its mean and noise in either unit.
  const at::Tensor z = encode_targets(encoding, parse_csv("y,z\n1,2\n3,4\n5,6\n7,9\n", "t.csv"));
  const at::Tensor scales = target_scales(encoding);
  const at::Tensor y = target_means(encoding) + scales * z;
  const double noise = 0.7;
  const auto log_gaussian = [](const at::Tensor& residuals, const at::Tensor& sd) {
    return (-0.5 * (residuals / sd).square() - sd.log() - 0.5 * std::log(2 * M_PI)).sum().item<double>();
  };
  const double standardised = log_gaussian(z - 0.3, at::full({2}, noise, at::kDouble));
  const double own = log_gaussian(y - (target_means(encoding) + scales * 0.3), scales * noise);
  EXPECT_NEAR(log_density_in_target_units(encoding, standardised, 4), own, 1e-11);
  const TableEncoding classes = learn_encoding(parse_csv("a,y\n1,n\n2,j\n3,n\n4,j\n", "t.csv"), {});
  EXPECT_EQ(log_density_in_target_units(classes, -3.5, 4), -3.5);
  EXPECT_EQ(target_scales(classes).sum().item<double>(), 2);
}

}  // namespace
}  // namespace ockham
