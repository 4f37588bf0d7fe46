// SPDX-License-Identifier: Apache-2.0
// Source that is compiled at run time: CUDA C++, or LLVM IR in NVIDIA's dialect (NVVM IR) as text
// or bitcode. Needs neither CUDA nor a GPU. Threads: values.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "fatlink/export.hpp"

namespace FATLINK_API fatlink {

/// The language of a source, by its content; files named .ll are always LLVM IR.
enum class source_language {
  cuda,    ///< CUDA C++, for NVRTC
  nvvm_ir  ///< LLVM IR as text or bitcode, for libNVVM
};
/// "cuda" or "nvvm-ir".
char const* to_string(source_language language) noexcept;

/// The most bytes of a source of CUDA C++, or of a header.
constexpr std::uint64_t k_largest_source = std::uint64_t{16} << 20;
/// The most bytes of LLVM IR. NVSHMEM's bitcode has 54 MB.
constexpr std::uint64_t k_largest_ir = std::uint64_t{256} << 20;

/// A source in memory.
class source {
 public:
  /// Reads a regular file of at most k_largest_source bytes, or k_largest_ir of LLVM IR. A compile
  /// searches the file's folder for headers that it includes with quotes.
  /// @throws file_error missing, not a regular file, unreadable, too large; or
  ///   (invalid_source) text that is not UTF-8 or has a NUL, or a .bc that is no bitcode.
  static source read(std::filesystem::path const& path);
  /// Takes text, or bitcode, in memory. `name` is for messages: "half.cu". `folder`: that of the
  /// file which the text is from, searched as by read; empty: none.
  /// @throws file_error as read, for the content.
  static source from_text(std::string text, std::string name, std::filesystem::path folder = {});

  [[nodiscard]] std::string const& name() const noexcept { return name_; }  ///< as given
  [[nodiscard]] std::string const& text() const noexcept { return text_; }  ///< the bytes
  /// The folder of the file that it was read from, "." for the working folder; of a text in memory
  /// that of from_text, which may be empty.
  [[nodiscard]] std::filesystem::path const& folder() const noexcept { return folder_; }
  /// The language that it was recognized as.
  [[nodiscard]] source_language language() const noexcept { return language_; }
  /// Whether it is LLVM IR as bitcode.
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

/// Whether the ending of `path` is one of a source: .cu, .ll or .bc.
bool is_source_name(std::filesystem::path const& path);

}  // namespace fatlink
