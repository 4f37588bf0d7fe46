// SPDX-License-Identifier: Apache-2.0
// The headers of a compile, read by the host and passed to the compiler in memory: the compiler's
// process opens no files. A header is read if an #include or __has_include names it, in the source
// or in a header that was read, whatever the conditions around it; so what is read depends only on
// the texts and the folders. One that cannot be read is left out: only the compiler knows whether
// the source needs it.
//
// NVRTC looks names up as they are spelled, so each file has one name in the set, and directives in
// files that spell it otherwise are rewritten:
//   a/b.h       what <a/b.h> finds: a header in memory, else that file of the first folder
//   @1/a/b.h    a file of the folder 1 that <a/b.h> does not find
//   @contract/x the header that is included before the source, and files beside it
// The source is not rewritten: where it spells a name otherwise, a header of that name includes the
// file. So "x.h" in a file finds the file beside it, and no file is in the set twice.
// Threads: one at a time.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/header_folders.hpp"
#include "compiler/include_macros.hpp"
#include "vendor_compiler/program.hpp"

namespace fatlink::detail {

class header_set {
 public:
  /// `folders`: in the order of search. `in_memory`: name and text; searched first. `check`: called
  /// before each header is searched or read, by every member function that adds some; it may throw.
  header_set(std::vector<std::filesystem::path> const& folders,
             std::map<std::string, std::string> const& in_memory, std::function<void()> check = {});

  /// Adds a header that is included before the source, and what it includes; the source may also
  /// include it by `file_name`. `folder`: its own, for "…" in it and in files beside it; empty: it
  /// has none. Returns its name in the set. @throws file_error as add_includes_of.
  std::string add_forced(std::string const& file_name, std::string text,
                         std::filesystem::path const& folder);
  /// Adds the headers that the source includes, and what they include.
  /// @throws file_error above_limit: more than 4,096 headers, or 256 MiB of them.
  void add_includes_of(std::string_view text);
  /// The macros that options define: "NAME=VALUE". Call it before add_includes_of.
  void add_definitions(std::vector<std::string> const& definitions);
  /// Adds a header that only the compiler could name: by a macro of several parts. Returns false if
  /// it is in no folder, or in the set already. @throws file_error as above.
  bool add(std::string const& name);
  /// Adds a text that is no header.
  void add_text(std::string name, std::string text);

  /// All headers, in the order of their names.
  [[nodiscard]] std::vector<memory_header> headers() const;
  /// The folders that are searched.
  [[nodiscard]] std::vector<std::filesystem::path> folders() const { return folders_.paths(); }
  /// Whether the header that is included before the source is the only one.
  [[nodiscard]] bool has_only_forced() const noexcept;
  /// The files that were read.
  [[nodiscard]] std::vector<std::filesystem::path> files() const;
  /// The file of each name in the set that is of a file.
  [[nodiscard]] std::map<std::string, std::filesystem::path> files_by_name() const;
  /// Where the files would be that directives name and that are in none of the folders.
  [[nodiscard]] std::vector<std::filesystem::path> missing_files() const;
  /// Whether a directive names a file that is in none of the folders.
  [[nodiscard]] bool has_missing() const noexcept { return has_missing_; }
  /// The first name of a file outside of the folders; empty: there is none.
  [[nodiscard]] std::string outside() const { return folders_.outside(); }
  /// Why `name` was not read, see header_folders::refusal_of.
  [[nodiscard]] std::string refusal_of(std::string const& name) const;

 private:
  using optional_place = std::optional<header_place>;  ///< of the includer; empty: in memory
  /// A text whose directives are to be read.
  struct pending {
    std::string name = {};  ///< in the set
    optional_place place = {};
  };

  std::string resolve(include_line const& line, optional_place const& includer);
  std::string find_beside(std::string const& spelled, header_place const& includer);
  std::string find_in_folders(include_line const& line, std::size_t first);
  std::string name_of(header_place const& place);
  std::string insert(header_place const& place, std::string const& spelled);
  void insert_text(std::string const& name, std::string text, optional_place place);
  void resolve_for_source(include_line const& line);
  bool resolve_macros();
  void read_pending();
  void read_all();
  std::string rewrite(std::string const& text, optional_place const& owner);

  header_folders folders_;
  std::function<void()> check_;
  std::set<std::string> memory_names_;                  ///< of headers that are in memory only
  std::map<std::string, std::string> texts_;            ///< by name in the set
  std::map<std::filesystem::path, std::string> names_;  ///< in the set, of files
  std::map<std::pair<std::string, std::size_t>, optional_place> found_places_;  ///< by spelling
  std::string forced_file_name_;
  std::string forced_name_;
  optional_place forced_place_;
  include_macros macros_;
  std::set<std::string> resolved_macros_;
  std::vector<pending> pending_;
  std::uint64_t size_ = 0;
  bool has_missing_ = false;
};

}  // namespace fatlink::detail
