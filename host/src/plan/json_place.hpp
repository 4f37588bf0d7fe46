// SPDX-License-Identifier: Apache-2.0
// A value in the JSON of a plan, with its path for messages: "launches[0].grid". The JSON and the
// file's name must outlive the object. Threads: no shared state. Every error is a file_error (stage
// sidecar, code invalid-plan) with file, path, cause and remedy.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fatlink::detail {

class json_place {
 public:
  /// The whole of `file`.
  json_place(nlohmann::json const& value, std::string const& file) : value_(&value), file_(&file) {}

  [[nodiscard]] nlohmann::json const& value() const noexcept { return *value_; }
  [[nodiscard]] std::string const& path() const noexcept { return path_; }

  /// @throws file_error always.
  [[noreturn]] void fail(std::string const& cause, std::string hint) const;
  /// @throws file_error "unknown WHAT "x"", with the most similar of `known` as the remedy, or else
  ///   a list of them.
  [[noreturn]] void fail_unknown(char const* what, std::string_view word,
                                 std::vector<std::string> const& known) const;

  /// The member `key` of an object. @throws file_error it is missing.
  [[nodiscard]] json_place member(char const* key) const;
  /// The member `key` of an object; nothing if it is missing.
  [[nodiscard]] std::optional<json_place> find(char const* key) const;
  /// @throws file_error it is not an object, or has another key than `keys`.
  void check_keys(std::vector<std::string> const& keys) const;
  /// The members of an object, sorted by key. @throws file_error not one; more than `most`.
  [[nodiscard]] std::vector<std::pair<std::string, json_place>> members(std::size_t most) const;
  /// The elements of an array. @throws file_error not one; more than `most`.
  [[nodiscard]] std::vector<json_place> elements(std::size_t most) const;

  /// A string that is not empty.
  [[nodiscard]] std::string text() const;
  /// A string: letters, digits and "_", not beginning with a digit.
  [[nodiscard]] std::string identifier() const;
  /// The text of a formula: a string, or a whole number.
  [[nodiscard]] std::string formula() const;

  /// Fails for `name`, which is not an identifier.
  void check_identifier(std::string_view name) const;

 private:
  json_place(nlohmann::json const& value, std::string const& file, std::string path)
      : value_(&value), file_(&file), path_(std::move(path))
  {
  }
  [[noreturn]] void fail_type(char const* expected) const;
  [[nodiscard]] json_place below(nlohmann::json const& value, std::string const& key) const;

  nlohmann::json const* value_;
  std::string const* file_;
  std::string path_ = {};
};

}  // namespace fatlink::detail
