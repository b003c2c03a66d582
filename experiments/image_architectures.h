// The networks among which the paper chooses by their evidence: its three appendix tables, and smaller lists.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ockham::paper {

enum class Family { mlp, cnn, resnet };
std::string word_of(Family family);

/// A row of app:tab:cifar10_arch, app:tab:cifar100_arch or app:tab:fmnist_arch.
struct Architecture {
  std::string set;
  Family family = Family::cnn;
  int64_t width = 0, depth = 0;
  int64_t parameters = 0;             // as the paper counts them; 0: not in its table
  double accuracy = 0, evidence = 0;  // the paper's, in % and per image; NaN: not in its table
};

std::string spec_of(const Architecture& architecture);  // "resnet:depth=20,width=16"
std::string name_of(const Architecture& architecture);  // "resnet-w16-d20"

/// All rows of the paper's tables.
const std::vector<Architecture>& paper_architectures();

enum class ArchitectureList {
  full,     // the paper's
  reduced,  // those that a few thousand images can train in minutes; on CIFAR-100 smaller ResNets than the paper's
  quick,    // a handful of the smallest
};
std::vector<Architecture> architectures_of(const std::string& set, ArchitectureList list);

}  // namespace ockham::paper
