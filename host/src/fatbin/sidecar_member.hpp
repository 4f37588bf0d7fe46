// SPDX-License-Identifier: Apache-2.0
// A value in the JSON of a sidecar, with its path for messages: "hooks.load.tolerance". The JSON
// must outlive the object. Every error is a file_error (stage sidecar, code invalid-sidecar) with
// the file, the path, the cause and the remedy. Threads: no shared state.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fatlink::detail {

class sidecar_member {
 public:
  /// The whole of `file`.
  sidecar_member(nlohmann::json const& value, std::string file)
      : value_(&value), file_(std::move(file))
  {
  }

  [[nodiscard]] nlohmann::json const& value() const noexcept { return *value_; }
  [[nodiscard]] std::string const& file() const noexcept { return file_; }
  [[nodiscard]] std::string const& path() const noexcept { return path_; }

  /// "FILE: "PATH" CAUSE". @throws file_error always.
  [[noreturn]] void fail(std::string const& cause, std::string hint) const;
  /// @throws file_error "unknown WHAT "WORD"", with the most similar of `known` as the remedy, or
  ///   else a list of them.
  [[noreturn]] void fail_unknown(char const* what, std::string_view word,
                                 std::vector<std::string> const& known) const;

  /// The member `key` of an object. @throws file_error it is missing, or this is no object.
  [[nodiscard]] sidecar_member member(std::string const& key) const;
  /// The member `key` of an object; nothing if it is missing.
  [[nodiscard]] std::optional<sidecar_member> find(std::string const& key) const;
  /// @throws file_error it is not an object, or has another key than `keys`.
  void check_keys(std::vector<std::string> const& keys) const;
  /// The members of an object, sorted by key. @throws file_error not one; none; more than `most`.
  [[nodiscard]] std::vector<std::pair<std::string, sidecar_member>> members(std::size_t most) const;
  /// The elements of an array. @throws file_error not one; none; more than `most`.
  [[nodiscard]] std::vector<sidecar_member> elements(std::size_t most) const;

  [[nodiscard]] std::string text() const;        ///< a string
  [[nodiscard]] double number() const;           ///< a number
  [[nodiscard]] std::string identifier() const;  ///< letters, digits and "_", no digit first

 private:
  sidecar_member(nlohmann::json const& value, std::string file, std::string path)
      : value_(&value), file_(std::move(file)), path_(std::move(path))
  {
  }
  [[nodiscard]] sidecar_member below(nlohmann::json const& value, std::string const& key) const;
  void check_object() const;
  void check_size(std::size_t most) const;

  nlohmann::json const* value_;
  std::string file_;
  std::string path_ = {};
};

}  // namespace fatlink::detail
