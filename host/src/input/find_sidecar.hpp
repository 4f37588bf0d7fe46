// SPDX-License-Identifier: Apache-2.0
// Which .json beside an input file is its sidecar:
//   of x.fatbin      x.json
//   of a source      x.cu.json (unless there is an x.cu.fatbin), or else x.json
//   of another file  x.cubin.json (unless there is an x.cubin.fatbin), or else x.json, if that
//                    states no digest, or the digest of x.cubin
//   of a .json       itself
// Beside other files than fatbins, JSON of other programs is ignored. Threads: no shared state.
#pragma once

#include <filesystem>

#include "fatbin/sidecar.hpp"
#include "fatlink/input.hpp"

namespace fatlink::detail {

/// The sidecar of the file `path`, which need not exist; null: there is none.
/// @throws file_error it is malformed; beside a source, also where it is not JSON.
sidecar_ptr find_sidecar(std::filesystem::path const& path);

/// The sidecar of the file `path` with the content `bytes`, whose digest is compared. An x.json
/// with the digest of another file of the stem (x.o), or beside an x.fatbin, is not that of
/// x.cubin.
/// @throws format_error (digest-mismatch) the sidecar states another digest; of x.json: that of no
///   file of the stem. @throws file_error it is malformed.
checked_sidecar find_sidecar(std::filesystem::path const& path, bytes_view bytes);

/// The sidecar of an input: that which was found when its file was read. Of other inputs, such as
/// compiled sources, that of the file of their name; looked up at the first call, and kept.
/// Threads: safe.
/// @throws file_error as find_sidecar. @throws format_error (digest-mismatch) the file was replaced
///   after the input was read.
sidecar_ptr sidecar_of(input const& file);

}  // namespace fatlink::detail
