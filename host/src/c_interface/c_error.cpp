// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

#include "c_interface/guard.hpp"
#include "c_interface/structs.hpp"
#include "fatlink/error.hpp"
#include "util/process/cancel_check.hpp"
#include "util/text/format.hpp"

fatlink_findings::fatlink_findings(std::vector<fatlink::finding> findings)
    : list(std::move(findings))
{
  for (auto& finding : list) {
    finding.message = fatlink::detail::one_line(finding.message);
    finding.hint = fatlink::detail::one_line(finding.hint);
    auto& names = files.emplace_back();
    for (auto const& file : finding.files) names.push_back(file.c_str());
  }
}

namespace fatlink::c {
namespace {

/// Texts that a program may print: the message and the remedy are on one line each. `input` stays
/// what it is, for programs that look for a file.
error_details printable_details(error_details details)
{
  details.message = detail::one_line(details.message);
  details.hint = detail::one_line(details.hint);
  details.log = detail::printable(details.log);
  return details;
}

/// An error with texts of its own.
struct owned_error : fatlink_error {
  owned_error(fatlink_error_kind kind_of_error, error const& cause)
      : fatlink_error{.kind = kind_of_error, .stage = to_string(cause.where())},
        details(printable_details(cause.details()))
  {
    code = details.code.text().c_str();
    message = details.message.c_str();
    input = details.input.c_str();
    hint = details.hint.c_str();
    log = details.log.c_str();
  }

  error_details details;
  std::optional<fatlink_findings> refusal = {};
};

constinit fatlink_error no_memory{.kind = FATLINK_ERROR_MEMORY,
                                  .stage = "report",
                                  .code = "out-of-memory",
                                  .message = "the host has no memory left",
                                  .hint = "use smaller inputs, or free memory"};

fatlink_error* make_error(fatlink_error_kind kind, error const& cause)
{
  return new owned_error(kind, cause);
}

fatlink_error* make_refusal(refused_error const& cause)
{
  auto refusal = std::make_unique<owned_error>(FATLINK_ERROR_REFUSED, cause);
  refusal->findings = &refusal->refusal.emplace(cause.findings());
  return refusal.release();
}

fatlink_error* make_defect(std::string const& cause)
{
  return make_error(FATLINK_ERROR_DEFECT,
                    error(stage::report, {.message = "defect in fatlink: " + cause,
                                          .code = error_code::defect,
                                          .hint = "report it with the calls and the inputs"}));
}

/// Whether the host or a device lacks memory, also of an error of a more general class.
bool is_out_of_memory(error const& cause) noexcept
{
  auto const& code = cause.details().code;
  return code == error_code::out_of_memory || code == "CUDA_ERROR_OUT_OF_MEMORY";
}

/// An error of kind `kind`, or of kind MEMORY if memory is missing.
fatlink_error* make_error_or_memory(fatlink_error_kind kind, error const& cause)
{
  return make_error(is_out_of_memory(cause) ? FATLINK_ERROR_MEMORY : kind, cause);
}

/// Handles the exception again, to find its type.
fatlink_error* describe_current()
try {
  throw;
} catch (usage_error const& cause) {
  return make_error(FATLINK_ERROR_USAGE, cause);
} catch (file_error const& cause) {
  return make_error(FATLINK_ERROR_FILE, cause);
} catch (refused_error const& cause) {
  return make_refusal(cause);
} catch (link_error const& cause) {
  return make_error(FATLINK_ERROR_LINK, cause);
} catch (compile_error const& cause) {
  return make_error(FATLINK_ERROR_COMPILE, cause);
} catch (device_error const& cause) {
  return make_error_or_memory(FATLINK_ERROR_DEVICE, cause);
} catch (unavailable_error const& cause) {
  return make_error_or_memory(FATLINK_ERROR_UNAVAILABLE, cause);
} catch (cancelled_error const& cause) {
  return make_error(FATLINK_ERROR_CANCELLED, cause);
} catch (error const& cause) {
  return make_error(FATLINK_ERROR_DEFECT, cause);
} catch (std::bad_alloc const&) {
  return &no_memory;
} catch (std::length_error const&) {
  return make_error(FATLINK_ERROR_USAGE,
                    usage_error({.message = "a count or size is larger than any memory",
                                 .code = error_code::invalid_argument,
                                 .hint = "check the counts and sizes of the call"}));
} catch (std::exception const& cause) {
  return make_defect(cause.what());
} catch (...) {
  return make_defect("an exception of an unknown type");
}

}  // namespace

fatlink_error* current_error() noexcept
try {
  return describe_current();
} catch (...) {
  return &no_memory;
}

}  // namespace fatlink::c

void fatlink_error_free(fatlink_error* error)
{
  if (error == &fatlink::c::no_memory) return;
  delete static_cast<fatlink::c::owned_error*>(error);
}

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
