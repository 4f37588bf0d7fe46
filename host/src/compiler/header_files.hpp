// SPDX-License-Identifier: Apache-2.0
// The files that a compile may read: the host's end of the compiler's look-ups
// (linkd/file_calls.hpp). It opens regular files below the folders of the compile and no others, so
// the compiler finds headers by the rules of its own preprocessor.
//
// The compiler knows each folder by a name that does not depend on where it is, so that the same
// texts give the same code:
//   /@source     the folder of the source, searched first for headers that it includes with quotes,
//                and for no others; the compiler and its messages name a file in it "sub/f.cuh"
//   /@memory     headers in memory, searched first of the folders for all headers
//   /@1, /@2, …  the folders of -I, in their order
//   /@contract   the folder of the contract; searched: the folder in it that has the header
//   /@header     compile_options::header, and nothing else
//   /@data       `include` of the data folders
//   /@standard   headers of the C and C++ standard libraries that NVRTC lacks: those of fatlink
//                (include/nvrtc of its data folder), else of CCCL (cuda/std)
//   /@cuda       CUDA's own headers
// They are searched in this order. Other absolute paths are those of the machine: a file in one of
// the folders may also be included by its path. Where several folders have one name, the first that
// has a file provides it.
//
// What the compiler looked up is what the compile depends on besides its source and its options
// (compile_with_headers.hpp): the state of a path is the digest of the file, or why there is none.
// A path is looked up once, so that the text that was compiled is the text that was recorded.
// Threads: one at a time.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cache/unpacked_headers.hpp"
#include "compiler/installed_contract.hpp"
#include "fatlink/cache.hpp"
#include "fatlink/compiler.hpp"
#include "fatlink/library_file.hpp"
#include "link_helper/protocol.hpp"
#include "util/files/open_below.hpp"

namespace fatlink::detail {

/// The UTF-8 mark at its start is left out, which NVRTC does not accept.
std::string_view without_mark(std::string_view text);

/// The file of a source, beside which headers are that it includes with quotes.
struct source_place {
  std::filesystem::path folder = {};  ///< empty: the source is in memory
  std::string name = {};              ///< of the program
};

class header_files {
 public:
  /// `check_time`: called before each look-up; throws to stop it. The headers of `options` and the
  /// contract, which may be null, are copied. `source`: whose folder is searched, too.
  /// @throws file_error (invalid_source) one has a NUL; compile_options::header cannot be read.
  header_files(compile_options const& options, installed_contract const* contract,
               std::function<void()> check_time, source_place const& source = {});

  /// The folders of CUDA's headers. What was looked up in others is forgotten.
  void set_cuda_folders(std::vector<std::filesystem::path> const& folders);

  /// Answers the compiler.
  /// @throws file_error above_limit: more than 4,096 headers, 256 MiB of them, or 131,072 paths.
  looked_up_file answer(std::string const& path);
  /// The options of the compiler: the folders, and what it includes before the source.
  [[nodiscard]] std::vector<std::string> const& options() const noexcept { return options_; }
  /// The texts in memory, by their paths: also of the contract's header and
  /// compile_options::header.
  [[nodiscard]] std::map<std::string, std::string> const& memory() const noexcept
  {
    return memory_;
  }
  /// Whether `text` includes headers of /standard at most, as far as can be told without a
  /// preprocessor; where this errs, has_read_others() tells after the compile.
  bool includes_standard_only(std::string_view text);
  /// Whether the compiler has read other files than those of /standard and texts in memory.
  [[nodiscard]] bool has_read_others() const;
  /// Whether a name was in none of the folders.
  [[nodiscard]] bool has_missing() const noexcept { return has_missing_; }

  /// The paths that the compiler looked up, without those in memory. Of a path that is missing, the
  /// part that is missing as a whole.
  [[nodiscard]] std::set<std::string> const& record() const noexcept { return record_; }
  /// Adds paths of the record of an earlier compile, or of another one that this depends on.
  void add_to_record(std::set<std::string> const& paths);
  /// The state of each of `paths`, in one text. `is_shipped`: without CUDA's own headers.
  /// @throws as answer().
  std::string state_of(std::set<std::string> const& paths, bool is_shipped = false);
  /// Whether a folder of -I, or a header in memory, has or hides one of `paths`.
  bool has_own_of(std::set<std::string> const& paths);

  /// The folders that are searched for all headers.
  [[nodiscard]] std::vector<std::filesystem::path> folders() const;
  /// The files of the record.
  [[nodiscard]] std::vector<std::filesystem::path> files() const;
  /// Where the files of the record would be that are missing.
  [[nodiscard]] std::vector<std::filesystem::path> missing_files();
  /// The file of each path of the record, as the compiler's messages name it.
  [[nodiscard]] std::map<std::string, std::filesystem::path> files_by_name() const;
  /// Why a file is not read though a directive names it as `spelled`: "is outside of the folders",
  /// "is not a regular file", "is larger than 16 MiB", "has a NUL byte", "cannot be read"; empty:
  /// it is not there.
  [[nodiscard]] std::string refusal_of(std::string const& spelled) const;

 private:
  struct entry {
    looked_up_file found = {};  ///< without its text
    std::string text = {};
    std::string refusal = {};         ///< why it counts as missing; empty: it is
    std::filesystem::path file = {};  ///< empty: it is in memory, or of CCCL's names
  };
  struct folder {
    base_folder base;
    std::map<std::string, bool> parts = {};  ///< folders below it: whether they are there
  };
  struct root {
    std::string name = {};
    std::vector<folder> folders = {};
  };
  root& add_root(std::string name, std::vector<std::filesystem::path> const& folders);
  void add_search(std::string const& name) { options_.push_back("--include-path=" + name); }
  void add_text(std::string const& path, std::string_view text, std::filesystem::path const& file);
  void add_contract(installed_contract const& contract);
  void add_header(std::filesystem::path const& header);
  root* root_of(std::string const& path);
  entry const& look_up(std::string const& path);
  entry find(std::string const& path);
  entry find_in(root& place, std::string const& path, std::string const& name);
  entry find_by_path(std::filesystem::path const& path);
  entry find_of_cccl(std::string const& name);
  bool open(folder& place, std::string const& name, entry& result);
  void read(file_below const& opened, entry& result);
  [[nodiscard]] looked_up_file identity() const;

  std::string program_path_;  ///< of the source, which is no header
  bool has_folder_ = false;   ///< whether the source is a file, whose folder is searched
  std::vector<root> roots_;
  std::map<std::string, std::string> memory_;
  std::map<std::string, entry> entries_;  ///< by path
  std::set<std::string> record_;
  std::vector<std::string> options_;
  std::function<void()> check_time_;
  std::size_t header_count_ = 0;
  std::uint64_t size_ = 0;
  bool has_missing_ = false;
};

/// Where CUDA's own headers are, for #include <cuda_fp16.h> and <cub/cub.cuh>. The order:
///   1. of the toolkit or wheel that NVRTC belongs to
///   2. those that NVRTC brings, from 13.3 on, unpacked in the cache's folder
///   3. without 1. and 2.: of another toolkit or wheel (toolkit/toolkit_library.hpp)
/// Threads: no shared state.
class cuda_headers {
 public:
  /// `cache`: in whose folder NVRTC unpacks; null, or one in memory only: in that of
  /// default_cache_settings().
  cuda_headers(library_file const& nvrtc, link_cache const* cache);

  /// The folders that are there. Of 3. only if NVRTC brings no headers.
  [[nodiscard]] std::vector<std::filesystem::path> folders() const;
  /// The folders where NVRTC cannot unpack its headers: of 1., else of 3.
  [[nodiscard]] std::vector<std::filesystem::path> installed_folders() const;
  /// Whether NVRTC brings headers that 1. lacks and that are not unpacked.
  [[nodiscard]] bool must_unpack() const;
  /// Where NVRTC unpacks its headers.
  [[nodiscard]] cache::unpacked_headers const& unpacked() const noexcept { return unpacked_; }

 private:
  std::vector<std::filesystem::path> own_;
  bool brings_headers_ = false;
  cache::unpacked_headers unpacked_;
};

}  // namespace fatlink::detail
