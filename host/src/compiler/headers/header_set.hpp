// SPDX-License-Identifier: Apache-2.0
// The headers of a compile, read by the host and passed to the compiler in memory: the compiler's
// process opens no files. A header is read if an #include or __has_include names it, in the source
// or in a header that was read, whatever the conditions around it; so what is read depends only on
// the texts and the folders. One that cannot be read is left out: only the compiler knows whether
// the source needs it.
//
// NVRTC looks names up as they are spelled, so each file has one name in the set, and directives in
// files that spell it otherwise are changed:
//   a/b.h       what <a/b.h> finds: a header in memory, else that file of the first folder
//   @1/a/b.h    a file of the folder 1 that <a/b.h> does not find
//   @contract/x the header that is included before the source, and files beside it
//   cstdint     a header of the C++ standard library, if it is in no folder (standard_headers.hpp)
//   @standard/x the same, where #include_next passes over a file of that name
//   @next/x     in directives only: #include_next finds no file
// The source is not changed: where it spells a name otherwise, a header of that name includes the
// file. So "x.h" in a file finds the file beside it, and no file is in the set twice. Where "x.h"
// is one of several values of a macro, or in the value of a macro, the compiler takes the file that
// has that name for all; if it is another one than the one beside the file, this is refused.
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

#include "compiler/directives/include_lines.hpp"
#include "compiler/headers/header_folders.hpp"
#include "compiler/headers/header_macros.hpp"
#include "compiler/headers/header_texts.hpp"
#include "vendor_compiler/program.hpp"

namespace fatlink::detail {

/// Where headers are searched.
struct header_sources {
  std::vector<std::filesystem::path> folders = {};       ///< in the order of search
  std::vector<std::filesystem::path> cuda_folders = {};  ///< after these
  std::map<std::string, std::string> in_memory = {};     ///< name and text; searched first
  /// Called before each header is searched or read; throws to stop that. Empty: nothing is called.
  std::function<void()> check_time = {};
};

class header_set {
 public:
  /// @throws file_error as header_texts::insert.
  explicit header_set(header_sources const& sources);

  /// Adds a header that is included before the source, and what it includes; the source may also
  /// include it by `file_name`. `place`: the folder for "…" in it, and its path below that, whose
  /// file name is `file_name`; an empty folder: it has none. Returns its name in the set.
  /// @throws file_error as add_includes_of.
  std::string add_forced(std::string const& file_name, std::string text,
                         std::filesystem::path const& folder, std::string const& path = {});
  /// Adds the headers that the source includes, and what they include.
  /// @throws file_error above_limit: more than 4,096 headers, 256 MiB of them, or more directives
  ///   than k_most_directives; invalid_source: a header in memory, or the forced one, has a NUL.
  /// @throws compile_error (header_not_found) a name means two files; (above_limit) the macros of
  ///   __has_include may name more headers than the limits of macro_expander.
  void add_includes_of(std::string_view text);
  /// The macros that options define: "NAME=VALUE". Call it before add_includes_of.
  void add_definitions(std::vector<std::string> const& definitions);
  /// Adds a header that only the compiler could name: by a macro beyond the limits of
  /// macro_expander. Returns false if it is in no folder, or in the set already.
  /// @throws as add_includes_of.
  bool add(std::string const& name);
  /// Adds a text for the compiler that is not a header.
  void add_text(std::string const& name, std::string text);

  /// All headers, in the order of their names.
  [[nodiscard]] std::vector<memory_header> headers() const;
  /// The folders that are searched.
  [[nodiscard]] std::vector<std::filesystem::path> folders() const { return folders_.paths(); }
  /// Whether the header that is included before the source is the only one, besides fatlink's own.
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
  [[nodiscard]] std::string refusal_of(std::string const& name) const
  {
    return folders_.refusal_of(name);
  }
  /// `log` with the names that headers spell, where #include_next finds no file.
  [[nodiscard]] static std::string with_spelled_names(std::string log);

 private:
  using optional_place = std::optional<header_place>;  ///< of the includer; empty: in memory
  std::string resolve(include_line const& line, optional_place const& includer);
  std::string find_beside(std::string const& spelled, header_place const& includer);
  std::string find_in_folders(include_line const& line, optional_place const& includer);
  std::string find_standard(std::string const& spelled);
  std::string name_of(header_place const& place);
  std::string insert(header_place const& place, std::string const& spelled);
  [[nodiscard]] bool is_taken(std::string const& name) const;
  void resolve_for_source(include_line line);
  bool resolve_macros();
  void resolve_value(header_macros::value const& value);
  void read_pending();
  void read_all();
  void edit_directives(std::string const& name);
  void edit_directive(header_texts::header& subject, include_line const& line);
  void check_time();

  header_folders folders_;
  std::function<void()> check_time_;
  header_texts texts_;
  std::set<std::string> memory_names_;                  ///< of headers that are in memory only
  std::map<std::string, std::string> standard_names_;   ///< in the set, by spelling
  std::map<std::filesystem::path, std::string> names_;  ///< of files; empty: it cannot be read
  std::map<std::pair<std::string, std::size_t>, optional_place> found_places_;  ///< by spelling
  std::string forced_file_name_;
  std::string forced_name_;
  optional_place forced_place_;
  header_macros macros_;
  std::uint64_t size_ = 0;
  bool has_missing_ = false;
};

}  // namespace fatlink::detail
