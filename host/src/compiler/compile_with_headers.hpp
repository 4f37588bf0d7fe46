// SPDX-License-Identifier: Apache-2.0
// One compile of CUDA C++ that looks up headers: how often NVRTC runs for it, its cache key, which
// is everything that its fatbin depends on, and which of its results the cache has. Threads: one at
// a time.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/compiler_helpers.hpp"
#include "compiler/header_files.hpp"
#include "compiler/installed_contract.hpp"
#include "fatlink/compiler.hpp"
#include "toolkit/program.hpp"

namespace fatlink::detail {

/// What to compile.
struct header_compile {
  /// The program. `is_minimal`: without NVRTC's declarations of textures, launches and CUDA's
  /// runtime types, which halves the time.
  std::function<program(bool is_minimal)> make_program;
  std::string_view code = {};  ///< of the program
  /// Compiles a program; the compiler looks headers up in the files of compile_with_headers().
  std::function<std::vector<compile_product>(program const&)> compile;
};

/// Compiles, first without NVRTC's own declarations where no header needs them. Where a header is
/// in none of the folders and NVRTC brings some that are not unpacked, unpacks these and compiles
/// again. `headers_error`: receives why that failed; then those of another toolkit are used, or
/// none.
/// @throws as `compile`; compile_error (compile_timeout).
std::vector<compile_product> compile_with_headers(header_compile const& work, header_files& files,
                                                  cuda_headers const& places,
                                                  compiler_helpers& helpers,
                                                  std::string& headers_error);

/// Finds a compile in the cache by what it looked up, as the direct mode of ccache does. `key`:
/// what it depends on besides headers. Under `key` with "result:headers" the cache has the paths
/// that the compile looked up (header_files::record), and under `key` with their state the result;
/// under that key, again, the paths that a compile looked up in that state and in no earlier one.
/// Files are read, hashed and compared; nothing is preprocessed. `make`: compiles, and leaves its
/// look-ups in `files`.
/// @throws as `make`.
link_cache::result find_or_compile(cache_key const& key, header_files& files, link_cache& cache,
                                   compiler_helpers& helpers,
                                   std::function<cached_link()> const& make);

/// The key of the paths that a compile with `key` looked up.
cache_key record_key(cache_key key);
/// `key` with the state of the files of `paths`, which a compile with `key` looked up.
cache_key key_with_state(cache_key key, std::string const& state);
/// The paths of `record` on which a compile depends whatever compiler made it: not CUDA's headers.
std::set<std::string> shipped_part(std::set<std::string> record);
/// How the cache keeps a record.
cached_link encode_record(std::set<std::string> const& paths);
std::set<std::string> decode_record(cached_link const& record);

/// The SHA-256 of `text` in hexadecimal.
std::string digest_of(std::string_view text);

/// What a compile depends on besides its program and its options, and the headers that it looks up
/// (headers/compile_with_headers.hpp).
struct compile_conditions {
  std::string const& compiler;                   ///< its identity (library_file::identity)
  installed_contract const* contract = nullptr;  ///< null: none
  std::string nvrtc = {};         ///< that states the types of the contract's hooks, its identity
  bool allow_unconfined = false;  ///< whether it may run without the sandbox
  bool has_folder = false;        ///< whether the source is a file, whose folder is searched
};

/// Adds the name, the texts and the options of a program, and the headers in memory.
void add_program(cache_key& key, program const& subject,
                 std::map<std::string, std::string> const& headers);

/// Names of files are as the compiler sees them.
cache_key compile_key(program const& subject, std::map<std::string, std::string> const& headers,
                      compile_options const& options, compile_conditions const& conditions);

}  // namespace fatlink::detail
