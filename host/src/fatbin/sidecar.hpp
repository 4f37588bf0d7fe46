// SPDX-License-Identifier: Apache-2.0
// The .json beside a fatbin, as both its readers see it: the digest, and the reference.
// Its keys: docs/fatbin_format.md, "Sidecar".
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "fatlink/bytes.hpp"

namespace fatlink::detail {

/// The remedy for every malformed one.
constexpr char const* k_json_example =
    R"(see share/fatlink/relu_poly.json: "name", "summary", "hook", "reference", "tolerance_ulp")";

/// @throws file_error (stage verify) unreadable, larger than 1 MiB, no JSON, no object.
nlohmann::json read_json(std::filesystem::path const& path);

/// The same of bytes already in memory; `name` is for messages.
nlohmann::json parse_json(bytes_view bytes, std::string const& name);

/// What the .json beside `fatbin` states as its SHA-256, in lower case; nothing where there is
/// no .json, or it states none. @throws file_error as read_json, or no 64 hexadecimal digits.
std::optional<std::string> stated_sha256(std::filesystem::path const& fatbin);

}  // namespace fatlink::detail
