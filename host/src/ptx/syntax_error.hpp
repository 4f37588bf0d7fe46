// SPDX-License-Identifier: Apache-2.0
// The exception of the PTX parser. Needs only the standard library.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace fatlink::ptx {

/// Text that the parser does not accept. `what()` is "SOURCE:LINE: DETAIL".
class syntax_error : public std::runtime_error {
 public:
  enum class kind {
    malformed,    ///< not PTX
    unsupported,  ///< PTX that exceeds a limit of the parser; `detail()` names the feature
  };

  syntax_error(kind category, std::string source, unsigned line, std::string detail)
      : std::runtime_error(source + ":" + std::to_string(line) + ": " +
                           (category == kind::unsupported ? "unsupported: " : "") + detail),
        category_(category),
        source_(std::move(source)),
        line_(line),
        detail_(std::move(detail))
  {
  }
  [[nodiscard]] kind category() const noexcept { return category_; }
  [[nodiscard]] std::string const& source() const noexcept { return source_; }
  [[nodiscard]] unsigned line() const noexcept { return line_; }  ///< from 1
  [[nodiscard]] std::string const& detail() const noexcept { return detail_; }

 private:
  kind category_;
  std::string source_;
  unsigned line_;
  std::string detail_;
};

}  // namespace fatlink::ptx
