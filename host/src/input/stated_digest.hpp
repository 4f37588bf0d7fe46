// SPDX-License-Identifier: Apache-2.0
// The digest that a .json beside an input file states. Threads: no shared state.
#pragma once

#include <filesystem>
#include <optional>

#include "fatlink/bytes.hpp"

namespace fatlink::detail {

/// The digest of `bytes`, the content of the file `path`, if a sidecar states it; else nothing.
///
/// The sidecar of x.fatbin is x.json. That of another file, x.cubin, is x.cubin.json, which is for
/// this file only; without one x.json, which any file of the stem may have made: it is not used if
/// there is an x.fatbin, nor if it states the digest of another file of that stem (x.o). Likewise
/// x.cubin.json is not used beside an x.cubin.fatbin. A .json has no sidecar.
/// @throws format_error (digest-mismatch) the sidecar states another digest, and of x.json: that of
///   no file of the stem. @throws file_error the sidecar is malformed.
std::optional<digest256> stated_digest(std::filesystem::path const& path, bytes_view bytes);

}  // namespace fatlink::detail
