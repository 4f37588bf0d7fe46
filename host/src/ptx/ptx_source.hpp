// SPDX-License-Identifier: Apache-2.0
// PTX text as tokens, with errors that name the file and the line.
#pragma once

#include <string>
#include <string_view>

#include "ptx/ptx_tokens.hpp"

namespace fatlink::detail {

class ptx_source : public ptx_tokens {
 public:
  ptx_source(std::string_view ptx, std::string_view name) : ptx_tokens(ptx), name_(name) {}

  /// @throws file_error "NAME: its PTX REASON (line N)".
  [[noreturn]] void fail(std::string const& reason) const;
  /// @throws file_error above-limit: "NAME: its PTX WHAT, the limit (line N)".
  [[noreturn]] void exceed(std::string const& what) const;
  /// `name`, where it is no longer than limits::k_name_bytes. @throws file_error above-limit.
  [[nodiscard]] std::string_view checked_name(std::string_view name) const;
  /// `type`, where it is no longer than limits::k_type_bytes. @throws file_error
  [[nodiscard]] std::string_view checked_type(std::string_view type) const;
  /// `digits`, decimal or 0x…. @throws file_error anything else.
  [[nodiscard]] unsigned long read_number(std::string_view digits) const;

 private:
  std::string_view name_;
};

}  // namespace fatlink::detail
