// SPDX-License-Identifier: Apache-2.0
#include "packed_sidecar.hpp"

#include <fmt/format.h>

#include "fatbin/sidecar.hpp"
#include "input/find_sidecar.hpp"
#include "util/bytes/sha256.hpp"

namespace fatlink::cli {
namespace {

constexpr char const* k_digest = "sha256";

/// What `sidecar` states about the code.
nlohmann::json members_of(detail::sidecar_ptr const& sidecar)
{
  auto members = sidecar ? sidecar->json() : nlohmann::json::object();
  members.erase(k_digest);
  return members;
}

nlohmann::json merge_members(std::vector<detail::sidecar_ptr> const& sidecars,
                             std::filesystem::path const& result,
                             std::vector<std::string>& warnings)
{
  auto merged = nlohmann::json::object();
  std::string source;
  for (auto const& sidecar : sidecars) {
    auto members = members_of(sidecar);
    if (members.empty() || members == merged) continue;
    if (!merged.empty()) {
      warnings.push_back(fmt::format("{} states no reference, because {} and {} differ",
                                     result.string(), source, sidecar->name()));
      return nlohmann::json::object();
    }
    merged = std::move(members);
    source = sidecar->name();
  }
  return merged;
}

/// Whether one of `sidecars` has `members`, and none has others.
bool state(std::vector<detail::sidecar_ptr> const& sidecars, nlohmann::json const& members)
{
  std::vector<std::string> differences;
  return merge_members(sidecars, {}, differences) == members;
}

}  // namespace

std::filesystem::path packed_sidecar(std::filesystem::path output)
{
  if (output.extension() == ".fatbin") return detail::sidecar_path(output);
  return output += ".json";
}

nlohmann::json make_sidecar(fatbin const& packed, std::filesystem::path const& output,
                            std::vector<detail::sidecar_ptr> const& sidecars,
                            sidecar_precedence precedence, std::vector<std::string>& warnings)
{
  auto const path = packed_sidecar(output);
  auto const digest = detail::to_hexadecimal(packed.digest());
  auto const present = detail::read_sidecar(path);
  auto members = members_of(present);
  auto const replaced =
      present ? present->json().value(k_digest, nlohmann::json()) : nlohmann::json();
  auto const of_inputs = precedence == sidecar_precedence::inputs
                             ? merge_members(sidecars, path, warnings)
                             : nlohmann::json::object();
  if (!of_inputs.empty())
    members = of_inputs;
  else if (members.empty())
    members = merge_members(sidecars, path, warnings);
  else if (!replaced.is_null() && replaced != digest && !state(sidecars, members))
    warnings.push_back(fmt::format(
        "{} keeps what it states about another {}, which is replaced; if the code computes "
        "something else, remove {} and write it again",
        path.string(), output.string(), path.string()));
  members[k_digest] = digest;
  return members;
}

}  // namespace fatlink::cli
