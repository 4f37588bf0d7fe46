// SPDX-License-Identifier: Apache-2.0
// Until when the steps of a collective call wait. Ranks make the call within one limit of each
// other; each step takes at most one. A rank that waits for one which may be waiting itself allows
// for that rank's limit, so that the rank which is at fault is noticed, and named, before those
// that depend on it. Threads: no shared state.
#pragma once

#include <algorithm>
#include <bit>
#include <chrono>

#include "fatlink/rank_channel.hpp"

namespace fatlink::detail {

class schedule {
 public:
  using time_point = rank_channel::time_point;

  /// Starts with the report.
  schedule(std::chrono::milliseconds limit, unsigned ranks)
      : limit_(std::min<time_point::duration>(limit, k_longest)),
        deepest_(static_cast<int>(std::bit_width(ranks)))
  {
  }

  /// The link starts: the roles are known, at about the same time on all ranks.
  void start_link() { start_ = now(); }

  /// Rank 0 has all reports.
  [[nodiscard]] time_point reports_end() const { return start_ + limit_; }
  /// A rank has its role.
  [[nodiscard]] time_point roles_end() const { return start_ + 2 * limit_ + 2 * grace(); }
  /// A rank has the image, with `depth` ranks above it.
  [[nodiscard]] time_point image_end(unsigned depth) const
  {
    return start_ + limit_ + static_cast<int>(depth) * grace();
  }
  /// Other ranks have taken the image.
  [[nodiscard]] time_point forwarding_end() const { return link_end() + limit_; }
  /// Rank 0 has all confirmations.
  [[nodiscard]] time_point confirmations_end() const { return link_end() + 2 * limit_; }
  /// A rank has the verdict.
  [[nodiscard]] time_point verdict_end() const { return link_end() + 3 * limit_; }
  /// Ranks have taken an error, except for those that have ended.
  [[nodiscard]] time_point error_end() const { return now() + grace(); }

 private:
  static constexpr time_point::duration k_longest = std::chrono::hours(24 * 365);

  static time_point now() { return std::chrono::steady_clock::now(); }
  [[nodiscard]] time_point::duration grace() const { return limit_ / 16; }
  [[nodiscard]] time_point link_end() const { return start_ + limit_ + deepest_ * grace(); }

  time_point::duration limit_;
  int deepest_;
  time_point start_ = now();
};

}  // namespace fatlink::detail
