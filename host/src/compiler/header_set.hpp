// SPDX-License-Identifier: Apache-2.0
// The headers of a compile, read by the host and passed to the compiler in memory: the compiler's
// process opens no files. A header is read if an #include names it, in the source or in a header
// that was read, whatever the conditions around it; so what is read depends only on the texts and
// the folders. Only regular files below the folders are read, with symbolic links resolved.
// NVRTC looks names up as they are spelled, so a directive that names a file relative to its own
// ("detail/b.h" in a/a.h) is rewritten to the file's name in the set ("a/detail/b.h").
// Threads: one at a time.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/include_macros.hpp"
#include "vendor_compiler/program.hpp"

namespace fatlink::detail {

class header_set {
 public:
  /// `folders`: in the order of search. `in_memory`: name and text; searched first.
  header_set(std::vector<std::filesystem::path> folders,
             std::map<std::string, std::string> const& in_memory);

  /// Adds the headers that `text` includes, and what they include.
  /// @throws file_error above_limit: more than 4,096 headers, or 256 MiB of them.
  void add_includes_of(std::string_view text);
  /// Adds a header that only the compiler could name: by a macro of its options, or of several
  /// parts. Returns false if it is in no folder, or in the set already. @throws file_error as
  /// above.
  bool add(std::string const& name);
  /// Adds a header that is in memory only. Its includes are not searched.
  void add_text(std::string name, std::string text);

  /// All headers, in the order of their names.
  [[nodiscard]] std::vector<memory_header> headers() const;
  [[nodiscard]] std::vector<std::filesystem::path> const& folders() const noexcept
  {
    return folders_;
  }
  /// The files that were read.
  [[nodiscard]] std::vector<std::filesystem::path> files() const;
  /// Where the files would be that directives name and that are in none of the folders.
  [[nodiscard]] std::vector<std::filesystem::path> missing_files() const;
  /// Whether a directive names a file that is in none of the folders.
  [[nodiscard]] bool has_missing() const noexcept { return has_missing_; }
  /// Why `name` was not read although there is a file: "is outside of the folders", "is not a
  /// regular file"; empty: there is none.
  [[nodiscard]] std::string refusal_of(std::string const& name) const;

 private:
  /// A file below a folder.
  struct location {
    std::size_t folder = 0;
    std::string name = {};  ///< relative to the folder, normal
  };
  struct pending {
    std::string name = {};  ///< in the set
    location place = {};
  };
  enum class file_kind { missing, outside, irregular, folder, regular };
  std::optional<location> find(std::string const& spelled, bool is_quoted, pending const* includer);
  std::optional<location> find_in_folders(std::string const& spelled);
  bool is_file(std::size_t folder, std::string const& name, std::string const& spelled);
  file_kind kind_of(std::size_t folder, std::string const& name);
  [[nodiscard]] file_kind read_kind(std::size_t folder, std::string const& name) const;
  std::string insert(location const& place);
  std::string read(std::filesystem::path const& file);
  void read_pending();
  bool insert_named_by_macros();
  void read_all();
  std::string rewrite(std::string text, pending const& owner);

  std::vector<std::filesystem::path> folders_;  ///< canonical
  std::set<std::string> memory_names_;          ///< of headers that are in memory only
  std::map<std::string, std::string> texts_;    ///< by name in the set
  std::map<std::pair<std::size_t, std::string>, std::string> names_;  ///< of files in the set
  std::map<std::string, std::string> refusals_;
  std::map<std::pair<std::size_t, std::string>, file_kind> kinds_;  ///< of files looked for
  std::map<std::string, std::optional<location>> places_;           ///< by spelling
  include_macros macros_;
  std::vector<pending> pending_;
  std::uint64_t size_ = 0;
  bool has_missing_ = false;
};

}  // namespace fatlink::detail
