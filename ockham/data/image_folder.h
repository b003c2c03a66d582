// Folders of PNG and JPEG files, one folder for each class.
#pragma once

#include <string>
#include <vector>

#include "ockham/data/image_set.h"

namespace ockham {

/// Does `path` have a folder with PNG or JPEG files in it? A look at names.
bool has_class_folders(const std::string& path);

/// The images of `path`/CLASS/*.png|jpg|jpeg, classes and files each in the order of their names. All have one channel
/// when all files are grey, else three. Other files and hidden ones are passed over. Without `classes` the folders are
/// the classes; with them every folder must be one of these. Throws Error(data) naming the file or folder: an image
/// that cannot be read or has another size than the first, a folder that is empty or without images.
ImageSet read_class_folders(const std::string& path, const std::vector<std::string>& classes = {});

/// Is `path` a PNG or JPEG file, or a directory with such files in it? A look at names.
bool has_loose_images(const std::string& path);

/// The images that lie in `path` itself, or the one that it is, without labels, in the order of their names.
ImageSet read_unlabelled_images(const std::string& path);

}  // namespace ockham
