// SPDX-License-Identifier: Apache-2.0
// Preflight: checks inputs before nvJitLink reads them, and finds inputs that would fail to link or
// would silently link wrongly. Needs neither CUDA nor a GPU.
// Threads: no shared state.
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
/// The text form: "13.0".
std::string to_string(toolkit_version version);

/// The toolkit that made `entry`. It is taken from the ident, or otherwise derived from the entry's
/// version (measured: PTX 9.x is CUDA 13.x, 8.8 is 12.9; LTO-IR 1.64 is 12.9, 1.65 is 13.0);
/// nullopt if neither is known. For compressed LTO-IR 1.66 and 1.67 without an ident it is a lower
/// bound: CUDA 13.1 and 13.2 both write 1.66 (13.1 is returned), 13.3 to 13.5 all write 1.67 (13.3
/// is returned). Raw LTO-IR is more precise. nullopt for elf entries, whose cubins name the toolkit
/// in their notes.
std::optional<toolkit_version> toolkit_of(fatbin_entry const& entry);

/// How a link chooses an entry of each input.
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
  std::vector<std::string> kernels = {};       ///< an input must define each
  std::vector<std::string> variables = {};     ///< an input must define each
  std::optional<toolkit_version> linker = {};  ///< of nvJitLink; none: toolkits are not checked
};

/// Checks `inputs` for this link and returns the findings, errors first; empty: there are no
/// problems. Lists at most 1,000 findings of one id about symbols, and one more that counts the
/// rest. The time is n log n in the number of declarations.
/// @throws usage_error the target or mode does not exist (check_target, check_link_mode).
/// @throws format_error a PTX payload cannot be decompressed.
std::vector<finding> preflight(std::span<fatbin const> inputs, preflight_request const& request);

/// The modules of `inputs` that a link uses, in order. These are all modules of inputs that are not
/// archives (with `whole_archive`, of all inputs), and these members of archives:
/// - Members that define missing symbols, and the members that they need in turn. A symbol is
///   missing if no other input defines it; a weak function counts as missing, so that a strong
///   definition in an archive replaces it. All archives are treated as one, whatever their order:
///   all strong definitions of a missing symbol are used, or otherwise the first weak one.
/// - Members whose symbols cannot be read: they have only LTO-IR, or is_opaque() is true.
/// - Members with kernels: those of the first input, or of all archives if nothing else has a
///   kernel, unless all of `kernels` are found.
/// - If a missing symbol is defined nowhere, a member that defines a similar name, so that
///   preflight() can report it.
///
/// If this selects nothing, all modules are used.
/// @throws usage_error, format_error as preflight.
std::vector<fatbin> select_modules(std::span<input const> inputs, preflight_request const& request);

/// Checks the modules that select_modules() returns. Also reports archives of which no member is
/// used (unused-input).
/// @throws usage_error, format_error as above.
std::vector<finding> preflight(std::span<input const> inputs, preflight_request const& request);

/// The errors that do not depend on the target, that is, all except those about architectures and
/// toolkits. Ignores the target of `request`. @throws usage_error, format_error as preflight.
std::vector<finding> preflight_any_target(std::span<fatbin const> inputs,
                                          preflight_request request);

/// The only entry of `input` that a link passes to nvJitLink: the newest PTX entry (ptx mode) or
/// LTO-IR entry (lto mode) that links for the target, or the SASS entry for exactly the target
/// (sass mode). If there is none and `allow_calls` is set, it is the entry whose functions can be
/// called without being inlined. Null if no entry can be linked.
fatbin_entry const* linked_entry(fatbin const& input, entry_choice const& choice) noexcept;

/// Whether the types of linked_entry() are unknown. This is true if it is LTO-IR, and `input` does
/// not have exactly one PTX entry for the same architecture, or its ident states that the PTX is
/// from another file. PTX for another architecture is not used, because it may declare other types
/// (`__CUDA_ARCH__`).
bool is_opaque(fatbin const& input, entry_choice const& choice) noexcept;

/// The interface of linked_entry(). For LTO-IR, it is the interface of the PTX entry for the same
/// architecture; it is empty if is_opaque(). If no entry links, it is the interface of any PTX
/// entry, or otherwise of any SASS entry. Valid while the fatbin exists.
/// @throws format_error the entry is damaged.
ptx_interface const& interface_of(fatbin const& input, entry_choice const& choice);

}  // namespace fatlink
