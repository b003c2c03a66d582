#include <algorithm>
#include <cmath>

#include "ockham/report/png_uri.h"
#include "tests/support/sample_reports.h"

namespace ockham::testing {
namespace {

/// A disc of a hue on a slope of grey.
std::string picture(int64_t number) {
  std::vector<uint8_t> pixels;
  for (int y = 0; y < 32; ++y)
    for (int x = 0; x < 32; ++x) {
      const bool inside = std::hypot(x - 16 + number % 5, y - 16) < 6 + number % 7;
      for (int channel = 0; channel < 3; ++channel)
        pixels.push_back(static_cast<uint8_t>(inside ? (number * 53 + channel * 90) % 256 : 40 + 4 * y));
    }
  return make_png_uri(32, 32, 3, pixels);
}

}  // namespace

RunReport images_report() {
  RunReport report = classification_report();
  report.data = "cifar-10";
  report.task = "classification of images";
  report.targets.clear();
  report.examples = 10000, report.test_examples = 10000, report.features = 3072;
  const ReportCandidate model = report.candidates.front();
  report.candidates.clear();
  const char* names[] = {"cnn:3c3d", "cnn:width=16,depth=3", "resnet:depth=20,width=16", "mlp:200-200", "mlp:50",
                         "linear"};
  for (int i = 0; i < 6; ++i) {
    ReportCandidate candidate = model;
    candidate.network = names[i];
    candidate.parameters = 895210 >> 2 * i;
    candidate.log_evidence = candidate.log_evidence_best = -9700 - 2100.0 * i;
    candidate.log_likelihood = -5000 - 2000.0 * i;
    candidate.probability = i == 0 ? 1 : 0;
    for (ReportValue& value : candidate.test)
      if (value.name == "accuracy") value.value = 0.78 - 0.06 * i + 0.03 * (i % 2);
    report.candidates.push_back(candidate);
  }
  report.evidence_accuracy_rho = 0.943;
  report.classification.train_total = report.classification.test_total = 10000;
  ReportImages& images = report.images;
  images.split = "test";
  images.looked_at = 1000;
  images.width = images.height = 32;
  const std::vector<std::string>& classes = report.classification.classes;
  for (int64_t i = 0; i < 12; ++i) {
    const std::string& truth = classes[static_cast<size_t>(i % 5)];
    images.surest.push_back({picture(i), 17 * i, truth, truth, 0.9999 - 0.001 * static_cast<double>(i)});
    images.least_sure.push_back({picture(i + 12), 19 * i, truth, classes[static_cast<size_t>(i * 2 % 5)],
                                 0.21 + 0.01 * static_cast<double>(i)});
    images.surest_mistakes.push_back({picture(i + 24), 23 * i, truth, classes[static_cast<size_t>((i + 1) % 5)],
                                      0.98 - 0.02 * static_cast<double>(i)});
  }
  return report;
}

}  // namespace ockham::testing
