// SPDX-License-Identifier: Apache-2.0
// Findings: the problems that preflight and the link report about inputs (docs/findings.md), and
// the error of a link that was refused because of them.
// Threads: no shared state.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/error.hpp"
#include "fatlink/export.hpp"
#include "fatlink/target.hpp"

namespace FATLINK_API fatlink {

/// Whether a finding stops a link.
enum class severity { warning, error };
/// "warning" or "error".
char const* to_string(severity level) noexcept;

/// The rule that an input breaks. The text form replaces `_` by `-`: "missing-hook".
/// docs/findings.md lists each with its severity, cause and remedy.
enum class finding_id {
  // entries and targets
  no_ltoir,         ///< no LTO-IR entry, which lto mode needs
  no_ptx,           ///< no PTX entry, which ptx mode needs
  no_sass,          ///< no SASS entry, which sass mode needs
  arch_too_new,     ///< compiled for architectures newer than the target
  arch_specific,    ///< compiled only for other exact targets: as sm_90a, or as SASS
  arch_unknown,     ///< compiled for architectures that CUDA 13 does not know
  newer_entry,      ///< an entry of a kind or compression that this fatlink does not know
  not_relocatable,  ///< SASS of a whole program, which cannot be linked
  // contracts
  contract_mismatch,  ///< built against different contracts
  uncontracted,       ///< states no contract
  fatlink_too_old,    ///< the ident has a newer format than this fatlink reads
  // symbols
  missing_hook,        ///< a hook that no input defines
  missing_variable,    ///< a variable that no input defines
  duplicate_symbol,    ///< a symbol that two inputs define
  weak_mismatch,       ///< two inputs have different inline functions with the same name
  unknown_kernel,      ///< no input has the kernel
  unknown_variable,    ///< no input defines the variable
  signature_mismatch,  ///< declarations or definitions of one symbol with different types
  uncertain_type,      ///< types that may differ; PTX does not show enough to decide
  unreadable_types,    ///< types that only the link can compare, by count and width
  unchecked_types,     ///< types that no input states
  unpassed_argument,   ///< an argument that calls omit because the default ignores it
  compared_by_link,    ///< a replaced inline function, whose type only the link can compare
  constant_memory,     ///< more __constant__ variables than a link allows
  kernel_resources,    ///< a kernel with its callees exceeds shared memory or registers
  // inputs without effect
  removed_functions,  ///< nvcc removed every device function
  no_definition,      ///< defines no function that other inputs can call
  unused_input,       ///< no input calls what it defines
  unused_definition,  ///< no library calls what a transform defines
  not_judged,         ///< a transform that cannot be checked without its library
  // toolkits, flags and integrity
  target_too_new,    ///< a target that nvJitLink does not have yet
  toolkit_too_new,   ///< made by a toolkit newer than nvJitLink
  toolkit_major,     ///< made by a toolkit with another major version than nvJitLink
  unread_option,     ///< an option of LTO-IR's compiler that this fatlink does not know
  float_contract,    ///< compiled with different floating-point flags
  unverified_bytes,  ///< neither the input nor a .json beside it states digests
  // launch plans
  plan_mismatch,     ///< a launch plan that does not fit the kernels of its fatbin
  element_mismatch,  ///< the element types of an array and a hook differ
  // packing
  duplicate_entry,     ///< two entries with the same kind and target
  interface_mismatch,  ///< files of one fatbin with different functions
  // inspection
  double_arithmetic,  ///< a function on float that computes in double; reported by inspect only
};

/// "no-ltoir"; "unknown" for a value outside the enumeration.
char const* to_string(finding_id id) noexcept;

/// Every enumerator, in order.
std::span<finding_id const> finding_ids() noexcept;

/// One problem that preflight reports.
struct finding {
  finding_id id = finding_id::no_ltoir;          ///< the rule that an input breaks
  fatlink::severity severity = severity::error;  ///< an error stops the link
  /// Every input involved. A member of an archive is named "lib.a(b.o)".
  std::vector<std::string> files = {};
  std::string symbol = {};   ///< the hook, kernel or definition concerned, if any
  std::string message = {};  ///< one line: file and cause
  std::string hint = {};     ///< the remedy, in terms of this API
};

/// A link that was refused because of findings. The code is the id of the first error.
class refused_error : public error {
 public:
  /// `findings` refuse a link for `link_target`.
  refused_error(target link_target, std::vector<finding> findings);
  explicit refused_error(std::vector<finding> findings);  ///< for any target
  /// `findings` refuse another task than a link, such as "pack x.fatbin".
  refused_error(std::vector<finding> findings, std::string_view task);
  /// An equal copy of another error, for example one from another process.
  refused_error(error_details details, std::vector<finding> findings);
  /// The findings, errors first.
  [[nodiscard]] std::vector<finding> const& findings() const noexcept { return findings_; }

 private:
  std::vector<finding> findings_;
};

}  // namespace fatlink
