// SPDX-License-Identifier: Apache-2.0
#include "doctor/candidates.hpp"

#include <fmt/format.h>

namespace fatlink::cli {

nlohmann::json to_json(std::vector<library_candidate> const& candidates)
{
  auto json = nlohmann::json::array();
  for (auto const& candidate : candidates)
    json.push_back(
        {{"path", candidate.path}, {"reason", candidate.reason}, {"outcome", candidate.outcome}});
  return json;
}

/// Without the path that dlopen repeats in its message.
void print_candidates(nlohmann::json const& library)
{
  for (auto const& candidate : library["tried"]) {
    auto const path = candidate["path"].get<std::string>();
    auto outcome = candidate["outcome"].get<std::string>();
    if (outcome == "chosen") continue;  // printed on another line
    if (outcome.starts_with(path + ": ")) outcome.erase(0, path.size() + 2);
    fmt::print("  {} ({}): {}\n", path, candidate["reason"].get<std::string>(), outcome);
  }
}

}  // namespace fatlink::cli
