// What is to be said about the encoding of a table, when it comes in parts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ockham/data/table_encoding.h"

namespace ockham {

struct EncodingNotes {
  std::vector<int64_t> imputed;      // values by input, of all parts
  std::vector<std::string> ignored;  // columns that training did not have
};

/// As `encode_inputs` of table_encoding.h; adds to the notes.
at::Tensor encode_inputs(const TableEncoding& encoding, const CsvTable& table, EncodingNotes& notes);

/// One sentence each, as the other `encode_inputs` gives them.
std::vector<std::string> describe_notes(const EncodingNotes& notes, const TableEncoding& encoding,
                                        const std::string& path);

}  // namespace ockham
