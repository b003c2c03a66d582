#include "experiments/image_architectures.h"

#include <fmt/format.h>

#include <limits>

namespace ockham::paper {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

Architecture outside_paper(const std::string& set, Family family, int64_t width, int64_t depth) {
  return {set, family, width, depth, 0, none, none};
}

bool is_reduced(const Architecture& one) {
  switch (one.family) {
    case Family::mlp:
      return one.depth % 2 == 1;
    case Family::cnn:
      return (one.width <= 16 && one.depth <= 4) || (one.width == 32 && one.depth <= 2);
    case Family::resnet:
      break;
  }
  return one.width <= 24 && one.depth <= 20 && one.width * one.depth < 24 * 20;
}

bool is_quick(const Architecture& one) {
  return one.family == Family::mlp ? one.width == 50 && one.depth <= 2 : one.parameters < 8000 && one.depth <= 2;
}

}  // namespace

std::string word_of(Family family) { return family == Family::mlp ? "mlp" : family == Family::cnn ? "cnn" : "resnet"; }

std::string spec_of(const Architecture& architecture) {
  if (architecture.family != Family::mlp)
    return fmt::format("{}:width={},depth={}", word_of(architecture.family), architecture.width, architecture.depth);
  std::string spec = fmt::format("mlp:{}", architecture.width);
  for (int64_t layer = 1; layer < architecture.depth; ++layer) spec += fmt::format("-{}", architecture.width);
  return spec;
}

std::string name_of(const Architecture& architecture) {
  return fmt::format("{}-w{}-d{}", word_of(architecture.family), architecture.width, architecture.depth);
}

std::vector<Architecture> architectures_of(const std::string& set, ArchitectureList list) {
  std::vector<Architecture> chosen;
  for (const Architecture& one : paper_architectures()) {
    if (one.set != set) continue;
    if (list == ArchitectureList::full || (list == ArchitectureList::reduced ? is_reduced(one) : is_quick(one)))
      chosen.push_back(one);
  }
  if (list == ArchitectureList::quick && set != "fashion-mnist")
    for (const int64_t width : {4, 8}) chosen.push_back(outside_paper(set, Family::resnet, width, 8));
  if (list == ArchitectureList::reduced && set == "cifar-100")
    for (const int64_t width : {8, 16, 24})
      for (const int64_t depth : {8, 14}) chosen.push_back(outside_paper(set, Family::resnet, width, depth));
  return chosen;
}

const std::vector<Architecture>& paper_architectures() {
  static const std::vector<Architecture> all = {
      {"cifar-10", Family::cnn, 8, 1, 1572, 57.69, -1.311},
      {"cifar-10", Family::cnn, 4, 2, 1238, 59.69, -1.229},
      {"cifar-10", Family::cnn, 16, 1, 3076, 63.35, -1.180},
      {"cifar-10", Family::cnn, 32, 1, 6084, 67.43, -1.096},
      {"cifar-10", Family::cnn, 8, 2, 2942, 67.69, -1.036},
      {"cifar-10", Family::cnn, 64, 1, 12100, 69.98, -1.081},
      {"cifar-10", Family::cnn, 4, 4, 7050, 72.02, -0.881},
      {"cifar-10", Family::cnn, 16, 2, 8078, 73.07, -0.886},
      {"cifar-10", Family::cnn, 8, 3, 7464, 73.57, -0.851},
      {"cifar-10", Family::cnn, 4, 5, 25588, 78.20, -0.817},
      {"cifar-10", Family::cnn, 32, 2, 25262, 79.02, -0.816},
      {"cifar-10", Family::cnn, 8, 4, 26002, 81.21, -0.734},
      {"cifar-10", Family::cnn, 16, 3, 26296, 81.56, -0.737},
      {"cifar-10", Family::cnn, 64, 2, 87278, 82.15, -0.866},
      {"cifar-10", Family::cnn, 32, 3, 98520, 85.46, -0.806},
      {"cifar-10", Family::cnn, 16, 4, 100194, 86.18, -0.788},
      {"cifar-10", Family::resnet, 16, 8, 75129, 86.30, -0.712},
      {"cifar-10", Family::cnn, 64, 3, 381208, 88.41, -0.781},
      {"cifar-10", Family::resnet, 24, 8, 167825, 88.58, -0.730},
      {"cifar-10", Family::cnn, 16, 5, 395404, 89.10, -0.778},
      {"cifar-10", Family::cnn, 32, 4, 393730, 89.78, -0.706},
      {"cifar-10", Family::resnet, 32, 8, 297385, 89.90, -0.685},
      {"cifar-10", Family::resnet, 16, 14, 172128, 90.62, -0.662},
      {"cifar-10", Family::cnn, 64, 4, 1561410, 90.62, -0.668},
      {"cifar-10", Family::resnet, 16, 20, 269127, 90.63, -0.681},
      {"cifar-10", Family::resnet, 40, 8, 463809, 90.89, -0.660},
      {"cifar-10", Family::resnet, 48, 8, 667097, 90.90, -0.670},
      {"cifar-10", Family::resnet, 16, 26, 366126, 91.37, -0.682},
      {"cifar-10", Family::resnet, 24, 14, 385784, 91.40, -0.613},
      {"cifar-10", Family::resnet, 16, 32, 463125, 91.83, -0.651},
      {"cifar-10", Family::resnet, 32, 20, 1071991, 91.97, -0.613},
      {"cifar-10", Family::resnet, 24, 26, 821702, 92.09, -0.610},
      {"cifar-10", Family::resnet, 24, 20, 603743, 92.11, -0.637},
      {"cifar-10", Family::resnet, 24, 32, 1039661, 92.12, -0.606},
      {"cifar-10", Family::resnet, 32, 14, 684688, 92.17, -0.593},
      {"cifar-10", Family::resnet, 40, 14, 1068840, 92.47, -0.567},
      {"cifar-10", Family::resnet, 32, 26, 1459294, 92.50, -0.630},
      {"cifar-10", Family::resnet, 40, 32, 2883933, 92.62, -0.626},
      {"cifar-10", Family::resnet, 32, 32, 1846597, 92.66, -0.604},
      {"cifar-10", Family::resnet, 40, 20, 1673871, 92.81, -0.564},
      {"cifar-10", Family::resnet, 48, 26, 3280526, 92.93, -0.589},
      {"cifar-10", Family::resnet, 48, 14, 1538240, 92.98, -0.551},
      {"cifar-10", Family::resnet, 48, 20, 2409383, 92.99, -0.522},
      {"cifar-10", Family::resnet, 48, 32, 4151669, 93.16, -0.607},
      {"cifar-10", Family::resnet, 40, 26, 2278902, 93.29, -0.552},
      {"cifar-100", Family::cnn, 4, 1, 6670, 23.54, -3.435},
      {"cifar-100", Family::cnn, 8, 1, 13182, 29.97, -3.137},
      {"cifar-100", Family::cnn, 4, 2, 7808, 30.41, -3.023},
      {"cifar-100", Family::cnn, 4, 3, 8218, 33.90, -2.791},
      {"cifar-100", Family::cnn, 4, 4, 12900, 35.21, -2.758},
      {"cifar-100", Family::cnn, 16, 1, 26206, 37.73, -2.920},
      {"cifar-100", Family::cnn, 8, 2, 15992, 40.27, -2.640},
      {"cifar-100", Family::cnn, 32, 1, 52254, 42.75, -2.829},
      {"cifar-100", Family::cnn, 8, 3, 19074, 43.40, -2.379},
      {"cifar-100", Family::cnn, 4, 5, 31438, 45.99, -2.314},
      {"cifar-100", Family::cnn, 16, 2, 34088, 48.34, -2.339},
      {"cifar-100", Family::cnn, 8, 4, 37612, 51.09, -2.078},
      {"cifar-100", Family::cnn, 16, 3, 49426, 52.76, -2.071},
      {"cifar-100", Family::cnn, 32, 2, 77192, 53.00, -2.180},
      {"cifar-100", Family::cnn, 8, 5, 111510, 57.36, -2.103},
      {"cifar-100", Family::cnn, 32, 3, 144690, 58.65, -2.065},
      {"cifar-100", Family::cnn, 16, 4, 123324, 59.33, -1.956},
      {"cifar-100", Family::cnn, 16, 5, 418534, 62.54, -2.274},
      {"cifar-100", Family::cnn, 32, 4, 439900, 63.01, -2.047},
      {"cifar-100", Family::cnn, 32, 5, 1620102, 68.07, -1.804},
      {"cifar-100", Family::resnet, 32, 20, 1083601, 69.01, -1.788},
      {"cifar-100", Family::resnet, 32, 44, 2632813, 69.50, -1.763},
      {"cifar-100", Family::resnet, 32, 32, 1858207, 70.65, -1.805},
      {"cifar-100", Family::resnet, 40, 20, 1688361, 71.11, -1.706},
      {"cifar-100", Family::resnet, 32, 56, 3407419, 71.22, -1.801},
      {"cifar-100", Family::resnet, 40, 32, 2898423, 71.35, -1.616},
      {"cifar-100", Family::resnet, 32, 110, 6893146, 71.66, -1.627},
      {"cifar-100", Family::resnet, 40, 56, 5318547, 72.02, -1.540},
      {"cifar-100", Family::resnet, 48, 20, 2426753, 72.36, -1.562},
      {"cifar-100", Family::resnet, 48, 110, 15493898, 72.38, -1.358},
      {"cifar-100", Family::resnet, 48, 56, 7653611, 72.40, -1.703},
      {"cifar-100", Family::resnet, 56, 20, 3298777, 72.45, -1.487},
      {"cifar-100", Family::resnet, 64, 32, 7401471, 72.47, -1.351},
      {"cifar-100", Family::resnet, 40, 44, 4108485, 72.78, -1.554},
      {"cifar-100", Family::resnet, 56, 44, 8041333, 72.78, -1.407},
      {"cifar-100", Family::resnet, 56, 56, 10412611, 72.82, -1.271},
      {"cifar-100", Family::resnet, 40, 110, 10763826, 72.85, -1.540},
      {"cifar-100", Family::resnet, 56, 32, 5670055, 72.90, -1.344},
      {"cifar-100", Family::resnet, 48, 44, 5911325, 73.02, -1.436},
      {"cifar-100", Family::resnet, 48, 32, 4169039, 73.05, -1.505},
      {"cifar-100", Family::resnet, 56, 110, 21083362, 73.51, -1.441},
      {"cifar-100", Family::resnet, 64, 110, 27532218, 73.75, -1.291},
      {"cifar-100", Family::resnet, 64, 20, 4304433, 73.82, -1.325},
      {"cifar-100", Family::resnet, 64, 56, 13595547, 73.98, -1.188},
      {"cifar-100", Family::resnet, 64, 44, 10498509, 74.16, -1.180},
      {"fashion-mnist", Family::mlp, 800, 1, 636034, 85.01, -0.598},
      {"fashion-mnist", Family::mlp, 800, 3, 1917650, 85.23, -0.670},
      {"fashion-mnist", Family::mlp, 200, 1, 159034, 85.24, -0.581},
      {"fashion-mnist", Family::cnn, 2, 2, 566, 85.25, -0.417},
      {"fashion-mnist", Family::mlp, 800, 5, 3199266, 85.35, -0.740},
      {"fashion-mnist", Family::mlp, 800, 2, 1276842, 85.44, -0.637},
      {"fashion-mnist", Family::mlp, 800, 4, 2558458, 85.51, -0.703},
      {"fashion-mnist", Family::mlp, 200, 3, 239450, 85.56, -0.633},
      {"fashion-mnist", Family::mlp, 200, 4, 279658, 85.59, -0.664},
      {"fashion-mnist", Family::mlp, 200, 2, 199242, 85.69, -0.610},
      {"fashion-mnist", Family::mlp, 200, 5, 319866, 85.78, -0.677},
      {"fashion-mnist", Family::cnn, 4, 1, 748, 85.94, -0.421},
      {"fashion-mnist", Family::mlp, 50, 1, 39784, 86.27, -0.537},
      {"fashion-mnist", Family::mlp, 50, 5, 50016, 86.43, -0.624},
      {"fashion-mnist", Family::mlp, 50, 3, 44900, 86.45, -0.597},
      {"fashion-mnist", Family::mlp, 50, 4, 47458, 86.55, -0.608},
      {"fashion-mnist", Family::mlp, 50, 2, 42342, 86.81, -0.570},
      {"fashion-mnist", Family::cnn, 2, 3, 864, 87.70, -0.361},
      {"fashion-mnist", Family::cnn, 8, 1, 1428, 88.05, -0.390},
      {"fashion-mnist", Family::cnn, 2, 4, 2074, 88.24, -0.360},
      {"fashion-mnist", Family::cnn, 4, 2, 1166, 88.28, -0.369},
      {"fashion-mnist", Family::cnn, 16, 1, 2788, 89.05, -0.395},
      {"fashion-mnist", Family::cnn, 32, 1, 5508, 89.42, -0.429},
      {"fashion-mnist", Family::cnn, 4, 3, 2296, 89.78, -0.341},
      {"fashion-mnist", Family::cnn, 2, 5, 6756, 89.81, -0.354},
      {"fashion-mnist", Family::cnn, 8, 2, 2798, 90.71, -0.354},
      {"fashion-mnist", Family::cnn, 16, 2, 7790, 91.10, -0.384},
      {"fashion-mnist", Family::cnn, 4, 4, 6978, 91.15, -0.342},
      {"fashion-mnist", Family::cnn, 8, 3, 7320, 91.15, -0.357},
      {"fashion-mnist", Family::cnn, 32, 2, 24686, 91.54, -0.416},
      {"fashion-mnist", Family::cnn, 4, 5, 25516, 92.17, -0.344},
      {"fashion-mnist", Family::cnn, 32, 3, 97944, 92.32, -0.471},
      {"fashion-mnist", Family::cnn, 8, 4, 25858, 92.50, -0.376},
      {"fashion-mnist", Family::cnn, 16, 3, 26008, 92.55, -0.417},
      {"fashion-mnist", Family::cnn, 32, 4, 393154, 92.65, -0.466},
      {"fashion-mnist", Family::cnn, 16, 4, 99906, 93.33, -0.434},
      {"fashion-mnist", Family::cnn, 32, 5, 1573356, 93.40, -0.436},
  };
  return all;
}

}  // namespace ockham::paper
