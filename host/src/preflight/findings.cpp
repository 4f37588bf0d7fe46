// SPDX-License-Identifier: Apache-2.0
// The text forms of finding ids, and reports of many findings.
#include "preflight/findings.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "fatlink/finding.hpp"
#include "util/limits.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace {

struct named_id {
  finding_id id;
  char const* name;
};

constexpr std::array k_ids{
    named_id{finding_id::no_ltoir, "no-ltoir"},
    named_id{finding_id::no_ptx, "no-ptx"},
    named_id{finding_id::no_sass, "no-sass"},
    named_id{finding_id::arch_too_new, "arch-too-new"},
    named_id{finding_id::arch_specific, "arch-specific"},
    named_id{finding_id::arch_unknown, "arch-unknown"},
    named_id{finding_id::newer_entry, "newer-entry"},
    named_id{finding_id::not_relocatable, "not-relocatable"},
    named_id{finding_id::contract_mismatch, "contract-mismatch"},
    named_id{finding_id::uncontracted, "uncontracted"},
    named_id{finding_id::fatlink_too_old, "fatlink-too-old"},
    named_id{finding_id::missing_hook, "missing-hook"},
    named_id{finding_id::missing_variable, "missing-variable"},
    named_id{finding_id::duplicate_symbol, "duplicate-symbol"},
    named_id{finding_id::weak_mismatch, "weak-mismatch"},
    named_id{finding_id::unknown_kernel, "unknown-kernel"},
    named_id{finding_id::unknown_variable, "unknown-variable"},
    named_id{finding_id::signature_mismatch, "signature-mismatch"},
    named_id{finding_id::uncertain_type, "uncertain-type"},
    named_id{finding_id::unreadable_types, "unreadable-types"},
    named_id{finding_id::unchecked_types, "unchecked-types"},
    named_id{finding_id::unpassed_argument, "unpassed-argument"},
    named_id{finding_id::compared_by_link, "compared-by-link"},
    named_id{finding_id::constant_memory, "constant-memory"},
    named_id{finding_id::kernel_resources, "kernel-resources"},
    named_id{finding_id::removed_functions, "removed-functions"},
    named_id{finding_id::no_definition, "no-definition"},
    named_id{finding_id::unused_input, "unused-input"},
    named_id{finding_id::unused_definition, "unused-definition"},
    named_id{finding_id::not_judged, "not-judged"},
    named_id{finding_id::target_too_new, "target-too-new"},
    named_id{finding_id::toolkit_too_new, "toolkit-too-new"},
    named_id{finding_id::toolkit_major, "toolkit-major"},
    named_id{finding_id::unread_option, "unread-option"},
    named_id{finding_id::float_contract, "float-contract"},
    named_id{finding_id::unverified_bytes, "unverified-bytes"},
    named_id{finding_id::plan_mismatch, "plan-mismatch"},
    named_id{finding_id::element_mismatch, "element-mismatch"},
    named_id{finding_id::duplicate_entry, "duplicate-entry"},
    named_id{finding_id::interface_mismatch, "interface-mismatch"},
    named_id{finding_id::double_arithmetic, "double-arithmetic"},
};

/// Whether the table has every enumerator at the enumerator's own index.
constexpr bool is_complete()
{
  for (std::size_t index = 0; index < k_ids.size(); ++index)
    if (static_cast<std::size_t>(k_ids[index].id) != index) return false;
  return k_ids.back().id == finding_id::double_arithmetic;  // the last enumerator
}
static_assert(is_complete());

constexpr auto list_ids()
{
  std::array<finding_id, k_ids.size()> ids{};
  for (std::size_t index = 0; index < ids.size(); ++index) ids[index] = k_ids[index].id;
  return ids;
}
constexpr auto k_list = list_ids();

}  // namespace

char const* to_string(finding_id id) noexcept
{
  auto const index = static_cast<std::size_t>(id);
  return index < k_ids.size() ? k_ids[index].name : "unknown";
}

std::span<finding_id const> finding_ids() noexcept
{
  return k_list;
}

}  // namespace fatlink

namespace fatlink::detail {

bool finding_limit::is_full() const noexcept
{
  return count_ >= limits::k_findings;
}

void finding_limit::finish()
{
  if (!rest_) return;
  rest_->symbol.clear();
  rest_->message = detail::format("{}: {} more findings of this kind; the first {} are listed",
                                  fmt::join(rest_->files, ", "), count_ - limits::k_findings,
                                  limits::k_findings);
  rest_->hint = "correct the listed ones, then check again";
  report_.push_back(std::move(*rest_));
}

std::string list_names(std::vector<std::string> const& names, std::size_t most)
{
  auto const count = std::min(names.size(), most);
  auto const end = names.begin() + static_cast<std::ptrdiff_t>(count);
  auto const unlisted = names.size() - count;
  return detail::format("{}{}", fmt::join(names.begin(), end, ", "),
                        unlisted == 0 ? std::string{} : detail::format(" and {} more", unlisted));
}

}  // namespace fatlink::detail
