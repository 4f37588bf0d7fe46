// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include "c_interface/error_object.hpp"
#include "c_interface/guard.hpp"
#include "c_interface/struct_output.hpp"
#include "util/process/cancel_check.hpp"

namespace {

constinit std::atomic<fatlink::detail::wording> wording_of_errors{fatlink::detail::wording::c};

}  // namespace

fatlink::detail::wording fatlink::c::error_wording() noexcept
{
  return wording_of_errors;
}

void fatlink_set_wording(fatlink_wording wording)
{
  using words = fatlink::detail::wording;
  wording_of_errors = wording == FATLINK_WORDING_PYTHON ? words::python : words::c;
}

void fatlink_set_cancel_check(fatlink_cancel_check check, void* context)
{
  fatlink::detail::set_cancel_function({.function = check, .context = context});
}

fatlink_error_kind fatlink_error_get_kind(fatlink_error const* error)
{
  return error == nullptr ? 0 : error->kind;
}

char const* fatlink_error_stage(fatlink_error const* error)
{
  return error == nullptr ? "" : error->stage;
}

char const* fatlink_error_code(fatlink_error const* error)
{
  return error == nullptr ? "" : error->code;
}

char const* fatlink_error_message(fatlink_error const* error)
{
  return error == nullptr ? "" : error->message;
}

char const* fatlink_error_input(fatlink_error const* error)
{
  return error == nullptr ? "" : error->input;
}

char const* fatlink_error_hint(fatlink_error const* error)
{
  return error == nullptr ? "" : error->hint;
}

char const* fatlink_error_log(fatlink_error const* error)
{
  return error == nullptr ? "" : error->log;
}

int32_t fatlink_error_exit_status(fatlink_error const* error)
{
  if (error == nullptr) return 0;
  switch (error->kind) {
    case FATLINK_ERROR_USAGE:
      return 2;
    case FATLINK_ERROR_FILE:
      return 3;
    case FATLINK_ERROR_REFUSED:
    case FATLINK_ERROR_LINK:
    case FATLINK_ERROR_COMPILE:
      return 4;
    case FATLINK_ERROR_DEVICE:
    case FATLINK_ERROR_UNAVAILABLE:
    case FATLINK_ERROR_MEMORY:
      return 5;
    case FATLINK_ERROR_CANCELLED:
      return 130;
    default:
      return 70;
  }
}

fatlink_findings const* fatlink_error_findings(fatlink_error const* error)
{
  return error == nullptr ? nullptr : error->findings;
}

size_t fatlink_findings_count(fatlink_findings const* findings)
{
  return findings == nullptr ? 0 : findings->list.size();
}

fatlink_error* fatlink_findings_get(fatlink_findings const* findings, size_t index,
                                    fatlink_finding* finding)
{
  using namespace fatlink::c;
  return guarded([&] {
    struct_output const output(finding, "finding");
    auto const& [list, files] = required(findings, "findings");
    check_index(index, list.size(), "findings");
    auto const& entry = list[index];
    output.set({.size = sizeof(fatlink_finding),
                .id = to_string(entry.id),
                .is_error = entry.severity == fatlink::severity::error ? 1 : 0,
                .file_count = static_cast<std::uint32_t>(files[index].size()),
                .files = files[index].data(),
                .symbol = entry.symbol.c_str(),
                .message = entry.message.c_str(),
                .hint = entry.hint.c_str()});
  });
}

void fatlink_findings_free(fatlink_findings* findings)
{
  delete findings;
}
