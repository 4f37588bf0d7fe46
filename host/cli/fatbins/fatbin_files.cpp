// SPDX-License-Identifier: Apache-2.0
#include "fatbins/fatbin_files.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "fatbin/sidecar.hpp"
#include "options.hpp"
#include "terminal/streams.hpp"
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

/// @throws usage_error the sidecar `path`, which has no digest and so was not written with a
/// fatbin,
///   states something else than `members`, which would replace it.
void keep_own_sidecar(std::filesystem::path const& path, detail::sidecar_ptr const& present,
                      nlohmann::json const& members)
{
  if (!present || present->json().contains(k_digest)) return;
  if (auto const own = present->json(); !own.empty() && own != members)
    fail_usage(fmt::format("{} differs from the sidecar beside the source, which would replace it; "
                           "fatlink did not write it, because it has no \"sha256\"",
                           path.string()),
               path.string(), "move it, or name another file with --output");
}

/// The path of the sidecar of the fatbin `output`.
std::filesystem::path packed_sidecar(std::filesystem::path output)
{
  if (output.extension() == ".fatbin") return detail::sidecar_path(output);
  return output += ".json";
}

/// The sidecar of `packed`, which will be at `output`: its SHA-256, and the members of the sidecar
/// that is there or of `sidecars`, those of the inputs, by `precedence`. Adds a warning where these
/// differ; it then has none of them. Adds a warning where the sidecar that is there is kept, states
/// the digest of other bytes, and `sidecars` do not have its members, or has no digest.
/// @throws file_error a malformed sidecar. @throws usage_error as keep_own_sidecar.
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
        "{} is kept, but was written for another {}, which is replaced; if the new code computes "
        "something else, remove {} and write it again",
        path.string(), output.string(), path.string()));
  keep_own_sidecar(path, present, members);
  if (replaced.is_null() && !members_of(present).empty())
    warnings.push_back(
        fmt::format("{} is kept, with the \"sha256\" of {} added", path.string(), output.string()));
  members[k_digest] = digest;
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

bool has_sidecar(std::string const& output)
{
  std::error_code ignored;
  auto const status = std::filesystem::status(output, ignored);
  return !is_standard_output(output) &&
         (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status));
}

std::string sidecar_name(std::string const& output)
{
  return packed_sidecar(output).string();
}

void check_fatbin_output(std::string const& output,
                         std::vector<std::filesystem::path> const& inputs, bool json)
{
  check_output(output, json);
  if (is_standard_output(output)) return;
  if (std::filesystem::path(output).extension() == ".json")
    fail_usage(fmt::format("{}: a fatbin and its sidecar cannot have the same name", output),
               output, "name the fatbin x.fatbin; its sidecar is then x.json");
  must_not_overwrite(inputs, output);
  if (!has_sidecar(output)) return;
  auto const sidecar = packed_sidecar(output);
  must_not_overwrite(inputs, sidecar.string());
  auto const owner = std::filesystem::path(sidecar).replace_extension(".fatbin");
  if (owner != output && std::filesystem::exists(owner))
    fail_usage(fmt::format("{}: its sidecar would be {}, which is the sidecar of {}", output,
                           sidecar.string(), owner.string()),
               output, "name it x.fatbin, or choose another stem");
}

void write_fatbin_files(fatbin const& code, std::string const& output,
                        std::vector<detail::sidecar_ptr> const& sidecars,
                        sidecar_precedence precedence, std::vector<std::string>& warnings)
{
  outputs files;
  files.add(create_output(output), code.bytes());
  if (has_sidecar(output)) {
    auto const text = make_sidecar(code, output, sidecars, precedence, warnings)
                          .dump(2, ' ', false, nlohmann::json::error_handler_t::replace) +
                      '\n';
    files.add(std::make_unique<output_file>(packed_sidecar(output)),
              std::as_bytes(std::span(text)));
  }
  files.commit();
}

}  // namespace fatlink::cli
