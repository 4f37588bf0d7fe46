// SPDX-License-Identifier: Apache-2.0
#include "pack/packed_sidecar.hpp"

#include <fmt/format.h>

#include "fatbin/sidecar.hpp"
#include "util/bytes/sha256.hpp"

namespace fatlink::cli {
namespace {

constexpr char const* k_digest = "sha256";

/// What the sidecar at `path` states about the code; empty where there is none.
nlohmann::json read_members(std::filesystem::path const& path)
{
  std::error_code ignored;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, ignored)))
    return nlohmann::json::object();
  auto members = detail::read_json(path);
  members.erase(k_digest);
  return members;
}

nlohmann::json merge_members(std::vector<std::filesystem::path> const& inputs,
                             std::filesystem::path const& result,
                             std::vector<std::string>& warnings)
{
  auto merged = nlohmann::json::object();
  std::filesystem::path source;
  for (auto const& input : inputs) {
    auto const path = detail::sidecar_of(input);
    auto const members = read_members(path);
    if (members.empty() || members == merged) continue;
    if (!merged.empty()) {
      warnings.push_back(fmt::format("{} states no reference, because {} and {} differ",
                                     result.string(), source.string(), path.string()));
      return nlohmann::json::object();
    }
    merged = members;
    source = path;
  }
  return merged;
}

}  // namespace

nlohmann::json make_sidecar(fatbin const& packed, std::filesystem::path const& output,
                            std::vector<std::filesystem::path> const& inputs,
                            std::vector<std::string>& warnings)
{
  auto const path = detail::sidecar_of(output);
  auto members = read_members(path);
  if (members.empty()) members = merge_members(inputs, path, warnings);
  members[k_digest] = detail::to_hexadecimal(packed.digest());
  return members;
}

}  // namespace fatlink::cli
