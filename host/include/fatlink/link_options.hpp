// SPDX-License-Identifier: Apache-2.0
// The options of a link: its target, its mode, and options of nvJitLink. A field that is empty,
// false or its default is not passed to nvJitLink. fatlink checks every value first, because
// nvJitLink ignores, clamps or misreads many wrong ones. It also refuses an option that has no
// effect in the requested link (error_code::option_has_no_effect). docs/using.md has a table of
// effects. The effects were measured with nvJitLink 13.0 and are tested by
// tests/link/link_options_test.cpp.
// Threads: value types; objects share no state.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fatlink/export.hpp"
#include "fatlink/image.hpp"
#include "fatlink/target.hpp"

namespace FATLINK_API fatlink {

/// How much optimization nvJitLink leaves out for faster links (-Ofc, which nvJitLink 13.0 has but
/// does not document).
enum class fast_compile {
  none,  ///< not passed: full optimization
  min,   ///< about the same code as none
  mid,   ///< lto mode: less unrolling and inlining in ptxas; much faster links
  max,   ///< no optimization: hooks usually stay calls, with a warning for each
};
/// "none", "min", "mid" or "max"; "unknown" for a value outside the enumeration.
char const* to_string(fast_compile level) noexcept;

/// The least value of link_options::max_registers. nvJitLink treats lower values as 24.
constexpr unsigned k_least_registers = 24;
/// The greatest value of link_options::max_registers. nvJitLink ignores higher values.
constexpr unsigned k_most_registers = 255;
/// The greatest value of link_options::threads.
constexpr unsigned k_most_threads = 256;

/// What to link for, and how. In sass mode nothing is compiled and hooks stay calls; of the options
/// below, only `whole_archive`, `kernels` and `driver_cache` have an effect.
struct link_options {
  fatlink::target target = {};      ///< the architecture to link for
  link_mode mode = link_mode::lto;  ///< what is linked: LTO-IR, PTX or SASS
  /// The kind of image to produce. `ptx` and `ltoir` require lto mode; `ptx_set` requires ptx mode
  /// and needs no nvJitLink. `ltoir` needs nvJitLink 13.4; `relocatable` needs 13.1, or 13.3 in lto
  /// mode. Hooks may be missing in these two.
  image_kind emit = image_kind::cubin;
  /// Whether modules may be linked without being inlined. In lto mode, a module without LTO-IR is
  /// then linked as PTX, or as SASS for exactly the target; in ptx mode, a module without PTX is
  /// linked as SASS. Calls into such a module stay calls. If this is false, such a module is
  /// refused (no-ltoir, no-ptx). At least one module of an lto link must have LTO-IR. Cubins only,
  /// and not in sass mode.
  bool allow_calls = false;
  /// Whether to link all members of archives instead of only those that define missing symbols
  /// (select_modules). Has an effect in every mode. Without an archive it has no effect, but is not
  /// refused.
  bool whole_archive = false;
  /// Kernels to keep, by exact symbol name; empty: all. An input must define each kernel, and the
  /// linked image must contain it; otherwise the link is refused (unknown-kernel). nvJitLink also
  /// keeps every kernel whose name contains one of these names. In lto mode the other kernels are
  /// not compiled, and __constant__ variables that only they use are dropped (see `variables`). In
  /// ptx mode they are compiled and then dropped; in sass mode they are dropped. A ptx_set keeps
  /// every kernel.
  std::vector<std::string> kernels = {};
  /// Variables that the host reads or sets, by exact symbol name; lto mode only. An input must
  /// define each variable, and the linked image must contain it (unknown-variable). All other
  /// variables may be dropped: the link then treats their initial value as constant, even if a
  /// kernel reads them. Empty: nvJitLink keeps every __device__ variable.
  std::vector<std::string> variables = {};
  /// Drops every variable that no kernel uses or writes, including variables that the host would
  /// set: the link treats their initial value as constant. lto mode only, and not together with
  /// `variables`, which is more specific.
  bool drop_unused_variables = false;
  /// Maximum registers per thread, k_least_registers to k_most_registers; ptxas spills the rest to
  /// local memory. Cubins only.
  std::optional<unsigned> max_registers = {};
  /// 0 or 3; not together with `fast_compile`. In lto mode, 0 leaves hooks as calls. 3 is
  /// nvJitLink's default and changes no code; it cannot be combined with `debug`.
  std::optional<unsigned> optimization = {};
  /// Reduces optimization for faster links. Not together with `optimization` or `debug`.
  fatlink::fast_compile fast_compile = fast_compile::none;
  /// Adds line information for profilers. Inputs that were compiled with -lineinfo always keep
  /// their source lines; for other inputs this adds lines of the PTX, and nearly doubles the size
  /// of the cubin. Cubins only, and not together with `debug`, which includes it.
  bool line_info = false;
  /// Makes code for debuggers, which ptxas does not optimize. In lto mode, nvJitLink up to 13.4
  /// inlines hooks nevertheless; with 13.5 they stay calls. Debuggers see variables and source
  /// lines only of inputs that were compiled with -G, which is impossible for LTO-IR. For other
  /// inputs nvJitLink warns that sections are missing. Cubins only.
  bool debug = false;
  /// Flushes denormal numbers to zero. This and the next three fields override the flags that the
  /// inputs record; lto mode only, because PTX has the flags compiled in. If all four are set,
  /// inputs may record different flags; otherwise such a link is refused (float-contract).
  std::optional<bool> ftz = {};
  std::optional<bool> prec_div = {};  ///< division rounds correctly; see ftz
  /// Square roots round correctly; see ftz. It has no effect on code from nvcc, which fixes the
  /// precision of sqrtf in the LTO-IR.
  std::optional<bool> prec_sqrt = {};
  std::optional<bool> fma = {};  ///< contract multiplication and addition; see ftz
  /// Detects writes past an array on the stack: a function that stays a call traps at its end if it
  /// finds one (--device-stack-protector=true). Kernels and inlined functions are not protected.
  /// Cubins only.
  bool stack_protector = false;
  /// Compiles with the newest compiler that nvJitLink contains (-nvvm-latest). lto mode only; needs
  /// nvJitLink 13.5. Measured with 13.5: for sm_90, kernels use different numbers of registers and
  /// the link takes longer; for sm_100 the result is the same.
  bool latest_nvvm = false;
  /// Threads of nvJitLink, 1 to k_most_threads; none: one. (nvJitLink itself treats 0 as all
  /// cores.) In lto mode, two or more threads split the module, so other multiplications and
  /// additions may be contracted: the image differs from that of one thread, but does not depend on
  /// the number of threads above one. In ptx mode the image does not depend on the number of
  /// threads.
  std::optional<unsigned> threads = {};
  /// Whether nvJitLink may keep intermediate results in the driver's cache, if there is a driver.
  /// Does not change the image.
  bool driver_cache = true;
  /// Options of ptxas, each one word: "--def-load-cache=cg". Only options that affect just code and
  /// messages are accepted; docs/using.md lists them. Cubins only.
  std::vector<std::string> ptxas = {};
  /// Options of libNVVM, each one word. Only "-jump-table-density", for example
  /// "-jump-table-density=10", is accepted. lto mode only.
  std::vector<std::string> nvvm = {};
  /// Whether a hook that is still called after the link is an error. lto mode only, because the
  /// other modes never inline. Not part of the cache key.
  bool require_inlined = false;
};

/// Checks everything in `options` except target, mode and emit. linker::link and link_into call it.
/// @throws usage_error invalid_argument: a value is out of range, a name is not a symbol, a raw
///   option is not allowed, or two options exclude each other; option_has_no_effect: an option has
///   no effect in this mode for this kind of image.
void check_link_options(link_options const& options);

}  // namespace fatlink
