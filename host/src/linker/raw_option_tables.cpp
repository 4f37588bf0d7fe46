// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "linker/raw_options.hpp"

namespace fatlink::detail {
namespace {

constexpr std::string_view k_loads = "ca|cg|cs|lu|cv";
constexpr std::string_view k_stores = "wb|cg|cs|wt";

// Source: `ptxas --help` of CUDA 13.0. Values as ptxas accepts them without a warning, measured;
// it ignores numbers out of range. Left out: what link_options has, what names files, and
//   compile-only, extensible-whole-program,      other kinds of images
//   compile-as-tools-patch, preserve-relocs,
//   position-independent-code
//   sanitize                                     code that calls a tool that is not linked
//   input-as-string, machine, help, version,     not about code
//   list-version, compiler-annotations,
//   suppress-debug-info
//   legacy-bar-warp-wide-behavior                without effect since sm_70
constexpr std::array k_ptxas{
    raw_option{"--allow-expensive-optimizations", "-allow-expensive-optimizations", "true|false"},
    raw_option{"--def-load-cache", "-dlcm", k_loads},
    raw_option{"--def-store-cache", "-dscm", k_stores},
    raw_option{"--device-function-maxrregcount", "-func-maxrregcount", {}, 24, 255},
    raw_option{"--disable-optimizer-constants", "-disable-optimizer-consts"},
    raw_option{"--disable-warnings", "-w"},
    raw_option{"--dont-merge-basicblocks", "-no-bb-merge"},
    raw_option{"--force-load-cache", "-flcm", k_loads},
    raw_option{"--force-store-cache", "-fscm", k_stores},
    raw_option{"--g-tensor-memory-access-check", "-g-tmem-access-check"},
    raw_option{"--gno-tensor-memory-access-check", "-gno-tmem-access-check"},
    raw_option{"--make-errors-visible-at-exit", "-make-errors-visible-at-exit"},
    raw_option{"--maxntid", "-maxntid", {}, 1, 1024, 3},
    raw_option{"--minnctapersm", "-minnctapersm", {}, 1, 32},
    raw_option{"--optimize-float-atomics", "-opt-fp-atomics"},
    raw_option{"--override-directive-values", "-override-directive-values"},
    raw_option{"--register-usage-level", "-regUsageLevel", {}, 0, 10},
    raw_option{"--return-at-end", "-ret-end"},
    raw_option{"--sp-bounds-check", "-sp-bounds-check"},
    raw_option{"--suppress-async-bulk-multicast-advisory-warning",
               "-suppress-async-bulk-multicast-advisory-warning"},
    raw_option{"--suppress-double-demote-warning", "-suppress-double-demote-warning"},
    raw_option{"--suppress-sparse-mma-advisory-info", "-suppress-sparse-mma-advisory-info"},
    raw_option{"--suppress-stack-size-warning", "-suppress-stack-size-warning"},
    raw_option{"--verbose", "-v"},
    raw_option{"--warn-on-double-precision-use", "-warn-double-usage"},
    raw_option{"--warn-on-local-memory-usage", "-warn-lmem-usage"},
    raw_option{"--warn-on-spills", "-warn-spills"},
    raw_option{"--warning-as-error", "-Werror"},
};

// Source: the libNVVM API reference of CUDA 13.0, "nvvmCompileProgram". Options that it does not
// document are not passed on: -host-ref-ek=x, for example, drops every kernel without a word.
constexpr std::array k_nvvm{
    raw_option{"-jump-table-density", "-jump-table-density", {}, 0, 101},
};

}  // namespace

std::span<raw_option const> allowed_ptxas_options() noexcept
{
  return k_ptxas;
}

std::span<raw_option const> allowed_nvvm_options() noexcept
{
  return k_nvvm;
}

}  // namespace fatlink::detail
