// SPDX-License-Identifier: Apache-2.0
#include "cluster/error_record.hpp"

#include <new>
#include <stdexcept>
#include <string>

#include "fatlink/format_error.hpp"
#include "fatlink/link_once.hpp"

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

}  // namespace fatlink
