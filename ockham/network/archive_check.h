// Whether the bytes of a TorchScript file are those that were saved.
#pragma once

#include <istream>
#include <string>

namespace ockham {

/// A TorchScript file is a ZIP archive, and libtorch reads it without looking at its checksums: a damaged weight would
/// be taken for a trained one. Reads the file once, in pieces, and compares the CRC-32 and the size of every entry,
/// stored or deflated, with the archive's directory. Throws Error(data) naming the file, the entry and what to do.
/// Whether the entries make a network is not asked here.
void check_archive(const std::string& path);
/// The same for an archive inside another file; `name` is for the sentences. Leaves the stream anywhere.
void check_archive(std::istream& bytes, const std::string& name);

}  // namespace ockham
