// SPDX-License-Identifier: Apache-2.0
#include "toolkit/program.hpp"

namespace fatlink::detail {

std::string trim_compile_log(std::string log)
{
  constexpr std::string_view k_cut = "\n[cut]";
  log.erase(log.find_last_not_of(std::string_view("\0\n ", 3)) + 1);
  if (log.size() > k_longest_compile_log)
    log.replace(k_longest_compile_log - k_cut.size(), log.npos, k_cut);
  return log;
}

}  // namespace fatlink::detail
