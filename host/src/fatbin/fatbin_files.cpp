// SPDX-License-Identifier: Apache-2.0
#include "fatbin/fatbin_files.hpp"

#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "fatlink/error.hpp"
#include "util/bytes/sha256.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr char const* k_sha256 = "sha256";

/// What `sidecar` states about the code.
nlohmann::json members_of(sidecar_ptr const& sidecar)
{
  auto members = sidecar ? sidecar->json() : nlohmann::json::object();
  members.erase(k_sha256);
  return members;
}

nlohmann::json merge_members(std::vector<sidecar_ptr> const& sidecars,
                             std::filesystem::path const& result,
                             std::vector<std::string>& warnings)
{
  auto merged = nlohmann::json::object();
  std::string source;
  for (auto const& sidecar : sidecars) {
    auto members = members_of(sidecar);
    if (members.empty() || members == merged) continue;
    if (!merged.empty()) {
      warnings.push_back(detail::format("{} states no reference, because {} and {} differ",
                                        result.string(), source, sidecar->name()));
      return nlohmann::json::object();
    }
    merged = std::move(members);
    source = sidecar->name();
  }
  return merged;
}

/// Whether one of `sidecars` has `members`, and none has others.
bool state(std::vector<sidecar_ptr> const& sidecars, nlohmann::json const& members)
{
  std::vector<std::string> differences;
  return merge_members(sidecars, {}, differences) == members;
}

/// @throws usage_error the sidecar `path`, which has no digest and so was not written with a
/// fatbin,
///   states something else than `members`, which would replace it.
void keep_own_sidecar(std::filesystem::path const& path, sidecar_ptr const& present,
                      nlohmann::json const& members)
{
  if (!present || present->json().contains(k_sha256)) return;
  if (auto const own = present->json(); !own.empty() && own != members)
    throw usage_error(
        {.message = detail::format("{} differs from the sidecar beside the source, which "
                                   "would replace it; fatlink did not write it, because it "
                                   "has no \"sha256\"",
                                   path.string()),
         .input = path.string(),
         .hint = "move it, or <name another output>"});
}

/// The sidecar of `packed`, which will be at `output`: its SHA-256, and the members of the sidecar
/// that is there or of `sidecars`, those of the inputs, by `precedence`. Adds a warning where these
/// differ; it then has none of them. Adds a warning where the sidecar that is there is kept, states
/// the digest of other bytes, and `sidecars` do not have its members, or has no digest.
/// @throws file_error a malformed sidecar. @throws usage_error as keep_own_sidecar.
nlohmann::json make_sidecar(fatbin const& packed, std::filesystem::path const& output,
                            std::vector<sidecar_ptr> const& sidecars, sidecar_precedence precedence,
                            std::vector<std::string>& warnings)
{
  auto const path = packed_sidecar(output);
  auto const digest = to_hexadecimal(packed.digest());
  auto const present = read_sidecar(path);
  auto members = members_of(present);
  auto const replaced =
      present ? present->json().value(k_sha256, nlohmann::json()) : nlohmann::json();
  auto const of_inputs = precedence == sidecar_precedence::inputs
                             ? merge_members(sidecars, path, warnings)
                             : nlohmann::json::object();
  if (!of_inputs.empty())
    members = of_inputs;
  else if (members.empty())
    members = merge_members(sidecars, path, warnings);
  else if (!replaced.is_null() && replaced != digest && !state(sidecars, members))
    warnings.push_back(detail::format(
        "{} is kept, but was written for another {}, which is replaced; if the new code computes "
        "something else, remove {} and write it again",
        path.string(), output.string(), path.string()));
  keep_own_sidecar(path, present, members);
  if (replaced.is_null() && !members_of(present).empty())
    warnings.push_back(detail::format("{} is kept, with the \"sha256\" of {} added", path.string(),
                                      output.string()));
  members[k_sha256] = digest;
  return members;
}

/// The files to write, each with its bytes.
class outputs {
 public:
  void add(std::unique_ptr<output_file> file, bytes_view bytes)
  {
    file->write(bytes);
    files_.push_back(std::move(file));
  }
  /// After all have been written; the one that was added last is first.
  void commit()
  {
    for (auto file = files_.rbegin(); file != files_.rend(); ++file) (*file)->commit();
  }

 private:
  std::vector<std::unique_ptr<output_file>> files_;
};

}  // namespace

std::filesystem::path packed_sidecar(std::filesystem::path output)
{
  if (output.extension() == ".fatbin") return sidecar_path(output);
  return output += ".json";
}

void check_fatbin_path(std::filesystem::path const& output)
{
  if (output.extension() == ".json")
    throw usage_error(
        {.message = detail::format("{}: a fatbin and its sidecar cannot have the same name",
                                   output.string()),
         .input = output.string(),
         .hint = "name the fatbin x.fatbin; its sidecar is then x.json"});
  auto const sidecar = packed_sidecar(output);
  auto const owner = std::filesystem::path(sidecar).replace_extension(".fatbin");
  if (owner != output && std::filesystem::exists(owner))
    throw usage_error(
        {.message = detail::format("{}: its sidecar would be {}, which is the sidecar of {}",
                                   output.string(), sidecar.string(), owner.string()),
         .input = output.string(),
         .hint = "name it x.fatbin, or choose another stem"});
}

void write_fatbin_files(fatbin const& code, std::unique_ptr<output_file> file,
                        std::vector<sidecar_ptr> const& sidecars, sidecar_precedence precedence,
                        std::vector<std::string>& warnings)
{
  auto const output = file->path();
  auto const text = make_sidecar(code, output, sidecars, precedence, warnings)
                        .dump(2, ' ', false, nlohmann::json::error_handler_t::replace) +
                    '\n';
  outputs files;
  files.add(std::move(file), code.bytes());
  files.add(std::make_unique<output_file>(packed_sidecar(output)), std::as_bytes(std::span(text)));
  files.commit();
}

}  // namespace fatlink::detail
