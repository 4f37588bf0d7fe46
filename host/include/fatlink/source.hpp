// SPDX-License-Identifier: Apache-2.0
// Sources that are compiled at run time: CUDA C++, or LLVM IR in NVIDIA's dialect (NVVM IR) as text
// or bitcode. Needs neither CUDA nor a GPU.
// Threads: value types; objects share no state.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "fatlink/export.hpp"

namespace FATLINK_API fatlink {

/// The language of a source. It is recognized by content, except that .ll files are always LLVM IR.
enum class source_language {
  cuda,    ///< CUDA C++, for NVRTC
  nvvm_ir  ///< LLVM IR as text or bitcode, for libNVVM
};
/// "cuda" or "nvvm-ir".
char const* to_string(source_language language) noexcept;

/// The maximum size of CUDA C++ source and of a header, in bytes.
constexpr std::uint64_t k_largest_source = std::uint64_t{16} << 20;
/// The maximum size of LLVM IR in bytes. (NVSHMEM's bitcode has 54 MB.)
constexpr std::uint64_t k_largest_ir = std::uint64_t{256} << 20;

/// A source in memory.
class source {
 public:
  /// Reads a regular file of at most k_largest_source bytes, or k_largest_ir bytes for LLVM IR. A
  /// compile searches the file's folder for headers that are included with quotes.
  /// @throws file_error the file is missing, not a regular file, unreadable or too large; or
  ///   (invalid_source) the text is not UTF-8 or contains a NUL, or a .bc file is not bitcode.
  static source read(std::filesystem::path const& path);
  /// Takes text or bitcode in memory. `name` is for messages: "half.cu". `folder` is searched for
  /// headers as in read(); empty: none.
  /// @throws file_error as read, for the content.
  static source from_text(std::string text, std::string name, std::filesystem::path folder = {});

  [[nodiscard]] std::string const& name() const noexcept { return name_; }  ///< as given
  [[nodiscard]] std::string const& text() const noexcept { return text_; }  ///< the bytes
  /// The folder of the file that was read, "." for the working folder; for text in memory, the
  /// folder that was passed to from_text, which may be empty.
  [[nodiscard]] std::filesystem::path const& folder() const noexcept { return folder_; }
  /// The language of the source.
  [[nodiscard]] source_language language() const noexcept { return language_; }
  /// Whether the source is LLVM bitcode.
  [[nodiscard]] bool is_bitcode() const noexcept;

 private:
  source(std::string name, std::string text, source_language language)
      : name_(std::move(name)), text_(std::move(text)), language_(language)
  {
  }
  std::string name_;
  std::string text_;
  source_language language_;
  std::filesystem::path folder_;
};

/// Whether `path` has the ending of a source: .cu, .ll or .bc.
bool is_source_name(std::filesystem::path const& path);

}  // namespace fatlink
