// The HTML page of an experiment: one self-contained file that loads nothing, for light and dark screens.
#pragma once

#include <string>

#include "experiments/experiment_files.h"

namespace ockham::paper {

/// Claims first, then figures (SVG inside the page), tables, notes and settings. All text is escaped; the page is
/// well-formed XML when the figures are.
std::string experiment_page(const Experiment& experiment, const ExperimentReport& report);

/// For element content and quoted attributes; control characters become U+FFFD.
std::string escape_html(const std::string& text);

}  // namespace ockham::paper
