#include <fmt/format.h>

#include "ockham/report/page_parts.h"
#include "ockham/report/text.h"

namespace ockham::report {
namespace {

std::string item(const ReportImage& image, const ReportImages& images) {
  const bool right = image.truth == image.predicted;
  const std::string sure = format_percent(image.probability);
  const std::string alternative =
      fmt::format("image {}, of class {}, taken for {} with {}", image.place, image.truth, image.predicted, sure);
  return fmt::format(
      "<li class=\"{}\"><img src=\"{}\" width=\"{}\" height=\"{}\" alt=\"{}\" title=\"{}\"><span><b>{}</b> "
      "<i>{}</i></span><span class=\"truth\">{}</span></li>",
      right ? "right" : "wrong", escape_html(image.picture), images.width, images.height, escape_html(alternative),
      escape_html(alternative), escape_html(image.predicted), escape_html(sure),
      right ? "right" : "is " + escape_html(image.truth));
}

std::string list(const char* title, const char* text, const std::vector<ReportImage>& some,
                 const ReportImages& images) {
  if (some.empty()) return "";
  std::string items;
  for (const ReportImage& image : some) items += item(image, images);
  return fmt::format(
      "<div class=\"card wide\"><h3>{}</h3><p class=\"facts\">{}</p><ul class=\"images\">{}</ul></div>\n", title, text,
      items);
}

}  // namespace

std::string render_images(const RunReport& report) {
  const ReportImages& images = report.images;
  const std::string body =
      list("Least sure", "The highest probability that the network gives any class is lowest here.", images.least_sure,
           images) +
      list("Surest mistakes", "Wrong with the highest probability: labels that may be wrong too.",
           images.surest_mistakes, images) +
      list("Surest", "The network gives one class the highest probability.", images.surest, images);
  if (body.empty()) return "";
  const std::string from =
      fmt::format("<p>Out of {} {} images; under each the predicted class with its probability, then the true one.</p>",
                  format_count(images.looked_at), escape_html(images.split));
  return make_section("images", "Images", from + body);
}

}  // namespace ockham::report
