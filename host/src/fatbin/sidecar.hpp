// SPDX-License-Identifier: Apache-2.0
// The sidecar: the .json beside a fatbin, with its digest, its reference and its launch plan.
// Its keys: docs/fatbin_format.md, "Sidecar". Threads: no shared state.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "fatbin/json_file.hpp"
#include "fatlink/bytes.hpp"

namespace fatlink::detail {

/// Null: there is none.
using sidecar_ptr = std::shared_ptr<json_file const>;

/// The path of the sidecar of `fatbin`: the same name with the ending .json.
std::filesystem::path sidecar_path(std::filesystem::path fatbin);

/// The file `path`; null if nothing is there. @throws file_error as json_file::read.
sidecar_ptr read_sidecar(std::filesystem::path const& path);

/// As read_sidecar, but null also where the file is not a sidecar but JSON of another program, such
/// as clang's -ftime-trace: it is not an object that states a digest, a reference or a launch plan.
sidecar_ptr read_own_sidecar(std::filesystem::path const& path);

/// Whether `json` states a digest, a reference or a launch plan.
bool has_sidecar_keys(nlohmann::json const& json);

/// The SHA-256 that a sidecar states, 64 hexadecimal digits; nothing if it states none, or is null.
/// @throws file_error it states something else.
std::optional<std::string> stated_sha256(sidecar_ptr const& sidecar);

/// A sidecar, and the digest of its file if it states that digest.
struct checked_sidecar {
  sidecar_ptr sidecar = {};
  std::optional<digest256> digest = {};
};

/// The remedy where the digests of a file and of its sidecar differ.
constexpr char const* k_install_together =
    "install the file and its .json together, or build it again";

/// `sidecar`, whose digest, if it states one, must be that of `bytes`, the content of `file`.
/// @throws format_error (digest-mismatch) it is another one. @throws file_error as stated_sha256.
checked_sidecar check_digest(sidecar_ptr sidecar, std::filesystem::path const& file,
                             bytes_view bytes, std::string const& hint = k_install_together);

/// @throws format_error (digest-mismatch) `file`, which has `digest`, is not the one that its
///   sidecar states.
void require_digest(sidecar_ptr const& sidecar, std::filesystem::path const& file,
                    digest256 const& digest, std::string const& hint = k_install_together);

}  // namespace fatlink::detail
