// SPDX-License-Identifier: Apache-2.0
// The interface of a PTX module: kernels (.entry), definitions (.visible .func with a body), hooks
// (.extern .func without a body) and variables. For a cubin the same is known, but with coarse
// types (fatbin::interface, docs/cubin_format.md). LTO-IR cannot be read, but nvcc writes PTX with
// the same interface beside it, so this describes both. There is one exception: an inline function
// whose calls were all inlined is in the LTO-IR but not in the PTX.
//
// PTX declares the number of a function's parameters, and the width and alignment of each: float,
// int, bool, char and short are all .b32. The instructions that access a parameter show more
// (`ptx_parameter::accessed_as`). If no instruction accesses a parameter, its type is unknown.
// Signed and unsigned integers cannot be distinguished; neither can pointers and 64-bit integers.
// Source: PTX ISA 9.0, "Directives"; instructions: observed with nvcc 13.0 for sm_75 and sm_100.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/error.hpp"
#include "fatlink/export.hpp"

namespace FATLINK_API fatlink {

/// One parameter or result as PTX declares it: `.param .align 8 .b8 p[16]` is
/// {"b8", 8, 16}, `.param .b32 p` is {"b32", 0, 0}. A `.b32` may be float or int.
struct ptx_parameter {
  std::string type = {};    ///< without the dot
  unsigned align = 0;       ///< bytes, 0 if not stated
  unsigned long count = 0;  ///< array elements, 0 for a scalar
  bool is_pointer = false;  ///< `.ptr`; not written by nvcc 13.0, but by other compilers

  /// The type with which the module's ld.param and st.param instructions access a scalar: "f32",
  /// "s8"; empty if there is no access, or if accesses differ. For a hook it is the type that
  /// callers pass and read, which is the declared type. For a definition, a result has the declared
  /// type, and a parameter has the type with which the body reads it: a float whose bits are used
  /// as an integer is "u32", or "u8" if the body uses only those bits. "b32" means an integer; it
  /// is set only if the module's compiler writes "f32" for floats.
  std::string accessed_as = {};
  /// Of a definition: no instruction of the body uses the parameter. Unknown for a cubin.
  bool is_unread = false;
  /// Of a weak definition: a call in the same module passes no value for the parameter. nvcc 13.0
  /// omits arguments that the definition does not use, although another definition may replace it.
  bool is_unpassed = false;

  /// Compares the declarations, without `accessed_as`.
  friend bool operator==(ptx_parameter const& a, ptx_parameter const& b)
  {
    return a.type == b.type && a.align == b.align && a.count == b.count;
  }
};

/// A kernel or device function.
struct ptx_function {
  std::string name = {};                       ///< as in the PTX: mangled, unless it is extern "C"
  std::vector<ptx_parameter> results = {};     ///< none or one
  std::vector<ptx_parameter> parameters = {};  ///< without the `...` of a variadic function
  bool is_variadic = false;                  ///< takes `...`: `.param .align 8 .b8 p[]` at the end
  bool is_weak = false;                      ///< .weak: other modules may define it too
  std::array<unsigned, 3> required_block{};  ///< .reqntid, threads of a block; 0 if not stated
  unsigned max_block_threads = 0;            ///< .maxntid, its product; 0 if not stated

  /// Only the width class of each parameter and result is known, because a cubin states nothing
  /// more: "b32" is at most 32 bits, "b64" and "b128" are scalars of that width, and "b8" with a
  /// count is that number of bytes. For a kernel's parameters, only the number of bytes is known.
  /// Alignments are unknown.
  bool is_coarse = false;
  /// Of a hook: the module declares but never uses it, so that a link needs no definition. Unknown
  /// for a cubin.
  bool is_unused = false;
  /// The parameters and results are unknown, and the lists are empty: a cubin states no types for a
  /// function that it neither defines for others nor calls by name. Implies is_coarse.
  bool is_untyped = false;
};

/// Whether to_string states alignments.
enum class with_alignment { no, yes };

/// "(b32) user_transform(b32)", "apply_transform(b64, b64, b64)", "(b32) log(b64, ...)"; with
/// alignments "(align 16 b8[16]) f(align 16 b8[16])"; "f(?)" for a function without known types.
std::string to_string(ptx_function const& function, with_alignment alignment = with_alignment::no);

/// A module-scope variable: `.visible .global .align 4 .f32 scale` is {"scale", "global", "f32",
/// 4}. Arrays, structs and unions are arrays of b8.
struct ptx_variable {
  std::string name = {};    ///< as in the PTX: mangled, unless it is extern "C"
  std::string space = {};   ///< "global", "const" or "shared"
  std::string type = {};    ///< without the dot; vectors as "v4.f32"
  unsigned align = 0;       ///< bytes, 0 if not stated
  unsigned long count = 0;  ///< array elements, 0 for a scalar; the product of several dimensions
  bool is_unsized = false;  ///< declared with `[]`; .extern .shared: dynamic shared memory
  bool is_managed = false;  ///< __managed__
  bool is_weak = false;     ///< .weak or .common: other modules may define it too
  bool is_coarse = false;   ///< only the size is known: b8, with the bytes as count, as in a cubin
};

/// "global f32 scale", "const b8 table[16]", "shared b8 tile[]", "managed global u32 counter";
/// with alignment "global align 4 f32 scale".
std::string to_string(ptx_variable const& variable, with_alignment alignment = with_alignment::no);

/// The interface of a PTX module, or of a cubin.
struct ptx_interface {
  std::vector<ptx_function> kernels = {};      ///< .entry
  std::vector<ptx_function> definitions = {};  ///< .visible .func with a body
  std::vector<ptx_function> weak = {};         ///< .weak .func with a body: may be defined twice
  std::vector<ptx_function> hooks = {};        ///< .extern .func not defined in this module
  /// Names of .func with a body that are neither .visible nor .weak: no other module can call
  /// them. Sorted; empty for a cubin.
  std::vector<std::string> hidden = {};
  std::vector<ptx_variable> variables = {};           ///< .visible, .weak and .common definitions
  std::vector<ptx_variable> external_variables = {};  ///< .extern, not defined in this module
  /// Bytes of all __shared__ variables with a size, including private ones and those of functions.
  /// Unknown for a cubin.
  std::uint64_t shared_bytes = 0;
};

/// Reads the interface of the module `ptx`; `name` is its name in messages. The time is
/// proportional to the size of the text, and n log n in the number of names.
/// @throws file_error (stage fatbin): the text is not PTX; the message has `name` and the line.
///   With the code above-limit: there are more than 1,048,576 functions, parameters, variables and
///   called names, more than 4,096 parameters in a function, a name above 16,384 bytes, or a
///   statement of more than 1,048,576 words.
ptx_interface read_ptx_interface(std::string_view ptx, std::string_view name = "ptx");

}  // namespace fatlink
