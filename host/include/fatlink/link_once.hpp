// SPDX-License-Identifier: Apache-2.0
// One link for a whole job: of the ranks that need the same link, the lowest one makes it, and the
// others receive the image. The others open no nvJitLink and start no helper, and do not even look
// for them. Ranks need the same link if target, mode, options and the bytes of the inputs are the
// same, and their linkers have the same settings of nvJitLink and confinement; names of files may
// differ. docs/clusters.md describes the messages, the time limits, and what launchers do.
//
// All ranks call the function, in the same order of calls. It returns on all of them or throws the
// same error on all of them: type, message, code, log, hint and findings. An error that one rank
// has before or after the link, such as an unreadable file, names the rank: "rank 3: …". A rank
// that does not answer within the limit is named by a rank_error; so nothing waits without a limit.
// Only a rank that cannot reach rank 0, or that fails itself, may have another error than the rest.
// After a rank_error, end the job (MPI_Abort): other collective calls could wait without a limit.
//
// Ranks trust each other: an image that is received is checked for damage, not for origin.
// Threads: as the channel.
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

/// Ranks that did not answer in time (code unresponsive-rank), or whose messages are damaged or of
/// another version of fatlink (invalid-message). Stage: linker.
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
  /// How long to wait for other ranks in each step of the call. More than the time limit of a link,
  /// and more than the difference between the times at which the ranks make the call. Ranks that
  /// wait for other ones which are waiting themselves allow for that: a call ends after at most
  /// six times this limit. Must be above 0.
  std::chrono::milliseconds wait_limit = std::chrono::minutes(2);
};

/// What a rank needs linked.
struct link_task {
  std::vector<input> inputs = {};      ///< the library first
  fatlink::link_options options = {};  ///< for the rank's device: device::link_options
};

/// The image of this rank's task. `read` makes the task, for example reads its files; what it
/// throws is the error of all ranks (an exception other than fatlink::error: code rank-failed).
/// An image that was received states no times, and the cache outcome of the rank that linked.
/// @throws rank_error see above. Throws what `read` throws, prefixed with the rank, and what
///   linker::link throws on the rank that links, on all ranks.
/// @throws usage_error `wait_limit` is not above 0.
linked_image link_once(rank_channel& ranks, linker& linker, std::function<link_task()> const& read,
                       link_once_settings const& settings = {});
/// As above, of inputs that have been read already.
linked_image link_once(rank_channel& ranks, linker& linker, std::vector<input> const& inputs,
                       link_options const& options, link_once_settings const& settings = {});

/// As prepare(), with one link for all ranks that need the same. `open` opens the rank's device,
/// for example `[] { return *fatlink::open_device("gpu:0"); }`. What it throws on one rank, and
/// what reading and loading throw, is the error of all ranks.
/// Throws as link_once and prepare.
[[nodiscard]] prepared_plan prepare_once(rank_channel& ranks, std::function<device()> const& open,
                                         linker& linker, plan_request const& request,
                                         link_once_settings const& settings = {});
/// As above, for a device that is open already.
[[nodiscard]] prepared_plan prepare_once(rank_channel& ranks, device const& destination,
                                         linker& linker, plan_request const& request,
                                         link_once_settings const& settings = {});

}  // namespace fatlink
