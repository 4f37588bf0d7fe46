// SPDX-License-Identifier: Apache-2.0
// The types of array elements and of values: numbers, opaque bytes, and structs of numbers with the
// layout of C++.
// Units: bytes.
// Threads: value types; objects share no state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/export.hpp"

namespace FATLINK_API fatlink {

/// The maximum size of an array element, and of a value that is passed to a kernel.
inline constexpr std::size_t k_element_bytes = 4096;

/// What the bytes of an element mean. The text forms are those of NumPy: "float32".
enum class scalar_kind : std::uint8_t {
  float16,
  bfloat16,
  float32,
  float64,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  complex64,   ///< two float32: real, imaginary; aligned to 8 bytes, as in CUDA
  complex128,  ///< two float64, aligned to 16 bytes
  bytes,       ///< opaque bytes: "bytes8"
  record,      ///< a struct of named fields
};

/// A member of a struct.
struct element_field;

/// The type of one element or value.
struct element_type {
  scalar_kind kind = scalar_kind::float32;  ///< what the bytes mean
  std::size_t size = 4;                     ///< of one element, including padding; 1 to 4,096
  std::size_t alignment = 4;                ///< of one element; a power of two; 1 for bytes
  std::string name = {};                    ///< of a record: "window"; otherwise empty
  /// The fields of a record, in order; otherwise empty. There is no `= {}`, because clang 14 would
  /// need the complete type element_field.
  std::vector<element_field> fields;

  /// Whether kind, size and all fields are equal. The names of records are not compared.
  friend bool operator==(element_type const& a, element_type const& b);
};

/// A member of a struct: a number at an offset.
struct element_field {
  std::string name = {};   ///< an identifier
  element_type type = {};  ///< a number
  std::size_t offset = 0;  ///< from the start of the struct
};

/// The type of a number. @throws usage_error `kind` is bytes or record.
element_type scalar_type(scalar_kind kind);

/// `size` opaque bytes. @throws usage_error `size` is 0 or above 4,096.
element_type bytes_type(std::size_t size);

/// A struct with the fields `names` and `types`, in order, with the layout of C++: each field is at
/// a multiple of its alignment, and the size is rounded up to the largest alignment.
/// @throws usage_error there is no field, two fields have the same name, a name is not an
///   identifier, a field is not a number, or the size exceeds 4,096 bytes.
element_type record_type(std::string name, std::vector<std::string> const& names,
                         std::vector<element_type> const& types);

/// Parses "float32", "complex64", "bytes8"; nullopt for other text.
std::optional<element_type> parse_element_type(std::string_view text);

/// "float32", "bytes8"; for a record its name, or "{value: float32, index: int32}" if it has none.
std::string to_string(element_type const& type);

/// "float32" and the like for numbers; "bytes" and "record" for the last two.
char const* to_string(scalar_kind kind) noexcept;

}  // namespace fatlink
