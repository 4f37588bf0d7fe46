// SPDX-License-Identifier: Apache-2.0
// Preflight: checks inputs before nvJitLink sees them, and finds those that would link wrongly,
// silently or not at all.
// Needs neither CUDA nor a GPU. Threads: no shared state.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/export.hpp"
#include "fatlink/fatbin.hpp"
#include "fatlink/finding.hpp"
#include "fatlink/input.hpp"
#include "fatlink/ptx_interface.hpp"
#include "fatlink/target.hpp"

namespace FATLINK_API fatlink {

/// The version of a toolkit or nvJitLink: 13.0 for 13.0.88.
struct toolkit_version {
  unsigned major = 0;  ///< 13 of 13.0
  unsigned minor = 0;  ///< 0 of 13.0
  /// Compares major, then minor.
  // clang-tidy 14 takes the 0 of a rewritten a < b for a pointer.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(toolkit_version const&, toolkit_version const&) = default;
};
/// "13.0"
std::string to_string(toolkit_version version);

/// The toolkit that made `entry`: its ident's, else by the entry's version (PTX 9.x is CUDA
/// 13.x, 8.8 is 12.9; LTO-IR 1.64 is 12.9, 1.65 is 13.0; measured), else nothing. A lower bound
/// for compressed LTO-IR 1.66 and 1.67 without an ident: CUDA 13.1 and 13.2 both write 1.66 (13.1
/// is returned), 13.3 to 13.5 all write 1.67 (13.3 is returned). Raw LTO-IR states more. Nothing
/// for elf entries, whose cubins name it in their notes.
std::optional<toolkit_version> toolkit_of(fatbin_entry const& entry);

/// Which entry of each input a link takes.
struct entry_choice {
  fatlink::target target = {};      ///< the target of the link
  link_mode mode = link_mode::lto;  ///< the mode of the link
  bool allow_calls = false;         ///< see link_options::allow_calls
};

/// The link that preflight checks.
struct preflight_request {
  fatlink::target target = {};                 ///< the target of the link
  link_mode mode = link_mode::lto;             ///< the mode of the link
  bool allow_calls = false;                    ///< see link_options::allow_calls
  bool states_float_flags = false;             ///< all of ftz, prec_div, prec_sqrt and fma are set
  bool is_partial = false;                     ///< hooks and variables may be missing
  bool whole_archive = false;                  ///< see link_options::whole_archive
  bool drop_unused_variables = false;          ///< see link_options::drop_unused_variables
  std::vector<std::string> kernels = {};       ///< each must be in an input
  std::vector<std::string> variables = {};     ///< an input must define each
  std::optional<toolkit_version> linker = {};  ///< nvJitLink's; none: toolkits are not checked
};

/// Checks `inputs` for this link; returns errors first, and nothing if there are no problems. Lists
/// at most 1,000 findings of one id about symbols, and one more that counts the rest. Takes n log n
/// time in the number of declarations.
/// @throws usage_error a target or mode that does not exist (check_target, check_link_mode).
/// @throws format_error a PTX payload that does not decompress.
std::vector<finding> preflight(std::span<fatbin const> inputs, preflight_request const& request);

/// The modules of `inputs` that a link takes, in order: all of each input that is not an archive;
/// of archives (unless `whole_archive` is set) the members that define what is missing, and what
/// these need in turn. All archives count as one, whatever their order: all strong definitions of a
/// missing name are taken, or else the first weak one. Missing is what no other input defines; a
/// weak function does not count, a strong definition in an archive replaces it. Also taken: members
/// whose symbols cannot be read (they hold LTO-IR only, or is_opaque), and the members of the first
/// input that hold kernels, or of all archives if nothing else has a kernel, unless all of
/// `kernels` are found. Of a name that is defined nowhere, a member that defines a similar one is
/// taken, which preflight() then reports. If nothing is taken, all modules.
/// @throws usage_error, format_error as preflight.
std::vector<fatbin> select_modules(std::span<input const> inputs, preflight_request const& request);

/// Checks the modules that select_modules() returns. Also reports archives of which it takes
/// nothing (unused-input).
/// @throws usage_error, format_error as above.
std::vector<finding> preflight(std::span<input const> inputs, preflight_request const& request);

/// The errors that do not depend on the target: none about architectures, none about toolkits.
/// Ignores the target of `request`. @throws usage_error, format_error as preflight.
std::vector<finding> preflight_any_target(std::span<fatbin const> inputs,
                                          preflight_request request);

/// The only entry of `input` that a link passes to nvJitLink: the newest PTX entry (ptx mode) or
/// LTO-IR entry (lto mode) that links for the target, or the SASS entry for exactly the target
/// (sass mode). With `allow_calls`, the entry that links as a call if there is none. Null if no
/// entry links.
fatbin_entry const* linked_entry(fatbin const& input, entry_choice const& choice) noexcept;

/// Whether the types of linked_entry() are unknown: it is LTO-IR, and `input` does not have exactly
/// one PTX entry of the same architecture, or its ident states that this is from another file. PTX
/// of another architecture may declare other types (`__CUDA_ARCH__`).
bool is_opaque(fatbin const& input, entry_choice const& choice) noexcept;

/// The interface of linked_entry(): its own if it is PTX or SASS, that of the PTX entry of the same
/// architecture if it is LTO-IR. Empty if is_opaque(). If no entry links, the interface of any PTX
/// entry, else of any SASS entry. Lives as long as the fatbin.
/// @throws format_error the entry is damaged.
ptx_interface const& interface_of(fatbin const& input, entry_choice const& choice);

}  // namespace fatlink
