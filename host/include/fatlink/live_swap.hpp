// SPDX-License-Identifier: Apache-2.0
// How device code is replaced while it is being launched: what live modules (live_module.hpp) and
// live plans (live_plan.hpp) share. Units: milliseconds of wall time. Threads: values.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fatlink/export.hpp"
#include "fatlink/image.hpp"
#include "fatlink/link_options.hpp"

namespace FATLINK_API fatlink {

/// Which link of a swap made a version.
enum class swap_tier {
  only,   ///< the one link of the swap
  first,  ///< the quick link; the `best` one follows
  best,   ///< the lto link after the quick one
};
/// "only", "first" or "best"; "unknown" for a value outside the enumeration.
char const* to_string(swap_tier tier) noexcept;

/// Where the time of a swap went.
struct swap_times {
  double wait_ms = 0;     ///< waiting for other swaps
  double read_ms = 0;     ///< reading the inputs, where the swap reads files
  double check_ms = 0;    ///< preflight
  double link_ms = 0;     ///< the rest of the link: the cache, the helper, nvJitLink
  double load_ms = 0;     ///< loading the image and finding the kernels
  double verify_ms = 0;   ///< the caller's verification
  double publish_ms = 0;  ///< making calls use the new version

  /// The sum.
  [[nodiscard]] double total_ms() const noexcept
  {
    return wait_ms + read_ms + check_ms + link_ms + load_ms + verify_ms + publish_ms;
  }
};

/// What a swap did.
struct swap_report {
  std::uint64_t version = 0;                 ///< number of the version: 1, 2, …
  link_mode mode = link_mode::lto;           ///< of the link
  cache_outcome cache = cache_outcome::off;  ///< whether the image came from the cache
  swap_tier tier = swap_tier::only;          ///< which link of the swap it was
  /// Why a tiered swap made no quick link: an input without SASS, for example. Empty otherwise.
  std::string single_tier_reason = {};
  swap_times times = {};                   ///< where its time went
  std::vector<std::string> warnings = {};  ///< of the link, one line each
};

/// How the second link of a tiered swap ended.
struct tier_result {
  swap_report report = {};        ///< of the version that it published
  std::exception_ptr error = {};  ///< what it threw instead; null: it published its version
};

/// How a live module or live plan links. Every field has a default.
struct live_settings {
  /// For every swap that states none: a target and mode as device::link_options gives them. None:
  /// those of device::link_options(link_mode::lto).
  std::optional<fatlink::link_options> link = {};
  /// Whether a swap publishes a quick link at once and the lto link when that is ready, in the
  /// background. The quick link needs no compiler: on a GPU the sass mode, for which every input
  /// has SASS for the target; on the reference device the ptx mode. Of the link options it takes
  /// those that have an effect in its mode. Only with link_mode::lto.
  bool tiered = false;
  /// Called on a thread of the live module after each second link of a tiered swap, except one that
  /// a later swap has made obsolete: such a version is not published, and nothing is called. Must
  /// not throw.
  std::function<void(tier_result const&)> on_best = {};
};

}  // namespace fatlink
