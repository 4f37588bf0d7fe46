// SPDX-License-Identifier: Apache-2.0
// JSON files of fatlink (sidecars, launch plans, references, contracts): each is read and parsed
// once, and errors name the place of the value that is wrong: "launches[0].grid".
// Threads: json_file is immutable; the others have no shared state.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fatlink/bytes.hpp"
#include "fatlink/element_type.hpp"
#include "fatlink/error.hpp"
#include "util/text/json.hpp"

namespace fatlink::detail {

/// The object that a JSON file holds, as it was when it was read.
class json_file {
 public:
  /// @throws file_error (stage sidecar, invalid-sidecar) unreadable, larger than 1 MiB, nested too
  ///   deeply, not JSON, or not an object.
  static std::shared_ptr<json_file const> read(std::filesystem::path const& path);

  /// As read(), for bytes in memory; `name` is for messages.
  json_file(bytes_view bytes, std::string name);

  [[nodiscard]] std::string const& name() const noexcept { return name_; }  ///< its path
  [[nodiscard]] std::string const& text() const noexcept { return text_; }
  [[nodiscard]] nlohmann::json const& json() const noexcept { return *json_; }

  /// Readers of JSON take the last of two equal keys: in a file that a person wrote, the first one
  /// would be lost. @throws file_error (`code`) an object has a key twice; names its place.
  void check_unique_keys(error_code code) const;

 private:
  std::string name_;
  std::string text_;
  std::optional<std::string> repeated_key_;
  json_document json_;
};

/// @throws file_error (stage sidecar, `code`) "FILE: PLACE: CAUSE"; `place` is within the JSON,
///   empty for the whole.
[[noreturn]] void fail_json(error_code code, std::string const& file, std::string const& place,
                            std::string const& cause, std::string hint);

/// A value in a JSON file with its place. The JSON and the name must outlive it. Every error is a
/// file_error as of fail_json().
class json_place {
 public:
  /// The whole of `file`. `code`: that of the errors, invalid_plan or invalid_sidecar.
  json_place(nlohmann::json const& value, std::string const& file, error_code code)
      : value_(&value), file_(&file), code_(code)
  {
  }

  [[nodiscard]] nlohmann::json const& value() const noexcept { return *value_; }
  [[nodiscard]] std::string const& path() const noexcept { return path_; }

  /// @throws file_error always.
  [[noreturn]] void fail(std::string const& cause, std::string hint) const;
  /// @throws file_error "unknown WHAT "WORD"", with the most similar of `known` as the remedy, or
  ///   else a list of them.
  [[noreturn]] void fail_unknown(char const* what, std::string_view word,
                                 std::vector<std::string> const& known) const;

  /// The member `key` of an object. @throws file_error it is missing.
  [[nodiscard]] json_place member(std::string const& key) const;
  /// The member `key` of an object; nothing if it is missing.
  [[nodiscard]] std::optional<json_place> find(std::string const& key) const;
  /// @throws file_error it is not an object, or has another key than `keys`.
  void check_keys(std::vector<std::string> const& keys) const;
  /// The members of an object, sorted by key. @throws file_error not one; more than `most`.
  [[nodiscard]] std::vector<std::pair<std::string, json_place>> members(std::size_t most) const;
  /// The elements of an array. @throws file_error not one; more than `most`.
  [[nodiscard]] std::vector<json_place> elements(std::size_t most) const;
  /// @throws file_error it is an array or object without members.
  json_place const& not_empty() const;

  [[nodiscard]] std::string string() const;  ///< a string
  [[nodiscard]] std::string text() const;    ///< a string that is not empty
  [[nodiscard]] double number() const;       ///< a number
  /// A string: letters, digits and "_", not beginning with a digit.
  [[nodiscard]] std::string identifier() const;
  /// The text of a formula: a string, or a whole number.
  [[nodiscard]] std::string formula() const;

  /// Fails for `name`, which is not an identifier.
  void check_identifier(std::string_view name) const;

 private:
  [[noreturn]] void fail_type(char const* expected) const;
  [[nodiscard]] json_place below(nlohmann::json const& value, std::string path) const;
  void check_size(char const* what, std::size_t most) const;

  nlohmann::json const* value_;
  std::string const* file_;
  error_code code_;
  std::string path_ = {};
};

/// float32 for "float", as the demangler names types; nothing for a type that is no such number.
std::optional<scalar_kind> number_of_cpp(std::string_view type) noexcept;

/// The name in `known` that `word` stands for, for "did you mean": "float32" for the C++ type
/// "float", otherwise the most similar one, as nearest().
std::string intended_name(std::vector<std::string> const& known, std::string_view word);

}  // namespace fatlink::detail
