// SPDX-License-Identifier: Apache-2.0
// The sidecar of a packed fatbin. Threads: no shared state.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fatbin/sidecar.hpp"
#include "fatlink/fatbin.hpp"

namespace fatlink::cli {

/// The path of the sidecar of the fatbin `output`: x.json of x.fatbin; of another name, x.bin,
/// x.bin.json, because x.json may be that of an x.fatbin.
std::filesystem::path packed_sidecar(std::filesystem::path output);

/// Whose sidecar states the reference, if both have one.
enum class sidecar_precedence { output, inputs };

/// The sidecar of `packed`, which will be at `output`: its SHA-256, and the members of the sidecar
/// that is there or of `sidecars`, those of the inputs, by `precedence`. Adds a warning where these
/// differ; it then has none of them. Adds a warning where the sidecar that is there is kept, states
/// the digest of other bytes, and `sidecars` do not have its members. @throws file_error a
/// malformed sidecar.
nlohmann::json make_sidecar(fatbin const& packed, std::filesystem::path const& output,
                            std::vector<detail::sidecar_ptr> const& sidecars,
                            sidecar_precedence precedence, std::vector<std::string>& warnings);

}  // namespace fatlink::cli
