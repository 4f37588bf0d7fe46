// SPDX-License-Identifier: Apache-2.0
// The digest that a .json beside an input file states. Threads: no shared state.
#pragma once

#include <filesystem>
#include <optional>

#include "fatlink/bytes.hpp"

namespace fatlink::detail {

/// The sidecar of the file `path`; nothing if there is none. As stated_digest() says, but an x.json
/// without a digest is for every file of the stem, and one with a digest also for the source
/// (x.cu, x.ll, x.bc). That of a .json is itself. Beside other files than fatbins, JSON of other
/// programs (is_sidecar) is none. Beside a source, a .json that is not JSON is an error.
/// @throws file_error the sidecar is malformed.
std::optional<std::filesystem::path> find_sidecar(std::filesystem::path const& path);

/// The digest of `bytes`, the content of the file `path`, if a sidecar states it; else nothing.
///
/// The sidecar of x.fatbin is x.json. That of another file, x.cubin, is x.cubin.json, which is for
/// this file only; without one x.json, which any file of the stem may have made: it is not used if
/// there is an x.fatbin, nor if it states the digest of another file of that stem (x.o). Likewise
/// x.cubin.json is not used beside an x.cubin.fatbin. A .json has no sidecar. Beside other files
/// than fatbins, a .json of another program (is_sidecar) is ignored.
/// @throws format_error (digest-mismatch) the sidecar states another digest, and of x.json: that of
///   no file of the stem. @throws file_error the sidecar is malformed.
std::optional<digest256> stated_digest(std::filesystem::path const& path, bytes_view bytes);

}  // namespace fatlink::detail
