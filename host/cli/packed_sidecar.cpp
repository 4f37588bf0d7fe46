// SPDX-License-Identifier: Apache-2.0
#include "packed_sidecar.hpp"

#include <fmt/format.h>

#include "fatbin/sidecar.hpp"
#include "input/stated_digest.hpp"
#include "util/bytes/sha256.hpp"

namespace fatlink::cli {
namespace {

constexpr char const* k_digest = "sha256";

/// The sidecar at `path`; empty where there is none.
nlohmann::json read_sidecar(std::filesystem::path const& path)
{
  std::error_code ignored;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, ignored)))
    return nlohmann::json::object();
  return *detail::read_json(path);
}

/// What the sidecar of the file `input` states about the code; empty where there is none.
nlohmann::json members_of(std::filesystem::path const& input)
{
  auto const path = detail::find_sidecar(input);
  auto members = path ? *detail::read_json(*path) : nlohmann::json::object();
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
    auto const members = members_of(input);
    if (members.empty() || members == merged) continue;
    auto const path = *detail::find_sidecar(input);
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

/// Whether a sidecar of `inputs` has `members`, and none has others.
bool state(std::vector<std::filesystem::path> const& inputs, nlohmann::json const& members)
{
  std::vector<std::string> differences;
  return merge_members(inputs, {}, differences) == members;
}

}  // namespace

std::filesystem::path packed_sidecar(std::filesystem::path output)
{
  if (output.extension() == ".fatbin") return detail::sidecar_of(output);
  return output += ".json";
}

nlohmann::json make_sidecar(fatbin const& packed, std::filesystem::path const& output,
                            std::vector<std::filesystem::path> const& inputs,
                            sidecar_precedence precedence, std::vector<std::string>& warnings)
{
  auto const path = packed_sidecar(output);
  auto const digest = detail::to_hexadecimal(packed.digest());
  auto members = read_sidecar(path);
  auto const replaced = members.value(k_digest, nlohmann::json());
  members.erase(k_digest);
  auto const of_inputs = precedence == sidecar_precedence::inputs
                             ? merge_members(inputs, path, warnings)
                             : nlohmann::json::object();
  if (!of_inputs.empty())
    members = of_inputs;
  else if (members.empty())
    members = merge_members(inputs, path, warnings);
  else if (!replaced.is_null() && replaced != digest && !state(inputs, members))
    warnings.push_back(fmt::format(
        "{} keeps what it states about another {}, which is replaced; if the code computes "
        "something else, remove {} and write it again",
        path.string(), output.string(), path.string()));
  members[k_digest] = digest;
  return members;
}

}  // namespace fatlink::cli
