// SPDX-License-Identifier: Apache-2.0
// Makes each link once for a whole job. Of the ranks that need the same link, the lowest makes it,
// and the others receive the image; the others neither search for nvJitLink or the helper nor start
// them. Ranks need the same link if target, mode, options and the bytes of the inputs are equal,
// and their linkers have equal settings for nvJitLink and confinement. File names may differ.
// docs/clusters.md describes the messages, the time limits and the behaviour of launchers.
//
// All ranks must call the functions of this header in the same order. A call returns on all ranks,
// or throws the same error on all ranks, with equal type, message, code, log, hint and findings. If
// one rank fails before or after the link, for example because a file is unreadable, the error
// names the rank: "rank 3: …". If a rank does not answer within the time limit, the others throw a
// rank_error that names it, so no call waits forever. Only a rank that cannot reach rank 0, or that
// fails itself, can have a different error. After a rank_error, end the job (MPI_Abort), because
// other collective calls could wait forever.
//
// Ranks trust each other: a received image is checked for damage, but not for its origin.
// Threads: as for the channel.
#pragma once

#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include "fatlink/device.hpp"
#include "fatlink/error.hpp"
#include "fatlink/export.hpp"
#include "fatlink/image.hpp"
#include "fatlink/input.hpp"
#include "fatlink/link_options.hpp"
#include "fatlink/linker.hpp"
#include "fatlink/prepare.hpp"
#include "fatlink/rank_channel.hpp"

namespace FATLINK_API fatlink {

/// Some ranks did not answer in time (code unresponsive-rank), or sent messages that are damaged or
/// from another version of fatlink (invalid-message). The stage is linker.
class rank_error : public error {
 public:
  /// An error of `ranks`.
  rank_error(std::vector<unsigned> ranks, error_details details)
      : error(stage::linker, std::move(details)), ranks_(std::move(ranks))
  {
  }
  /// The ranks at fault, in ascending order.
  [[nodiscard]] std::vector<unsigned> const& ranks() const noexcept { return ranks_; }

 private:
  std::vector<unsigned> ranks_;
};

/// How a collective link works.
struct link_once_settings {
  /// How long to wait for other ranks in each step of the call; above 0. Choose more than the time
  /// limit of a link, and more than the time between the first and the last rank's call. Since
  /// ranks may wait for ranks that are waiting themselves, a call can take up to six times this
  /// limit.
  std::chrono::milliseconds wait_limit = std::chrono::minutes(2);
};

/// What a rank needs linked.
struct link_task {
  std::vector<input> inputs = {};      ///< the inputs, the library first
  fatlink::link_options options = {};  ///< for the rank's device: device::link_options
};

/// Links this rank's task, or receives its image. `read` returns the task, for example after
/// reading its files. If it throws, all ranks throw that error (code rank-failed if it is not a
/// fatlink::error). A received image has no times, and has the cache outcome of the rank that
/// linked.
/// @throws rank_error see above. Throws on all ranks what `read` throws, prefixed with the rank,
///   and what linker::link throws on the rank that links.
/// @throws usage_error `wait_limit` is not above 0.
linked_image link_once(rank_channel& ranks, linker& linker, std::function<link_task()> const& read,
                       link_once_settings const& settings = {});
/// As above, for inputs that have already been read.
linked_image link_once(rank_channel& ranks, linker& linker, std::vector<input> const& inputs,
                       link_options const& options, link_once_settings const& settings = {});

/// As prepare(), but makes each link once for all ranks that need it. `open` opens the rank's
/// device, for example `[] { return *fatlink::open_device("gpu:0"); }`. If opening, reading or
/// loading throws on one rank, all ranks throw that error.
/// Throws as link_once and prepare.
[[nodiscard]] prepared_plan prepare_once(rank_channel& ranks, std::function<device()> const& open,
                                         linker& linker, plan_request const& request,
                                         link_once_settings const& settings = {});
/// As above, for a device that is already open.
[[nodiscard]] prepared_plan prepare_once(rank_channel& ranks, device const& destination,
                                         linker& linker, plan_request const& request,
                                         link_once_settings const& settings = {});

}  // namespace fatlink
