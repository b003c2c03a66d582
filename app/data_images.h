// ockham data, for images: several files in a directory of their own.
#pragma once

#include <nlohmann/json.hpp>

#include "app/data_flags.h"
#include "app/data_sets.h"

namespace ockham::app {

/// Gets the files, checks each and puts them into their directory, all of them or none.
int run_image_data(const DataSet& data_set, const DataFlags& flags);

/// What is known of a data set, a table or images.
nlohmann::ordered_json describe_as_json(const DataSet& data_set);

}  // namespace ockham::app
