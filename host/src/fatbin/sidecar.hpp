// SPDX-License-Identifier: Apache-2.0
// The sidecar: the .json beside a fatbin, with its digest, its reference and its launch plan.
// Its keys: docs/fatbin_format.md, "Sidecar".
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "fatlink/bytes.hpp"
#include "util/text/json.hpp"

namespace fatlink::detail {

/// The path of the sidecar of `fatbin`: the same name with the ending .json.
std::filesystem::path sidecar_of(std::filesystem::path fatbin);

/// The remedy for a malformed sidecar.
constexpr char const* k_json_example =
    R"(for example {"name": "half", "summary": "x / 2", "hook": "user_transform", )"
    R"("reference": "x / 2", "tolerance_ulp": 1})";

/// Whether `json` states a digest or a reference.
bool has_sidecar_keys(nlohmann::json const& json);

/// Whether the file `path` is a sidecar and not the JSON of another program, such as clang's
/// -ftime-trace: an object with a member that states a digest, a reference or a launch plan.
bool is_sidecar(std::filesystem::path const& path);

/// @throws file_error (stage sidecar) unreadable, larger than 1 MiB, not JSON, or not an object.
json_document read_json(std::filesystem::path const& path);

/// As above, for bytes in memory; `name` is for messages.
json_document parse_json(bytes_view bytes, std::string const& name);

/// The SHA-256 of `fatbin` that its sidecar states, in lower case; nothing if there is no sidecar
/// or it states none. @throws file_error as read_json, or not 64 hexadecimal digits.
std::optional<std::string> stated_sha256(std::filesystem::path const& fatbin);

/// The digest of `bytes`, the content of `file`, if the sidecar of `file` states it; nothing if it
/// states none. @throws format_error (digest-mismatch) it states another digest. @throws file_error
/// as stated_sha256.
std::optional<digest256> check_stated_digest(std::filesystem::path const& file, bytes_view bytes);

/// The SHA-256 that the file `sidecar` states; as stated_sha256.
std::optional<std::string> sha256_in(std::filesystem::path const& sidecar);

/// As above, of `json`, the content of the file `name`.
std::optional<std::string> sha256_in(nlohmann::json const& json, std::string const& name);

/// @throws format_error (digest-mismatch) "FILE: is not the file that SIDECAR states …", with both
/// digests.
[[noreturn]] void refuse_digest(std::filesystem::path const& file, digest256 const& digest,
                                std::filesystem::path const& sidecar, std::string const& stated,
                                std::string const& hint);

}  // namespace fatlink::detail
