// SPDX-License-Identifier: Apache-2.0
// Parses JSON so that a failed allocation is an exception. The destructor of a nlohmann::json that
// holds members allocates memory, so it ends the process when memory is missing; that of a
// json_document does not. Threads: no shared state.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace fatlink::detail {

/// Removes all members of a value, the innermost first, and deletes it without allocating.
struct json_deleter {
  void operator()(nlohmann::json* value) const noexcept;
};

/// Pass its members on by reference: a copy of one that holds others is a nlohmann::json again.
using json_document = std::unique_ptr<nlohmann::json, json_deleter>;

/// @throws nlohmann::json::parse_error `text` is not JSON. @throws nlohmann::json::out_of_range a
///   number is. @throws std::bad_alloc. `text` must not be nested deeply: is_nested_deeper(). Of
///   two equal keys the last one counts; `repeated_key` gets the path of the first such key,
///   "launches[0].grid", and is unchanged if there is none.
json_document parse_document(std::string_view text,
                             std::optional<std::string>* repeated_key = nullptr);

/// `text` as a JSON string, in quotes. @throws nlohmann::json::type_error it is not UTF-8.
std::string json_string(std::string const& text);

/// Whether brackets and braces outside of strings are nested deeper than `limit`. Checked before
/// parsing: parsed values are copied, printed and deleted recursively, and take some 100 bytes for
/// each bracket. The result for text that is not JSON has no meaning.
bool is_nested_deeper(std::string_view json, unsigned limit) noexcept;

}  // namespace fatlink::detail
