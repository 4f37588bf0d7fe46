// SPDX-License-Identifier: Apache-2.0
// Compiles source to fatbins at run time, without nvcc: CUDA C++ with NVRTC, LLVM IR with libNVVM.
// Both run in the helper (fatlink-linkd), which is confined before it sees a source: a source that
// never ends, uses up the memory or crashes the compiler fails only its own compile. A source sees
// no files but those in the folders that the options name: the compiler's process opens none, and
// asks the host for each. Threads: one compiler may be used by several threads at once; each
// compile has a helper of its own. Fork: a child process starts its own helpers.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fatlink/cache.hpp"
#include "fatlink/export.hpp"
#include "fatlink/fatbin.hpp"
#include "fatlink/image.hpp"
#include "fatlink/source.hpp"
#include "fatlink/target.hpp"

namespace FATLINK_API fatlink {

/// What to compile for, and how.
struct compile_options {
  /// The installed contract that the source is for: "apply_transform". Its header is included
  /// before the source, so a hook of another type does not compile; the fatbin's ident states it.
  /// definitions and include_folders that change what the header declares are refused.
  /// For CUDA C++ the header is included; LLVM IR is compared with it after the compile, and where
  /// its types cannot be compared (other pointers than the contract's, classes, narrow integers),
  /// the ident states no contract. Empty: none.
  std::string contract = {};
  /// A header to include before the source instead; the ident states no contract then.
  std::filesystem::path header = {};
  /// Folders in which include directives search; those with quotes search first the folder of the
  /// file that has the directive, source::folder() for the source. After them the `include` folders
  /// of the data folders ($FATLINK_PATH, fatlink's packages) are searched, then
  /// compiler::header_folders. No other file can be read.
  std::vector<std::filesystem::path> include_folders = {};
  /// Headers in memory: the name as in the include directive, and the text. Searched first. Headers
  /// of the C and C++ standard libraries that are in no folder are those of fatlink and CCCL
  /// (docs/using.md).
  std::map<std::string, std::string> headers = {};
  std::vector<std::string> definitions = {};  ///< macros: "NAME", "NAME=VALUE", "NAME(x)=VALUE"
  std::string standard = "c++17";             ///< c++03, c++11, c++14, c++17 or c++20
  /// PTX and LTO-IR for each; at least one. Code for sm_75 links for every newer target.
  std::vector<target> architectures = {};
  std::vector<target> sass = {};  ///< also a relocatable cubin for each
  /// How floating-point numbers are computed; recorded in the fatbin. An lto link of inputs that
  /// record other flags is refused (float-contract) unless it states all of them (link_options).
  fatlink::float_flags float_flags = {};
  bool line_info = false;  ///< lines of the source for profilers, in PTX and cubins
};

/// Wall time of each step, milliseconds.
struct compile_times {
  double read_ms = 0;     ///< reading headers
  double lookup_ms = 0;   ///< in the cache
  double open_ms = 0;     ///< starting the helper that opens the compiler
  double compile_ms = 0;  ///< in the compiler
};

/// The headers that a compile looked up: what to watch for changes. In no order.
struct header_lookups {
  std::vector<std::filesystem::path> found = {};    ///< that were read
  std::vector<std::filesystem::path> missing = {};  ///< which do not exist, or their folder
};

/// A compiled source.
struct compiled_source {
  fatbin code;                               ///< PTX, LTO-IR and cubins
  std::vector<std::string> warnings = {};    ///< the compiler's, and problems of the cache
  cache_outcome cache = cache_outcome::off;  ///< whether the cache had it
  std::string producer = {};                 ///< "NVRTC 13.0"
  /// The headers that were read: of folders, and compile_options::header. In no order.
  std::vector<std::filesystem::path> headers = {};
  compile_times times = {};  ///< of each step
};

/// How a compiler works. Every field has a default.
struct compiler_settings {
  /// Time limit for one compile: reading the headers, starting the helper, compiling. Above 0, at
  /// most 600 s. Waiting until another compile of the process ends its helper, or for the same
  /// compile of another thread or process, does not count; each such wait has the same limit.
  std::chrono::milliseconds time_limit = std::chrono::seconds(30);
  unsigned memory_limit_mib = 2048;  ///< memory that one compile may use, 64 to 65536
  /// Searched before each compile; receives each compiled fatbin. First of all, unless the NVRTC is
  /// named, the compiles are searched that packages ship (compile_into). Null: no cache. NVRTC 13.3
  /// and newer unpacks the headers that it brings in the cache's folder; without one, in that of
  /// default_cache_settings().
  std::shared_ptr<link_cache> cache = {};
  std::filesystem::path nvrtc = {};    ///< the libnvrtc.so.13 to use, and no other; empty: searched
  std::filesystem::path libnvvm = {};  ///< the libnvvm.so.4 to use, likewise
  bool allow_unconfined = false;       ///< also compiles where the kernel refuses seccomp
};

/// Compiles sources. Copies share their helpers and their cache.
class compiler {
 public:
  /// Finds the vendor's compiler and starts the helper at the first compile, not now.
  /// @throws usage_error a setting out of range.
  explicit compiler(compiler_settings settings = {});

  /// Compiles `code` to a fatbin. Deterministic: the same source, headers, options and compiler
  /// give the same bytes, whatever the folders; except where a source uses __DATE__ or __TIME__,
  /// which the cache keeps. The cache key has the contents of every header that was read, and the
  /// paths of those that were looked up and are not there. `lookups`: receives them, also where
  /// this throws; null: nothing.
  /// @throws compile_error the compiler refuses the source (compile_failed, with its complete log
  ///   and the first error line in the message); header_not_found; missing-hook: the contract's
  ///   hook is neither defined nor called; compile_timeout; compile_memory; or the helper died
  ///   (SIGSEGV, …).
  ///   Also signature-mismatch: options change what the contract declares; above_limit.
  /// @throws unavailable_error there is no NVRTC or no libNVVM, also where the cache has a result
  /// of
  ///   another one; there is no helper, or all that this process may start are busy; or the
  ///   compiler does not know an architecture.
  /// @throws file_error a contract or header that is missing or damaged, or (above_limit) too many
  ///   headers, names of them or directives.
  /// @throws usage_error an option out of range.
  compiled_source compile(source const& code, compile_options const& options,
                          header_lookups* lookups = nullptr);

  /// Compiles with NVRTC or from the cache, not from what another layer ships, and also writes the
  /// fatbin into `layer`, a cache folder to be shipped: hosts that name no NVRTC
  /// (compiler_settings::nvrtc, $FATLINK_NVRTC) use it whatever NVRTC they have, or none. Its key
  /// has the source, the options, the contract, and the headers that are not CUDA's own. Of LLVM IR
  /// nothing is written. Throws as compile(); file_error `layer` cannot be written.
  compiled_source compile_into(std::filesystem::path const& layer, source const& code,
                               compile_options const& options);

  /// The folders in which <cuda_fp16.h> and the like are searched, after those of the
  /// options: of the toolkit or wheel that NVRTC belongs to; from 13.3 on, the headers that NVRTC
  /// brings, once a source needed them; before, those of another toolkit or wheel. Empty: there are
  /// none yet.
  [[nodiscard]] std::vector<std::filesystem::path> header_folders() const;

 private:
  struct FATLINK_PRIVATE state;
  std::shared_ptr<state> state_;  // shared by copies
};

}  // namespace fatlink
