// Private to plot: colours that tell series apart for everybody, on light and on dark pages.
#pragma once

#include <string>

namespace ockham::paper {

/// Of series `index`; after eight they begin again. All differ in lightness too, for those who see few hues.
std::string series_color(int index);

/// Of a place 0 … 1 on the scale from dark violet over green to yellow, whose lightness grows evenly.
std::string value_color(double fraction);

}  // namespace ockham::paper
