// SPDX-License-Identifier: Apache-2.0
#include "cluster/error_record.hpp"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "fatlink/format_error.hpp"
#include "fatlink/link_once.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace {

detail::error_record record(detail::error_type type, error const& failure)
{
  return {.type = type, .where = failure.where(), .details = failure.details()};
}

detail::error_record record_foreign(std::string message, error_code code, char const* hint)
{
  return {.details = {.message = std::move(message), .code = code, .hint = hint}};
}

/// "rank 3", "ranks 3, 5 and 8"; of more than eight ranks the first eight, and how many others.
std::string name_ranks(std::vector<unsigned> const& ranks)
{
  constexpr std::size_t k_most_names = 8;
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

}  // namespace

detail::error_record detail::record_error(std::exception_ptr const& exception)
try {
  std::rethrow_exception(exception);
} catch (refused_error const& failure) {
  auto result = record(error_type::refused, failure);
  result.findings = failure.findings();
  return result;
} catch (rank_error const& failure) {
  auto result = record(error_type::rank, failure);
  result.ranks = failure.ranks();
  return result;
} catch (format_error const& failure) {
  auto result = record(error_type::format, failure);
  result.offset = failure.offset();
  return result;
} catch (usage_error const& failure) {
  return record(error_type::usage, failure);
} catch (file_error const& failure) {
  return record(error_type::file, failure);
} catch (link_error const& failure) {
  return record(error_type::link, failure);
} catch (compile_error const& failure) {
  return record(error_type::compile, failure);
} catch (device_error const& failure) {
  return record(error_type::device, failure);
} catch (unavailable_error const& failure) {
  return record(error_type::unavailable, failure);
} catch (error const& failure) {
  return record(error_type::base, failure);
} catch (std::bad_alloc const&) {
  return record_foreign("there is not enough memory", error_code::out_of_memory,
                        "run fewer ranks on the machine, or pass smaller inputs");
} catch (std::exception const& failure) {
  return record_foreign(failure.what(), error_code::rank_failed,
                        "correct what the rank does before or after the link");
} catch (...) {
  return record_foreign("an exception without a text", error_code::rank_failed,
                        "correct what the rank does before or after the link");
}

void detail::throw_error(error_record const& record)
{
  auto const& [type, where, details, offset, findings, ranks] = record;
  switch (type) {
    case error_type::usage:
      throw usage_error(details);
    case error_type::file:
      throw file_error(where, details);
    case error_type::format:
      throw format_error(where, offset, details);
    case error_type::link:
      throw link_error(where, details);
    case error_type::compile:
      throw compile_error(where, details);
    case error_type::device:
      throw device_error(where, details);
    case error_type::unavailable:
      throw unavailable_error(where, details);
    case error_type::refused:
      throw refused_error(details, findings);
    case error_type::rank:
      throw rank_error(ranks, details);
    case error_type::base:
      break;
  }
  throw error(where, details);
}

detail::error_record detail::silence_of(std::vector<unsigned> ranks, char const* missing,
                                        std::chrono::milliseconds limit)
{
  auto const seconds = std::chrono::duration<double>(limit).count();
  auto const names = name_ranks(ranks);
  return {.type = error_type::rank,
          .details = {.message = detail::format(
                          "no answer from {}: {} is missing (limit of each step: {} s)", names,
                          missing, seconds),
                      .input = names,
                      .code = error_code::unresponsive_rank,
                      .hint = "see the launcher's messages: the process has ended or is stopped; "
                              "if it only needs longer, raise link_once_settings::wait_limit"},
          .ranks = std::move(ranks)};
}

detail::error_record detail::damage_from(unsigned rank, std::string_view cause)
{
  return {.type = error_type::rank,
          .details = {.message =
                          detail::format("the message of rank {} cannot be used: {}", rank, cause),
                      .input = name_ranks({rank}),
                      .code = error_code::invalid_message,
                      .hint = "run the same version of fatlink on all ranks, and the same calls of "
                              "link_once and prepare_once in the same order"},
          .ranks = {rank}};
}

}  // namespace fatlink
