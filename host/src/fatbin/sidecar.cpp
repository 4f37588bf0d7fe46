// SPDX-License-Identifier: Apache-2.0
#include "fatbin/sidecar.hpp"

#include <algorithm>
#include <array>

#include "fatlink/format_error.hpp"
#include "util/bytes/sha256.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr std::size_t k_digest = 32;  // bytes of a SHA-256

/// The keys of a sidecar that JSON of other programs seldom has.
constexpr std::array k_own_keys{"sha256",    "hook",          "hooks",
                                "reference", "tolerance_ulp", "launches"};

}  // namespace

std::filesystem::path sidecar_path(std::filesystem::path fatbin)
{
  fatbin.replace_extension(".json");
  return fatbin;
}

sidecar_ptr read_sidecar(std::filesystem::path const& path)
{
  std::error_code ignored;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) return {};
  return json_file::read(path);
}

sidecar_ptr read_own_sidecar(std::filesystem::path const& path)
try {
  auto sidecar = read_sidecar(path);
  return sidecar && has_sidecar_keys(sidecar->json()) ? sidecar : nullptr;
} catch (file_error const&) {
  return {};
}

bool has_sidecar_keys(nlohmann::json const& json)
{
  return std::ranges::any_of(k_own_keys, [&](char const* key) { return json.contains(key); });
}

std::optional<std::string> stated_sha256(sidecar_ptr const& sidecar)
{
  if (!sidecar || !sidecar->json().contains("sha256")) return std::nullopt;
  auto const& stated = sidecar->json()["sha256"];
  if (!stated.is_string() || stated.get_ref<std::string const&>().size() != 2 * k_digest)
    fail_json(error_code::invalid_sidecar, sidecar->name(), "sha256",
              "is not 64 hexadecimal digits", "remove \"sha256\", or build the fatbin again");
  return stated.get<std::string>();
}

checked_sidecar check_digest(sidecar_ptr sidecar, std::filesystem::path const& file,
                             bytes_view bytes, std::string const& hint)
{
  if (!stated_sha256(sidecar)) return {.sidecar = std::move(sidecar)};
  auto const digest = sha256(bytes);
  require_digest(sidecar, file, digest, hint);
  return {.sidecar = std::move(sidecar), .digest = digest};
}

void require_digest(sidecar_ptr const& sidecar, std::filesystem::path const& file,
                    digest256 const& digest, std::string const& hint)
{
  auto const stated = stated_sha256(sidecar);
  if (!stated || *stated == to_hexadecimal(digest)) return;
  auto const json = std::filesystem::path(sidecar->name()).filename().string();
  throw format_error(
      0, {.message = detail::format("{}: is not the file that {} states (sha256 {:.12}…, not "
                                    "{:.12}…) [digest-mismatch]",
                                    file.string(), json, *stated, to_hexadecimal(digest)),
          .input = file.string(),
          .code = error_code::digest_mismatch,
          .hint = hint});
}

}  // namespace fatlink::detail
