// SPDX-License-Identifier: Apache-2.0
#include "fatbin/sidecar.hpp"

#include <algorithm>
#include <array>

#include "fatlink/fatbin.hpp"
#include "util/bytes/sha256.hpp"
#include "util/files/read_file.hpp"
#include "util/limits.hpp"
#include "util/text/format.hpp"
#include "util/text/json.hpp"

namespace fatlink::detail {
namespace {

constexpr std::size_t k_digest = 32;  // bytes of a SHA-256

/// The keys of a sidecar that JSON of other programs seldom has.
constexpr std::array k_own_keys{"sha256",    "hook",          "hooks",
                                "reference", "tolerance_ulp", "launches"};

[[noreturn]] void fail_sidecar(std::string const& file, std::string const& cause, char const* hint)
{
  throw file_error(stage::sidecar, {.message = detail::format("{}: {}", file, cause),
                                    .input = file,
                                    .code = error_code::invalid_sidecar,
                                    .hint = hint});
}

/// "line 3, column 5" of the byte `position` of `text`, which counts from 1.
std::string place_of(std::string_view text, std::size_t position)
{
  auto const before = text.substr(0, position == 0 ? 0 : position - 1);
  auto const line = before.rfind('\n');
  return detail::format("line {}, column {}", std::ranges::count(before, '\n') + 1,
                        before.size() - (line == std::string_view::npos ? 0 : line + 1) + 1);
}

}  // namespace

std::filesystem::path sidecar_of(std::filesystem::path fatbin)
{
  fatbin.replace_extension(".json");
  return fatbin;
}

json_document parse_json(bytes_view bytes, std::string const& name)
{
  std::string_view const text(reinterpret_cast<char const*>(bytes.data()), bytes.size());
  if (is_nested_deeper(text, limits::k_json_depth))
    fail_sidecar(
        name,
        detail::format("nests arrays and objects deeper than {}, the limit", limits::k_json_depth),
        "nest arrays and objects less deeply");
  try {
    auto json = parse_document(text);
    if (!json->is_object())
      fail_sidecar(name, "is not a JSON object", "write one object: {\"name\": \"…\", …}");
    return json;
  } catch (nlohmann::json::parse_error const& error) {
    fail_sidecar(name, detail::format("is not JSON ({})", place_of(text, error.byte)),
                 "correct the syntax there; if a build wrote the file, build again");
  } catch (nlohmann::json::out_of_range const&) {
    fail_sidecar(name, "holds a number that is out of range",
                 "write a number in the range of float64");
  }
}

json_document read_json(std::filesystem::path const& path)
{
  return parse_json(read_file(path, limits::k_json_bytes, k_json_example), path.string());
}

bool has_sidecar_keys(nlohmann::json const& json)
{
  return std::ranges::any_of(k_own_keys, [&](char const* key) { return json.contains(key); });
}

bool is_sidecar(std::filesystem::path const& path)
try {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return false;
  return has_sidecar_keys(*read_json(path));
} catch (file_error const&) {
  return false;
}

std::optional<std::string> stated_sha256(std::filesystem::path const& fatbin)
{
  return sha256_in(sidecar_of(fatbin));
}

std::optional<std::string> sha256_in(std::filesystem::path const& path)
{
  std::error_code ignored;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) return std::nullopt;
  return sha256_in(*read_json(path), path.string());
}

std::optional<std::string> sha256_in(nlohmann::json const& json, std::string const& name)
{
  if (!json.contains("sha256")) return std::nullopt;
  auto const& stated = json["sha256"];
  if (!stated.is_string() || stated.get<std::string>().size() != 2 * k_digest)
    fail_sidecar(name, "\"sha256\" is not 64 hexadecimal digits",
                 "remove \"sha256\", or build the fatbin again");
  return stated.get<std::string>();
}

std::optional<digest256> check_stated_digest(std::filesystem::path const& file, bytes_view bytes)
{
  auto const sidecar = sidecar_of(file);
  auto const stated = sha256_in(sidecar);
  if (!stated) return std::nullopt;
  auto const digest = sha256(bytes);
  if (*stated == to_hexadecimal(digest)) return digest;
  refuse_digest(file, digest, sidecar, *stated,
                "install the file and its .json together, or build it again");
}

void refuse_digest(std::filesystem::path const& file, digest256 const& digest,
                   std::filesystem::path const& sidecar, std::string const& stated,
                   std::string const& hint)
{
  throw format_error(
      0, {.message = detail::format("{}: is not the file that {} states (sha256 {:.12}…, not "
                                    "{:.12}…) [digest-mismatch]",
                                    file.string(), sidecar.filename().string(), stated,
                                    to_hexadecimal(digest)),
          .input = file.string(),
          .code = error_code::digest_mismatch,
          .hint = hint});
}

}  // namespace fatlink::detail
