// SPDX-License-Identifier: Apache-2.0
// Reads and writes .npy files of little-endian arrays of every element type in chunks of bytes, so
// that files may be larger than memory. Format: NumPy Enhancement Proposal 1, versions 1.0 to 3.0;
// dtypes: npy_header below. Arrays of several dimensions are row-major. Units: elements, unless a
// name says bytes. Threads: a reader may be used by several threads; a writer by one at a time.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/element_type.hpp"
#include "fatlink/error.hpp"
#include "util/files/output_file.hpp"

namespace fatlink {

/// Whether elements of the type `stored` in a .npy file are those of a plan's type `expected`: the
/// same type, or two bytes for bfloat16, which NumPy has no dtype for.
bool is_stored_as(element_type const& expected, element_type const& stored);

/// A .npy file opened for reading.
class npy_reader {
 public:
  /// @throws file_error the file is missing, unreadable or not a .npy file; its dtype is none of
  ///   npy_header; it is big-endian, or in Fortran order with several dimensions; or its
  ///   size differs from what the shape says.
  explicit npy_reader(std::filesystem::path const& path);
  /// Reads the open descriptor `stream`, which may be a pipe, to its end; `name` is for messages.
  /// The content of a pipe is kept in an unnamed temporary file ($TMPDIR, else /tmp).
  /// @throws file_error as the other constructor.
  npy_reader(int stream, std::string const& name);
  ~npy_reader();
  npy_reader(npy_reader&&) noexcept;
  npy_reader& operator=(npy_reader&&) noexcept;

  [[nodiscard]] std::filesystem::path const& path() const noexcept;  ///< what errors call it
  [[nodiscard]] element_type const& type() const noexcept;           ///< of an element
  /// Slowest first; none: an array without dimensions, of one element.
  [[nodiscard]] std::vector<std::size_t> const& extents() const noexcept;
  [[nodiscard]] std::size_t size() const noexcept;         ///< the product of the extents
  [[nodiscard]] std::string const& note() const noexcept;  ///< "bool is read as uint8", or empty

  /// Copies the elements that begin with `start` to `bytes`, whose size is a multiple of that of an
  /// element. @throws file_error the file became shorter, or reading failed.
  void read(std::size_t start, std::span<std::byte> bytes) const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// A .npy file that is being written. It appears at its path when commit() succeeds, complete.
class npy_writer {
 public:
  /// Of an array of `extents`; none: of one element.
  /// @throws file_error the folder does not exist or is not writable.
  npy_writer(std::filesystem::path const& path, element_type const& type,
             std::span<std::size_t const> extents);
  /// Writes to `file` and commits it.
  npy_writer(std::unique_ptr<output_file> file, element_type const& type,
             std::span<std::size_t const> extents);
  ~npy_writer();  ///< without commit(): removes the partial file
  npy_writer(npy_writer&&) noexcept;
  npy_writer& operator=(npy_writer&&) noexcept;

  /// Appends bytes of elements. @throws file_error more than announced, or writing failed.
  void append(std::span<std::byte const> bytes);
  /// Puts the complete file in place. @throws file_error fewer elements than announced, or writing
  ///   failed.
  void commit();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace fatlink

namespace fatlink::detail {

/// The header of a .npy file: a Python dictionary, read strictly, without Python's other literals.
///   <header> ::= "{" <item> ("," <item>)* [","] "}" and spaces
///   <item>   ::= "'descr'" ":" <dtype> | "'fortran_order'" ":" ("True" | "False")
///              | "'shape'" ":" "(" [<number> ("," <number>)* [","]] ")"
///   <dtype>  ::= <string> | "[" <field> ("," <field>)* [","] "]"
///   <field>  ::= "(" <string> "," <string> ")"       the name '' is padding, of dtype '|V3'
/// Source: NumPy Enhancement Proposal 1; numpy.lib.format of NumPy 2. Dtypes and element types:
///   <f2 <f4 <f8 |i1 <i2 … |u1 … <c8 <c16   the numbers of these sizes; |b1 is read as uint8
///   |V8                                    bytes8; <V2, which ml_dtypes writes for bfloat16,
///   bytes2 a list                                 a record, with the offsets that the list implies
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
