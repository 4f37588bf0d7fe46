// SPDX-License-Identifier: Apache-2.0
#include "cluster/rank_errors.hpp"

#include <algorithm>
#include <utility>

#include "cluster/exchange.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr std::size_t k_most_names = 8;

}  // namespace

std::string name_ranks(std::vector<unsigned> const& ranks)
{
  if (ranks.size() == 1) return detail::format("rank {}", ranks.front());
  auto const named = std::min(ranks.size(), k_most_names);
  std::string text = "ranks ";
  for (std::size_t index = 0; index < named; ++index) {
    auto const is_last = index + 1 == ranks.size();
    text += detail::format("{}{}", index == 0 ? "" : is_last ? " and " : ", ", ranks[index]);
  }
  if (ranks.size() > named) text += detail::format(" and {} others", ranks.size() - named);
  return text;
}

error_record silence_of(std::vector<unsigned> ranks, char const* missing,
                        std::chrono::milliseconds limit)
{
  auto const seconds = std::chrono::duration<double>(limit).count();
  auto const names = name_ranks(ranks);
  return {.type = error_type::rank,
          .where = stage::linker,
          .details = {.message = detail::format(
                          "no answer from {}: {} is missing (limit of each step: {} s)", names,
                          missing, seconds),
                      .input = names,
                      .code = error_code::unresponsive_rank,
                      .hint = "see the launcher's messages: the process has ended or is stopped; "
                              "if it only needs longer, raise link_once_settings::wait_limit"},
          .ranks = std::move(ranks)};
}

error_record damage_from(unsigned rank, sequence_error const& cause)
{
  return {.type = error_type::rank,
          .where = stage::linker,
          .details = {.message = detail::format("the message of rank {} cannot be used: {}", rank,
                                                cause.what()),
                      .input = name_ranks({rank}),
                      .code = error_code::invalid_message,
                      .hint = "run the same version of fatlink on all ranks, and the same calls of "
                              "link_once and prepare_once in the same order"},
          .ranks = {rank}};
}

error_record too_large(std::uint64_t size)
{
  return {
      .type = error_type::link,
      .where = stage::linker,
      .details = {
          .message = detail::format("the image has {} bytes; one that is sent to other ranks has "
                                    "at most {}",
                                    size, k_largest_body),
          .input = "image",
          .code = error_code::above_limit,
          .hint = "link on each rank, or pass fewer kernels in <link_options::kernels>"}};
}

error_record of_rank(unsigned rank, error_record record)
{
  record.details.message.insert(0, detail::format("rank {}: ", rank));
  return record;
}

}  // namespace fatlink::detail
