// SPDX-License-Identifier: Apache-2.0
// The headers that directives like #include NAME may mean, where NAME is a macro. Conditions are
// not evaluated: each definition of a macro counts, wherever it is, so there may be several
// headers, of which the compiler takes one. Thrust names headers so:
//   #define ROOT thrust/system/cuda
//   #define HEADER <ROOT/vector.h>
//   #include HEADER
// Threads: one at a time.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/include_lines.hpp"

namespace fatlink::detail {

class include_macros {
 public:
  /// Adds the macros of one text.
  void add(include_directives const& directives);

  /// The names of headers that the directives so far may mean, without quotes or brackets, sorted.
  /// What the options of the compiler define is not known here. Considers at most 16 values of a
  /// macro and macros in 8 levels; all calls together make at most 500,000 texts, then no more.
  [[nodiscard]] std::vector<std::string> header_names();

 private:
  std::set<std::string, std::less<>> included_;  ///< macros that #include directives name
  std::map<std::string, std::set<std::string>, std::less<>> values_;
  int texts_left_ = 500'000;
};

}  // namespace fatlink::detail
