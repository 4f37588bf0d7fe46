// SPDX-License-Identifier: Apache-2.0
// The output of `fatlink inspect`, as JSON and as text.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "fatlink/input.hpp"

namespace fatlink::cli {

/// An input, and its damage if its entries can be listed although it is damaged.
struct loaded_file {
  input contents;
  std::optional<format_error> damage;
  std::string producer = {};  ///< of a source, the compiler that compiled it; empty: it is none
};

/// An element of "files" in docs/schemas/inspect.json.
nlohmann::json to_json(loaded_file const& file);

/// `file`: an object that to_json returned.
void print_text(nlohmann::json const& file);

}  // namespace fatlink::cli
