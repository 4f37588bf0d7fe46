// SPDX-License-Identifier: Apache-2.0
// Compiles source to fatbins at run time, without nvcc: CUDA C++ with NVRTC, LLVM IR with libNVVM.
// Both run in the helper (fatlink-linkd), which enters a sandbox before it receives a source. A
// source that makes the compiler hang, crash or run out of memory fails only its own compile. A
// source can include only files in the folders that the options name: the helper opens no files,
// but requests each file from the host process.
// Threads: one compiler may be used by several threads at once; each compile uses its own helper.
// Fork: a child process starts its own helpers.
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
  /// The installed contract that the source is for: "apply_transform". It is recorded in the
  /// fatbin's ident. Empty: none. CUDA C++: the contract's header is included before the source, so
  /// a hook with another type does not compile. `definitions` and `include_folders` that change
  /// what the header declares are refused. LLVM IR: the hooks are compared with the header after
  /// the compile. If their types cannot be compared (pointers other than the contract's, classes,
  /// narrow integers), the ident states no contract.
  std::string contract = {};
  /// A header to include before the source, instead of a contract. The ident then states no
  /// contract.
  std::filesystem::path header = {};
  /// Folders in which included files are searched. A directive with quotes first searches the
  /// folder of the file that contains it; for the source this is source::folder(). The `include`
  /// folders of the data folders ($FATLINK_PATH, fatlink's packages) are searched next, then
  /// compiler::header_folders. No other file can be read.
  std::vector<std::filesystem::path> include_folders = {};
  /// Headers in memory: the name used in include directives, and the text. They are searched first.
  /// Headers of the C and C++ standard libraries that are not found elsewhere come from fatlink and
  /// CCCL (docs/using.md).
  std::map<std::string, std::string> headers = {};
  std::vector<std::string> definitions = {};  ///< macros: "NAME", "NAME=VALUE", "NAME(x)=VALUE"
  std::string standard = "c++17";             ///< c++03, c++11, c++14, c++17 or c++20
  /// The architectures to compile PTX and LTO-IR for; at least one. Code for sm_75 links for every
  /// newer target.
  std::vector<target> architectures = {};
  std::vector<target> sass = {};  ///< in addition, a relocatable cubin for each
  /// How floating-point numbers are computed; recorded in the fatbin. Inputs that record different
  /// flags cannot be linked in lto mode (float-contract) unless link_options sets all of them.
  fatlink::float_flags float_flags = {};
  /// Adds source lines for debuggers and profilers to PTX, LTO-IR and cubins. For CUDA C++ in
  /// memory (source::folder() is empty), the lines are those of a copy that is kept in the folder
  /// of the compiler's cache, if it has one; otherwise the lines name the file without its folder.
  bool line_info = false;
};

/// Wall time of each step, milliseconds.
struct compile_times {
  double read_ms = 0;     ///< reading headers
  double lookup_ms = 0;   ///< searching the cache
  double open_ms = 0;     ///< starting the helper that opens the compiler
  double compile_ms = 0;  ///< compiling
};

/// The headers that a compile looked up, so that a caller can watch them for changes. Unordered.
struct header_lookups {
  std::vector<std::filesystem::path> found = {};    ///< headers that were read
  std::vector<std::filesystem::path> missing = {};  ///< paths at which there is no file
};

/// A compiled source.
struct compiled_source {
  fatbin code;                               ///< PTX, LTO-IR and cubins
  std::vector<std::string> warnings = {};    ///< from the compiler and the cache
  cache_outcome cache = cache_outcome::off;  ///< whether it came from the cache
  std::string producer = {};                 ///< "NVRTC 13.0"
  /// The headers that were read from folders, and compile_options::header. Unordered.
  std::vector<std::filesystem::path> headers = {};
  compile_times times = {};  ///< wall time of each step
};

/// How a compiler works. Every field has a default.
struct compiler_settings {
  /// Time limit for one compile: reading the headers, starting the helper, compiling. Above 0, at
  /// most 600 s. The limit does not include waiting for a free helper, or for another thread or
  /// process that is compiling the same source; each of these waits has a limit of the same length.
  std::chrono::milliseconds time_limit = std::chrono::seconds(30);
  unsigned memory_limit_mib = 2048;  ///< memory that one compile may use, 64 to 65536
  /// The cache to search before each compile and to store each compiled fatbin in. Null: no cache.
  /// For CUDA C++, results that packages ship (compile_into) are searched first, unless `nvrtc` or
  /// $FATLINK_NVRTC selects an NVRTC. NVRTC 13.3 and newer contains CUDA's headers, and unpacks
  /// them into the cache's folder, or without a cache into the folder of default_cache_settings().
  std::shared_ptr<link_cache> cache = {};
  std::filesystem::path nvrtc = {};    ///< the only libnvrtc.so.13 to use; empty: search for one
  std::filesystem::path libnvvm = {};  ///< the only libnvvm.so.4 to use; empty: search for one
  bool allow_unconfined = false;       ///< compile even if the kernel refuses seccomp
  /// Whether compiles that no layer of `cache` ships fail (error_code::offline), before a compiler
  /// or the helper is searched. The user's folder is not searched, and `nvrtc` and $FATLINK_NVRTC
  /// have no effect. LLVM IR always fails, because layers do not hold it. FATLINK_OFFLINE=1 has the
  /// same effect on every compiler.
  bool offline = false;
};

/// Compiles sources. Copies share their helpers and their cache.
class compiler {
 public:
  /// Does not search for NVRTC or libNVVM and starts no helper; the first compile does.
  /// @throws usage_error a setting is out of range, or $FATLINK_OFFLINE is neither 0 nor 1.
  explicit compiler(compiler_settings settings = {});

  /// Compiles `code` to a fatbin. The result is deterministic: the same source, headers, options
  /// and compiler give the same bytes, wherever the folders are. The exceptions are __DATE__ and
  /// __TIME__; a result from the cache keeps their old values. The cache key contains the contents
  /// of every header that was read, and each path that was looked up without finding a file.
  /// `lookups`, if not null, receives the headers that were looked up, even if the call throws.
  /// @throws compile_error the compiler refuses the source (compile_failed, with its complete log
  ///   and the first error line in the message); header_not_found; missing-hook: the contract's
  ///   hook is neither defined nor called; compile_timeout; compile_memory; signature-mismatch:
  ///   options change what the contract declares; above_limit; or the helper died (SIGSEGV, …).
  /// @throws unavailable_error NVRTC or libNVVM is missing, and no package ships the result (a
  ///   result of another compiler version in the cache is not used); the helper is missing; all
  ///   helpers that this process may start are busy until the time limit; the compiler does not
  ///   know an architecture; or offline mode is on, and no layer holds the result
  ///   (error_code::offline).
  /// @throws file_error a contract or header is missing or damaged, or (above_limit) there are too
  ///   many headers, header names or include directives.
  /// @throws usage_error an option is out of range.
  compiled_source compile(source const& code, compile_options const& options,
                          header_lookups* lookups = nullptr);

  /// Compiles as compile() does, and also writes the fatbin into `layer`, a cache folder to be
  /// shipped. Results that other layers ship are not used. The shipped fatbin can be used by all
  /// hosts that do not select an NVRTC (compiler_settings::nvrtc, $FATLINK_NVRTC), with any version
  /// of NVRTC and without NVRTC. Its key covers the source, the options, the contract, and all
  /// headers except CUDA's own. For LLVM IR, nothing is written to `layer`.
  /// Throws as compile(); file_error `layer` cannot be written; unavailable_error in offline mode,
  /// always.
  compiled_source compile_into(std::filesystem::path const& layer, source const& code,
                               compile_options const& options);

  /// The folders of CUDA's own headers, such as <cuda_fp16.h>, which are searched last. They are
  /// the folders of the toolkit or wheel that NVRTC belongs to. NVRTC 13.3 and newer adds the
  /// headers that it contains, once a source has needed them. For an older NVRTC without a toolkit,
  /// they are the folders of another toolkit or wheel. Empty: there are none yet, or offline mode
  /// is on.
  [[nodiscard]] std::vector<std::filesystem::path> header_folders() const;

 private:
  struct FATLINK_PRIVATE state;
  std::shared_ptr<state> state_;  // shared by copies
};

}  // namespace fatlink
