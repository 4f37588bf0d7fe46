// SPDX-License-Identifier: Apache-2.0
// The header of a .npy file: a Python dictionary, read strictly, without Python's other literals.
//   <header> ::= "{" <item> ("," <item>)* [","] "}" and spaces
//   <item>   ::= "'descr'" ":" <dtype> | "'fortran_order'" ":" ("True" | "False")
//              | "'shape'" ":" "(" [<number> ("," <number>)* [","]] ")"
//   <dtype>  ::= <string> | "[" <field> ("," <field>)* [","] "]"
//   <field>  ::= "(" <string> "," <string> ")"       the name '' is padding, of dtype '|V3'
// Source: NumPy Enhancement Proposal 1; numpy.lib.format of NumPy 2. Dtypes and element types:
//   <f2 <f4 <f8 |i1 <i2 … |u1 … <c8 <c16   the numbers of these sizes; |b1 is read as uint8
//   |V8                                    bytes8; <V2, which ml_dtypes writes for bfloat16, bytes2
//   a list                                 a record, with the offsets that the list implies
// Units: elements. Threads: no shared state.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/element_type.hpp"

namespace fatlink::detail {

struct npy_header {
  element_type type = {};
  std::vector<std::size_t> extents = {};  ///< slowest first; none: one element
  std::string note = {};                  ///< how `type` differs from the dtype; empty: it does not
};

/// @throws file_error (invalid-npy) names `path`, the part of the header and the remedy: not of the
///   grammar above, big-endian, in Fortran order with several dimensions, or of a dtype that no
///   element type stands for.
npy_header parse_npy_header(std::string_view text, std::filesystem::path const& path);

/// The header's text of an array, without padding spaces. bfloat16 is written as '<V2'.
std::string npy_header_text(element_type const& type, std::span<std::size_t const> extents);

/// The dtype of `type` as it stands in a header: "'<f4'", "[('value', '<f4')]".
std::string npy_dtype(element_type const& type);

/// "(3,)", "(2, 3)"
std::string npy_shape(std::span<std::size_t const> extents);

}  // namespace fatlink::detail
