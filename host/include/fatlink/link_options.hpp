// SPDX-License-Identifier: Apache-2.0
// What a link is for, and nvJitLink's options. A field that is empty, false or its default is not
// passed to nvJitLink. fatlink checks every value before nvJitLink sees it, because nvJitLink
// ignores, clamps or misreads many wrong ones; and it refuses an option that has no effect in the
// link that is asked for (error_code::option_has_no_effect). docs/using.md has the table of
// effects. Effects and traps: measured with nvJitLink 13.0, pinned by
// tests/link/link_options_test.cpp. Threads: values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fatlink/export.hpp"
#include "fatlink/image.hpp"
#include "fatlink/target.hpp"

namespace FATLINK_API fatlink {

/// How far nvJitLink shortens its work (-Ofc; nvJitLink 13.0 has it without documenting it).
enum class fast_compile {
  none,  ///< not passed: full optimization
  min,   ///< about the code of none
  mid,   ///< in lto mode less unrolling and inlining within ptxas: much faster links
  max,   ///< without optimization: hooks usually stay calls, with a warning for each
};
/// "none", "min", "mid" or "max"; "unknown" for a value outside the enumeration.
char const* to_string(fast_compile level) noexcept;

/// Range of link_options::max_registers, inclusive. nvJitLink takes 24 for lower numbers, and
/// ignores higher ones.
constexpr unsigned k_least_registers = 24;
/// The other end.
constexpr unsigned k_most_registers = 255;
/// The most that link_options::threads may be.
constexpr unsigned k_most_threads = 256;

/// What to link for, and how. In sass mode nothing is compiled: of the options below only
/// `whole_archive`, `kernels` and `driver_cache` have an effect; hooks stay calls.
struct link_options {
  fatlink::target target = {};      ///< the architecture to link for
  link_mode mode = link_mode::lto;  ///< what is linked: LTO-IR, PTX or SASS
  /// `ptx` and `ltoir` require lto mode; `ptx_set` requires ptx mode and needs no nvJitLink. Hooks
  /// may be missing in `ltoir` and `relocatable`, which need nvJitLink 13.4, and 13.1 (13.3 in lto
  /// mode).
  image_kind emit = image_kind::cubin;
  /// In lto mode, a module without LTO-IR may be linked as PTX, else as SASS for exactly the
  /// target; in ptx mode, one without PTX as SASS. Calls into it are real calls. Otherwise such a
  /// module is refused (no-ltoir, no-ptx). One module of an lto link must have LTO-IR. Cubins only,
  /// and not in sass mode.
  bool allow_calls = false;
  /// Takes all members of archives; otherwise those that define what is missing (select_modules).
  /// In every mode; without effect, but not refused, if no input is an archive.
  bool whole_archive = false;
  /// Kernels to keep, by exact symbol names; empty: all. An input must define each, and the linked
  /// image must hold each; otherwise the link is refused (unknown-kernel). nvJitLink also keeps
  /// every kernel whose name contains one of them. In lto mode the others are not compiled at all,
  /// and __constant__ variables that only they use are dropped (see `variables`); in ptx mode they
  /// are compiled and then dropped, in sass mode only dropped. A ptx_set keeps every kernel.
  std::vector<std::string> kernels = {};
  /// Variables that the host reads or sets, by exact symbol names; lto mode only. An input must
  /// define each, and the linked image must hold each (unknown-variable). All others may be
  /// dropped: the link then takes their initial value for constant, even where a kernel reads them.
  /// Empty: nvJitLink keeps every __device__ variable.
  std::vector<std::string> variables = {};
  /// Drops every variable that no kernel uses or writes, also one that the host would set: the link
  /// takes its initial value for constant. lto mode only, and not together with `variables`, which
  /// states more.
  bool drop_unused_variables = false;
  /// Registers of a thread at most, k_least_registers to k_most_registers; ptxas spills the others
  /// to local memory. Cubins only.
  std::optional<unsigned> max_registers = {};
  /// 0 or 3. 0 in lto mode leaves hooks as calls. 3, nvJitLink's default, changes no code; not
  /// together with `debug`. Neither together with `fast_compile`.
  std::optional<unsigned> optimization = {};
  /// Not together with `optimization` or `debug`.
  fatlink::fast_compile fast_compile = fast_compile::none;
  /// Lines for profilers. Inputs that were compiled with -lineinfo keep their lines anyway; for
  /// others this adds lines of the PTX, and nearly doubles the cubin. Cubins only, and not together
  /// with `debug`, which includes it.
  bool line_info = false;
  /// Code without optimization by ptxas, for debuggers; in lto mode hooks are inlined before, up to
  /// nvJitLink 13.4, and stay calls with 13.5.
  /// Variables and source lines are there only for inputs that were compiled with -G, which LTO-IR
  /// cannot be; for others nvJitLink warns that sections are missing. Cubins only.
  bool debug = false;
  /// Override the flags that the inputs record, in lto mode (PTX has them compiled in): flush
  /// denormal numbers to zero; division rounds correctly; square roots round correctly; contract
  /// multiplication and addition. If all four are set, inputs may record different flags; otherwise
  /// such a link is refused (float-contract).
  std::optional<bool> ftz = {};
  std::optional<bool> prec_div = {};  ///< see ftz
  /// See ftz. It changes no code of nvcc's, which fixes the precision of sqrtf in the LTO-IR.
  std::optional<bool> prec_sqrt = {};
  std::optional<bool> fma = {};  ///< see ftz
  /// Functions that stay calls trap at their end if a write past their array on the stack is found
  /// (--device-stack-protector=true); kernels and inlined functions are not protected. Cubins only.
  bool stack_protector = false;
  /// Compiles with the newest of the compilers that nvJitLink has (-nvvm-latest): kernels for sm_90
  /// need other numbers of registers, and the link takes longer. lto mode only, from nvJitLink 13.5
  /// on; an older one is refused. Measured with 13.5: the same bytes for sm_100.
  bool latest_nvvm = false;
  /// Threads of nvJitLink, 1 to k_most_threads; none: one. (nvJitLink would take 0 for all cores.)
  /// In lto mode two or more split the module, which may contract other multiplications and
  /// additions: the image differs from that of one thread, and not with their number. In ptx mode
  /// the image does not depend on it.
  std::optional<unsigned> threads = {};
  /// Whether nvJitLink may keep intermediate results in the driver's cache, where there is a
  /// driver. The image does not depend on it.
  bool driver_cache = true;
  /// Options of ptxas, each one word: "--def-load-cache=cg". Only those that change nothing but
  /// code and messages; docs/using.md lists them. Cubins only.
  std::vector<std::string> ptxas = {};
  /// Options of libNVVM, each one word: "-jump-table-density=10", the only one that is passed on.
  /// lto mode only.
  std::vector<std::string> nvvm = {};
  /// A hook that is still called after the link is an error. lto mode only: the other modes never
  /// inline. Not part of the link's identity.
  bool require_inlined = false;
};

/// Checks everything in `options` but target, mode and emit. linker::link and link_into call it.
/// @throws usage_error invalid_argument: a value out of range, a name that is no symbol, a raw
///   option that is not allowed, or two options that exclude each other; option_has_no_effect: an
///   option that does nothing in this mode for this kind of image.
void check_link_options(link_options const& options);

}  // namespace fatlink
