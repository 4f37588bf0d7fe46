// SPDX-License-Identifier: Apache-2.0
#include "fatlink/error.hpp"

#include <array>
#include <cstddef>

#include "base/wording.hpp"
#include "fatlink/format_error.hpp"

namespace fatlink {
namespace {

constexpr std::array k_stage_names{
    "usage",  "input", "fatbin", "sidecar", "preflight",    "compiler",
    "linker", "cache", "image",  "device",  "verification", "report",
};
static_assert(k_stage_names.size() == static_cast<std::size_t>(stage::report) + 1);

struct named_code {
  error_code code;
  char const* name;
};

constexpr std::array k_codes{
    named_code{error_code::invalid_argument, "invalid-argument"},
    named_code{error_code::unknown_command, "unknown-command"},
    named_code{error_code::unknown_option, "unknown-option"},
    named_code{error_code::invalid_target, "invalid-target"},
    named_code{error_code::unknown_link_mode, "unknown-link-mode"},
    named_code{error_code::unknown_device, "unknown-device"},
    named_code{error_code::invalid_emit, "invalid-emit"},
    named_code{error_code::option_has_no_effect, "option-has-no-effect"},
    named_code{error_code::invalid_time_limit, "invalid-time-limit"},
    named_code{error_code::missing_input, "missing-input"},
    named_code{error_code::moved_from, "moved-from"},
    named_code{error_code::wrong_kernel_arguments, "wrong-kernel-arguments"},
    named_code{error_code::invalid_event, "invalid-event"},
    named_code{error_code::cancelled, "cancelled"},
    named_code{error_code::unreadable_file, "unreadable-file"},
    named_code{error_code::unwritable_file, "unwritable-file"},
    named_code{error_code::not_installed, "not-installed"},
    named_code{error_code::empty_input, "empty-input"},
    named_code{error_code::not_a_fatbin, "not-a-fatbin"},
    named_code{error_code::corrupt_fatbin, "corrupt-fatbin"},
    named_code{error_code::corrupt_ptx, "corrupt-ptx"},
    named_code{error_code::corrupt_ltoir, "corrupt-ltoir"},
    named_code{error_code::corrupt_cubin, "corrupt-cubin"},
    named_code{error_code::corrupt_object, "corrupt-object"},
    named_code{error_code::corrupt_archive, "corrupt-archive"},
    named_code{error_code::thin_archive, "thin-archive"},
    named_code{error_code::no_device_code, "no-device-code"},
    named_code{error_code::unknown_form, "unknown-form"},
    named_code{error_code::digest_mismatch, "digest-mismatch"},
    named_code{error_code::above_limit, "above-limit"},
    named_code{error_code::newer_format, "newer-format"},
    named_code{error_code::invalid_ptx, "invalid-ptx"},
    named_code{error_code::missing_ptx, "missing-ptx"},
    named_code{error_code::foreign_ident, "foreign-ident"},
    named_code{error_code::digest_in_sidecar, "digest-in-sidecar"},
    named_code{error_code::unexpected_build, "unexpected-build"},
    named_code{error_code::invalid_sidecar, "invalid-sidecar"},
    named_code{error_code::invalid_plan, "invalid-plan"},
    named_code{error_code::invalid_npy, "invalid-npy"},
    named_code{error_code::invalid_image, "invalid-image"},
    named_code{error_code::unusable_cache, "unusable-cache"},
    named_code{error_code::link_not_cached, "link-not-cached"},
    named_code{error_code::invalid_record, "invalid-record"},
    named_code{error_code::invalid_source, "invalid-source"},
    named_code{error_code::invalid_contract, "invalid-contract"},
    named_code{error_code::compile_failed, "compile-failed"},
    named_code{error_code::header_not_found, "header-not-found"},
    named_code{error_code::compile_timeout, "compile-timeout"},
    named_code{error_code::compile_memory, "compile-memory"},
    named_code{error_code::link_failed, "link-failed"},
    named_code{error_code::link_refused, "link-refused"},
    named_code{error_code::not_inlined, "not-inlined"},
    named_code{error_code::offline, "offline"},
    named_code{error_code::nvjitlink_unavailable, "nvjitlink-unavailable"},
    named_code{error_code::nvrtc_unavailable, "nvrtc-unavailable"},
    named_code{error_code::nvvm_unavailable, "nvvm-unavailable"},
    named_code{error_code::helper_unavailable, "helper-unavailable"},
    named_code{error_code::helper_unconfined, "helper-unconfined"},
    named_code{error_code::driver_unavailable, "driver-unavailable"},
    named_code{error_code::gpu_unavailable, "gpu-unavailable"},
    named_code{error_code::needs_gpu, "needs-gpu"},
    named_code{error_code::start_up_failed, "start-up-failed"},
    named_code{error_code::unknown_kernel, "unknown-kernel"},
    named_code{error_code::unknown_variable, "unknown-variable"},
    named_code{error_code::refused_instruction, "refused-instruction"},
    named_code{error_code::invalid_instruction, "invalid-instruction"},
    named_code{error_code::unresolved_symbol, "unresolved-symbol"},
    named_code{error_code::duplicate_symbol, "duplicate-symbol"},
    named_code{error_code::prototype_mismatch, "prototype-mismatch"},
    named_code{error_code::invalid_launch, "invalid-launch"},
    named_code{error_code::out_of_memory, "out-of-memory"},
    named_code{error_code::illegal_address, "illegal-address"},
    named_code{error_code::endless_kernel, "endless-kernel"},
    named_code{error_code::deadlock, "deadlock"},
    named_code{error_code::trap, "trap"},
    named_code{error_code::write_race, "write-race"},
    named_code{error_code::uninitialized_read, "uninitialized-read"},
    named_code{error_code::unresponsive_rank, "unresponsive-rank"},
    named_code{error_code::invalid_message, "invalid-message"},
    named_code{error_code::rank_failed, "rank-failed"},
    named_code{error_code::defect, "defect"},
};

/// Whether the table has every enumerator at the enumerator's own index.
constexpr bool is_complete()
{
  for (std::size_t index = 0; index < k_codes.size(); ++index)
    if (static_cast<std::size_t>(k_codes[index].code) != index) return false;
  return k_codes.back().code == error_code::defect;  // the last enumerator
}
static_assert(is_complete());

constexpr auto list_codes()
{
  std::array<error_code, k_codes.size()> codes{};
  for (std::size_t index = 0; index < codes.size(); ++index) codes[index] = k_codes[index].code;
  return codes;
}
constexpr auto k_list = list_codes();

}  // namespace

char const* to_string(stage origin) noexcept
{
  auto const index = static_cast<std::size_t>(origin);
  return index < k_stage_names.size() ? k_stage_names[index] : "unknown";
}

char const* to_string(error_code code) noexcept
{
  auto const index = static_cast<std::size_t>(code);
  return index < k_codes.size() ? k_codes[index].name : "unknown";
}

std::span<error_code const> error_codes() noexcept
{
  return k_list;
}

code_text vendor_code(std::string text)
{
  code_text code(error_code::defect);
  if (!text.empty()) code.text_ = std::move(text);
  return code;
}

error::error(stage origin, error_details details)
    : std::runtime_error(detail::in_words(details.message)),
      where_(origin),
      details_(std::move(details))
{
  details_.message = what();
  for (auto* text : {&details_.input, &details_.hint}) *text = detail::in_words(std::move(*text));
}

format_error::format_error(stage origin, std::uint64_t offset, error_details details)
    : file_error(origin, std::move(details)), offset_(offset)
{
}

}  // namespace fatlink
