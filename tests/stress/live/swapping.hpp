// SPDX-License-Identifier: Apache-2.0
// A thread that swaps a live module between two transforms, with broken swaps in between, and kills
// the helper during some links.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fatlink/live_module.hpp"
#include "launching.hpp"

namespace stress {

/// How many swaps of each kind.
struct swap_plan {
  std::size_t swaps = 1000;
  std::size_t broken = 1000;
  std::size_t killed = 10;
  std::size_t launches = 10000;  ///< over which the swaps are distributed
};

class swapping {
 public:
  /// `folder`: for damaged files.
  swapping(fatlink::live_module live, fatlink::link_options link, std::filesystem::path folder);

  /// The inputs of one of the two transforms.
  [[nodiscard]] std::vector<fatlink::input> const& inputs(std::size_t transform) const
  {
    return transforms_[transform % 2];
  }

  /// Makes the swaps while others launch.
  void run(swap_plan const& plan, launch_counts const& counts);

  /// Counts of swaps that succeeded, were refused by kind, or ended otherwise than they should.
  [[nodiscard]] nlohmann::json report() const;
  /// Swaps that have ended, broken ones among them; safe to call while others run.
  [[nodiscard]] std::size_t ended() const { return ended_; }
  /// Whether each swap ended as it should.
  [[nodiscard]] bool is_right() const { return unexpected_.empty(); }

 private:
  void swap();
  void break_swap(std::size_t number);
  void kill_helper_during_swap();
  void expect_refusal(std::string const& kind, std::function<void()> const& work);

  fatlink::live_module live_;
  fatlink::link_options link_;
  std::filesystem::path damaged_;
  std::array<std::vector<fatlink::input>, 2> transforms_;
  std::atomic<std::size_t> ended_ = 0;
  std::size_t swaps_ = 0;
  std::size_t killed_links_ = 0;
  std::map<std::string, std::size_t> refused_;
  std::map<std::string, double> slowest_ms_;
  std::map<std::string, double> total_ms_;
  std::vector<std::string> unexpected_;
};

}  // namespace stress
