// The report as one HTML file that needs no network: the page that web/ is built into, with the report's JSON
// inside.
//
// The JSON (schema "sublane.explain/2") is put in as base64 of gzip, so nothing in it can be taken for HTML
// or script, and the page unpacks it. Same JSON, same bytes: gzip's header holds neither time nor name.
//
//   const std::string page = views::toHtml(json);
#pragma once

#include <string>
#include <string_view>

namespace sublane::views {

std::string toHtml(std::string_view explain_json);

}  // namespace sublane::views
