// SPDX-License-Identifier: Apache-2.0
// The functions of linked images, to tell which calls are left and which hooks were inlined, and
// their kernels and variables. Sources: ptxas of CUDA 12.9 to 13.0 names a device function
// `user_transform`, or `$kernel$user_transform` where it belongs to a kernel; it marks kernels by
// 0x10 in st_other (CUDA 13.0, sm_75 to sm_121). .nv.callgraph of cubins (docs/cubin_format.md) has
// the calls of functions that have a section of their own, not calls by address. Threads: no shared
// state.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/bytes.hpp"
#include "fatlink/fatbin.hpp"
#include "fatlink/image.hpp"
#include "fatlink/preflight.hpp"
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

struct image_call {
  std::string caller;
  std::string callee;
  bool operator==(image_call const&) const = default;
};

/// The direct calls in a linked cubin.
/// @throws file_error (stage image) it is damaged; states the offset.
std::vector<image_call> calls_in_cubin(bytes_view cubin);

/// The direct calls in PTX, in the order of the text.
std::vector<image_call> calls_in_ptx(std::string_view ptx);

/// The caller and the name of a function that belongs to a kernel: `k` and `f` of `$k$f`; both
/// empty for other functions.
image_call split_inner_name(std::string_view name);

/// Adds to `image` each hook that an input fills, and whether it is inlined. Adds a warning for
/// each hook that an LTO link left as a call. The hooks of raw LTO-IR cannot be read: those that an
/// input with readable functions fills are added if they are left as functions in the image.
void record_inlining(linked_image& image, std::vector<fatbin> const& inputs,
                     entry_choice const& choice);

/// After record_inlining. @throws link_error a hook is still called (not_inlined).
void check_inlined(linked_image const& image, std::vector<fatbin> const& inputs);

}  // namespace fatlink::detail
