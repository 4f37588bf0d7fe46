// SPDX-License-Identifier: Apache-2.0
// Swaps: types that live modules (live_module.hpp) and live plans (live_plan.hpp) share.
// Units: milliseconds of wall time.
// Threads: value types; objects share no state.
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

/// The link of a swap that made a version.
enum class swap_tier {
  only,   ///< the only link of the swap
  first,  ///< the first link of a tiered swap (live_settings::tiered); `best` follows
  best,   ///< the second link of a tiered swap: the lto link
};
/// "only", "first" or "best"; "unknown" for a value outside the enumeration.
char const* to_string(swap_tier tier) noexcept;

/// The duration of each step of a swap.
struct swap_times {
  double wait_ms = 0;     ///< waiting for other swaps
  double read_ms = 0;     ///< reading the inputs, if the swap reads files
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

/// The result of a swap.
struct swap_report {
  std::uint64_t version = 0;                 ///< number of the version: 1, 2, …
  link_mode mode = link_mode::lto;           ///< of the link
  cache_outcome cache = cache_outcome::off;  ///< whether the image came from the cache
  swap_tier tier = swap_tier::only;          ///< which link of the swap made the version
  /// Why a tiered swap made only the lto link, for example because an input has no SASS. Otherwise
  /// empty.
  std::string single_tier_reason = {};
  swap_times times = {};                   ///< duration of each step
  std::vector<std::string> warnings = {};  ///< of the link, one line each
};

/// The result of the second link of a tiered swap.
struct tier_result {
  swap_report report = {};        ///< report of the version that it published
  std::exception_ptr error = {};  ///< the exception if it failed; null: it succeeded
};

/// How a live module or live plan links. Every field has a default.
struct live_settings {
  /// The link options of swaps that have none of their own. Target and mode must be as
  /// device::link_options returns them. None: device::link_options(link_mode::lto).
  std::optional<fatlink::link_options> link = {};
  /// Whether swaps are tiered: a swap first publishes a link that needs no compiler and is
  /// therefore fast, and later replaces it with the lto link, which is made in the background. Only
  /// with link_mode::lto. On a GPU, the first link uses sass mode, and every input must have SASS
  /// for the target; on the reference device, it uses ptx mode. The first link uses those link
  /// options that have an effect in its mode.
  bool tiered = false;
  /// Called on a thread of the live module after each second link of a tiered swap. It is not
  /// called if a later swap has made that link obsolete, because its version is then not published.
  /// Must not throw.
  std::function<void(tier_result const&)> on_best = {};
};

}  // namespace fatlink
