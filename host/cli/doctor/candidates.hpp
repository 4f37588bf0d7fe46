// SPDX-License-Identifier: Apache-2.0
// The search for one of the vendor's libraries, in the output of `fatlink doctor`.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "fatlink/error.hpp"
#include "fatlink/library_file.hpp"

namespace fatlink::cli {

/// [{"path", "reason", "outcome"}]
nlohmann::json to_json(std::vector<library_candidate> const& candidates);

/// {"found", "tried"}, with "path" and "reason" of the file that Library::find opens, or "message"
/// and "hint" of the error that using it gives.
template <typename Library>
nlohmann::json examine_library()
{
  std::vector<library_candidate> candidates;
  auto const library = Library::find(candidates);
  nlohmann::json json{{"found", library != nullptr}, {"tried", to_json(candidates)}};
  if (library) {
    json["path"] = library->path();
    json["reason"] = library->reason();
    return json;
  }
  try {
    (void)Library::open();
  } catch (unavailable_error const& missing) {
    json["message"] = missing.details().message;
    json["hint"] = missing.details().hint;
  }
  return json;
}

/// A line for each file of "tried" that could not be used.
void print_candidates(nlohmann::json const& library);

}  // namespace fatlink::cli
