// SPDX-License-Identifier: Apache-2.0
// The errors of ranks that do not answer, or not with a message. Threads: no shared state.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "cluster/error_record.hpp"
#include "util/text/sequence.hpp"

namespace fatlink::detail {

/// "rank 3", "ranks 3, 5 and 8"; of more than eight ranks the first eight, and how many others.
std::string name_ranks(std::vector<unsigned> const& ranks);

/// `missing` names what they did not send: "the image".
error_record silence_of(std::vector<unsigned> ranks, char const* missing,
                        std::chrono::milliseconds limit);
error_record damage_from(unsigned rank, sequence_error const& cause);

/// An image of `size` bytes cannot be sent.
error_record too_large(std::uint64_t size);

/// The same error, whose message names the rank: "rank 3: …".
error_record of_rank(unsigned rank, error_record record);

}  // namespace fatlink::detail
