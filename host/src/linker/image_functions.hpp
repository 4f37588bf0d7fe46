// SPDX-License-Identifier: Apache-2.0
// The functions of linked images, to tell which calls are left, and their kernels and variables.
// Source: ptxas of CUDA 12.9 to 13.0 names a device function `user_transform`, or
// `$kernel$user_transform` where it belongs to a kernel; it marks kernels by 0x10 in st_other
// (CUDA 13.0, sm_75 to sm_121). Threads: no shared state.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/bytes.hpp"
#include "fatlink/image.hpp"
#include "util/bytes/elf_reader.hpp"

namespace fatlink::detail {

/// Calls `read` with a reader of `cubin`.
/// @throws file_error (stage image) what `read` reads is damaged; states the offset.
void read_image(bytes_view cubin, std::function<void(elf_reader const&)> const& read);

/// @throws file_error (stage image) `cubin` is not an ELF file, or not an executable one: nvJitLink
///   also makes relocatable ones, with options that fatlink does not pass on.
void check_executable(bytes_view cubin);

/// The functions left in a cubin, by its symbol table: kernels, and device functions that are still
/// called.
/// @throws file_error (stage image) `cubin` is not a CUDA ELF file; states the offset.
std::vector<std::string> functions_in_cubin(bytes_view cubin);

/// The functions that PTX declares or defines.
std::vector<std::string> functions_in_ptx(std::string_view ptx);

/// The functions of an image of any kind. @throws file_error as functions_in_cubin.
std::vector<std::string> functions_in(linked_image const& image);

/// What a host looks up in an image by name.
struct image_symbols {
  std::vector<std::string> kernels;
  std::vector<std::string> variables;  ///< static ones included in a cubin
};

/// The kernels and variables that a cubin or emitted PTX defines.
/// @throws file_error as functions_in_cubin, or `image` is not valid PTX.
image_symbols symbols_in(image_kind kind, bytes_view image);

/// The functions of a linked image, for many lookups: sorted by their last letters.
class linked_functions {
 public:
  explicit linked_functions(std::vector<std::string> names);

  /// Whether no function is called `hook` or has a name that ends in "$" and `hook`.
  [[nodiscard]] bool inlined(std::string const& hook) const;

 private:
  [[nodiscard]] bool has_ending(std::string const& ending) const;

  std::vector<std::string> names_;
};

}  // namespace fatlink::detail
