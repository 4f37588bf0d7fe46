// SPDX-License-Identifier: Apache-2.0
// Which nvJitLink reads LTO-IR, by the versions in its header. Each toolkit writes its own versions
// of the container and of NVVM IR, and both only rise (measured):
//
// toolkit  container  NVVM IR
// 12.9     1.64       2.93
// 13.0     1.65       2.98
// 13.1     1.66       2.107
// 13.2     1.66       2.114
// 13.3     1.67       2.115
// 13.4     1.67       2.120
// 13.5     1.67       2.131
//
// All write debug metadata 3.2. Raw LTO-IR states the three, a compressed entry of a fatbin the
// container only.
//
// The rule: nvJitLink reads no LTO-IR with a container, NVVM IR or debug metadata version above
// those of its own toolkit (measured with 13.0: each alone is NVJITLINK_ERROR_OUTDATED_LIBRARY).
// So versions that the table does not list are still in an order with those that it lists: LTO-IR
// 1.68 is of a toolkit newer than 13.5, and no nvJitLink up to 13.5 reads it. An nvJitLink newer
// than the table may read it; nothing is then reported, and nvJitLink decides. A container below
// 1.64 is of a toolkit older than 12.9, so of another major version than CUDA 13.
//
// Threads: no shared state.
#pragma once

#include <optional>

#include "fatlink/fatbin.hpp"
#include "fatlink/preflight.hpp"
#include "input/ltoir.hpp"

namespace fatlink::detail {

/// The versions that LTO-IR states.
struct ltoir_versions {
  ltoir_version container = {};
  std::optional<ltoir_version> ir = {};              ///< of raw LTO-IR only
  std::optional<ltoir_version> debug_metadata = {};  ///< of raw LTO-IR only
};

/// The versions of `entry`, an entry with LTO-IR: those of its payload if it is raw, else that of
/// the entry's header.
ltoir_versions versions_of(fatbin_entry const& entry);

/// The toolkit with the NVVM IR version; without one in the table, the oldest with the container
/// version. Nothing if no row has either.
std::optional<toolkit_version> toolkit_of(ltoir_versions const& versions);

/// Whether `toolkit_of(versions)` is certain: newer toolkits do not write the same versions.
bool is_of_one_toolkit(ltoir_versions const& versions);

/// The newest toolkit of the table whose nvJitLink is too old for `versions`; nothing if each
/// reads them.
std::optional<toolkit_version> newest_too_old(ltoir_versions const& versions);

/// The toolkit in the row after that of `toolkit`; nothing after the last.
std::optional<toolkit_version> toolkit_after(toolkit_version toolkit);

/// The toolkit of the last row: the newest that fatlink was tested with.
toolkit_version newest_known_toolkit() noexcept;

/// The oldest toolkit of the table, if the container version is below its; else nothing.
std::optional<toolkit_version> older_than(ltoir_versions const& versions);

}  // namespace fatlink::detail
