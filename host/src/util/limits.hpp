// SPDX-License-Identifier: Apache-2.0
// Limits on the input that fatlink accepts, so that a small hostile file cannot cost the host
// process minutes, gigabytes or its stack. Each limit is far above what compilers write for real
// code. Input above a limit is refused with an error that names it (error_code::above_limit for
// fatbins). Units: bytes where the name says so, else a count. Uses the standard library only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fatlink::limits {

// Fatbins.

/// A fatbin file. A library of all of CUB's algorithms for ten architectures is below 300 MB.
constexpr std::uint64_t k_file_bytes = std::uint64_t{1} << 30;
/// Entries of a fatbin. nvcc writes up to three for each of some 30 architectures and source files.
constexpr std::size_t k_entries = 4096;
/// The ident of an entry. fatlink_add_fatbin writes about 400 bytes, and 60 more for each hook.
constexpr std::uint32_t k_ident_bytes = 64U << 10U;
/// The options text of an entry: nvcc's command line.
constexpr std::uint32_t k_options_bytes = 64U << 10U;
/// One entry once decompressed; zstd shrinks repeated text to 1/10,000.
constexpr std::uint64_t k_entry_bytes = std::uint64_t{256} << 20;
/// All entries of a fatbin once decompressed.
constexpr std::uint64_t k_fatbin_bytes = std::uint64_t{1} << 30;

// Other input forms.

/// Members of an archive. Static libraries of NVIDIA's have some thousands.
constexpr std::size_t k_members = 65536;
/// Modules of an input: the translation units of an archive's or an object's device code.
constexpr std::size_t k_modules = 65536;
/// All entries of an input once decompressed.
constexpr std::uint64_t k_input_bytes = std::uint64_t{4} << 30;

// The interface that a PTX entry declares.

/// Functions, parameters, variables and called names of one PTX entry: 100,000 functions with up to
/// eight parameters each. About 150 bytes of memory each.
constexpr std::size_t k_declarations = std::size_t{1} << 20;
/// Declarations of all entries of a fatbin, or of an input's modules, together: up to 1.5 GB.
constexpr std::size_t k_fatbin_declarations = std::size_t{1} << 22;
/// Parameters of a function. CUDA passes at most 32,764 bytes, 4,095 pointers.
constexpr std::size_t k_parameters = 4096;
/// The name of a function, parameter or variable. Names of nested templates reach a few thousand.
constexpr std::size_t k_name_bytes = 16384;
/// The name of a type: "bf16x2", "v4.f32", ".samplerref".
constexpr std::size_t k_type_bytes = 32;
/// Words of one statement: 16 MiB of memory. A call of 4,096 parameters has 16,400.
constexpr std::size_t k_statement_words = std::size_t{1} << 20;

// The interface of a cubin: the limits of PTX, and this one, because symbols may share names.

/// The names of a cubin's functions and variables together.
constexpr std::size_t k_cubin_name_bytes = std::size_t{64} << 20;

// The options of a link.

/// Kernels, or variables, that a link keeps by name: 64 KiB of options for short names.
constexpr std::size_t k_kept_names = 4096;
/// Options passed on to ptxas, or to libNVVM, which have some 60 and 15.
constexpr std::size_t k_raw_options = 256;
/// One of them.
constexpr std::size_t k_option_bytes = 4096;

// Reports.

/// Findings of one id in a report of preflight.
constexpr std::size_t k_findings = 1000;
/// Cells of edit-distance tables that a report may fill for "did you mean": some 30 ms.
constexpr std::size_t k_similarity_work = std::size_t{1} << 24;
/// Names that a message lists before "and N more".
constexpr std::size_t k_listed_names = 20;

// Sidecars, idents, references and launch plans.

/// A .json file beside a fatbin.
constexpr std::uint64_t k_json_bytes = std::uint64_t{1} << 20;
/// Nesting depth of arrays and objects in JSON: copying and destroying it recurses.
constexpr unsigned k_json_depth = 64;
/// A reference expression, or a formula of a launch plan.
constexpr std::size_t k_expression_bytes = 4096;
/// Nesting depth of parentheses in them.
constexpr unsigned k_expression_depth = 64;
/// Arguments, lets, launches, outputs or types of a launch plan, each.
constexpr std::size_t k_plan_parts = 64;
/// Operands of what an output is computed by; each offset of a window is one.
constexpr std::size_t k_operands = 4096;
/// A mangled type that is demangled; longer ones are shown as they are.
constexpr std::size_t k_mangled_bytes = 128;
/// References to earlier parts in a mangled type: each may double its text.
constexpr std::size_t k_mangled_references = 16;
/// A demangled type; longer ones are shown mangled.
constexpr std::size_t k_demangled_bytes = 4096;
// The reference device.

/// Tokens of the PTX that is loaded: about 80 MB of text, 1.5 GB of memory.
constexpr std::uint64_t k_tokens = std::uint64_t{1} << 24;
/// Nesting depth of braces in a body. nvcc writes two levels.
constexpr unsigned k_scope_depth = 64;
/// Nesting depth of braces in an initialiser: the dimensions of an array.
constexpr unsigned k_initializer_depth = 32;
/// Nesting depth of parentheses and signs in a constant expression of PTX.
constexpr unsigned k_constant_depth = 64;
/// All .global and .const variables of a loaded module.
constexpr std::uint64_t k_module_bytes = std::uint64_t{1} << 30;
/// All .const variables of a loaded module, as ptxas limits them.
constexpr std::uint64_t k_constant_bytes = std::uint64_t{64} << 10;
/// All .shared variables that a kernel reaches, as ptxas limits them.
constexpr std::uint64_t k_static_shared_bytes = std::uint64_t{48} << 10;
/// The registers of a function for one thread, each of which has its place: 131,072 of 64 bits.
constexpr std::uint32_t k_register_bytes = 1U << 20U;
/// Local memory of a thread, as CUDA's.
constexpr std::uint32_t k_local_bytes = 512U << 10U;

}  // namespace fatlink::limits
