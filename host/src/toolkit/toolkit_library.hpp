// SPDX-License-Identifier: Apache-2.0
// Where the vendor's shared libraries are searched: nvJitLink, NVRTC, libNVVM. Nothing links to
// them. The order, in which the first usable file wins:
//   1. the file that the library's variable names ($FATLINK_NVJITLINK, …), and then no other
//   2. nvidia/cu13 beside fatlink's Python package, where pip installs the vendor's wheels
//   3. in the prefix of the program and in that of libfatlink.so: lib/fatlink, where packages put a
//      copy, and lib, where the build tree has a link to its toolkit
//   4. $CUDA_HOME, $CUDA_PATH: the folders of a toolkit
//   5. $VIRTUAL_ENV: the folders of the vendor's wheels; $CONDA_PREFIX: those of a toolkit and of
//      wheels
//   6. the dynamic loader
//   7. /usr/local/cuda
// A file is identified without loading it: a few hundred bytes of an ELF64 file of 100 MB are read
// (elf_file.hpp). The exported names were observed with CUDA 13.0 to 13.5. Threads: safe.
#pragma once

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/bytes.hpp"
#include "fatlink/error.hpp"
#include "fatlink/library_file.hpp"

namespace fatlink::detail {

/// A shared library opened at run time. Never closed: nvJitLink and libcuda have threads and exit
/// handlers, which crash if the library is unmapped.
class shared_library {
 public:
  /// Opens `path`; converts to false if the loader refuses, and `error` then contains its message.
  static shared_library open(std::string const& path, std::string& error);

  /// The library of that name that this process has already loaded; converts to false if there is
  /// none.
  static shared_library loaded(std::string const& name);

  shared_library() = default;
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  /// The address of the first name in `names` that it exports, or null.
  [[nodiscard]] void* find(std::initializer_list<std::string> names) const noexcept;
  /// The file, with symbolic links resolved.
  [[nodiscard]] std::string path() const;

 private:
  explicit shared_library(void* handle) noexcept : handle_(handle) {}
  void* handle_ = nullptr;
};

/// Where a toolkit for several architectures has the libraries of this one. For AArch64: of servers
/// (sbsa) and, since CUDA 13, of Jetson.
#if defined(__x86_64__)
constexpr char const* k_target_folder = "targets/x86_64-linux/lib";
#elif defined(__aarch64__)
constexpr char const* k_target_folder = "targets/sbsa-linux/lib";
#endif

/// One of the vendor's libraries.
struct toolkit_library {
  char const* title = "";     ///< for messages: "NVRTC"
  char const* name = "";      ///< of the file: "libnvrtc.so.13"
  char const* variable = "";  ///< "FATLINK_NVRTC"
  unsigned major = 0;         ///< the version that fatlink uses
  /// In a toolkit: "lib64". The first is that of /usr/local/cuda.
  std::vector<char const*> folders = {};
  char const* wheel_folder = "";                ///< in a wheel's nvidia/cu13: "lib"
  std::vector<char const*> functions = {};      ///< part of the exported names of every version
  std::string_view versioned_name = {};         ///< exported as __NAME_13_0; empty: has none
  char const* remedy = "";                      ///< how to install it
  error_code unavailable = error_code::defect;  ///< of the error where there is none
  stage origin = stage::linker;                 ///< of that error
};

/// All files of the search, whether there or not. A file that several rules find is listed once,
/// for the first of them.
std::vector<library_candidate> list_candidates(toolkit_library const& library);

/// How an identity is read: as library_identity() does, from the file or from a memory of it.
using identity_reader = std::function<std::optional<std::string>(std::string const& path,
                                                                 toolkit_library const& library)>;

/// The first file of the search that is `library`, without loading it. Takes about 0.1 ms.
std::optional<library_file> locate(toolkit_library const& library);
/// The same, with the identities that `identify` reads.
std::optional<library_file> locate(toolkit_library const& library, identity_reader const& identify);

/// @throws unavailable_error always: the only permitted file, `candidate`, cannot be used, for the
///   reason in its `outcome`.
[[noreturn]] void refuse_library(toolkit_library const& library,
                                 library_candidate const& candidate);

/// @throws unavailable_error always: none of `candidates` can be used.
[[noreturn]] void refuse_library(toolkit_library const& library,
                                 std::vector<library_candidate> const& candidates);

/// The roots of toolkits and wheels in which the search looks, in its order: also the places of
/// their headers.
std::vector<std::filesystem::path> toolkit_roots();

/// The file that dlopen(name) would use: one that is loaded already, otherwise the first in the
/// loader's order (the program's RPATH, LD_LIBRARY_PATH, its RUNPATH, ld.so.cache, the system's
/// folders; not their glibc-hwcaps). Empty if there is none. The loader may decide otherwise:
/// callers check the file that was opened.
std::optional<std::string> find_by_loader(std::string const& name);

/// The path of `name` for this architecture in the bytes of an ld.so.cache; empty if they do not
/// name it, or are damaged.
std::optional<std::string> find_in_loader_cache(bytes_view cache, std::string const& name);

/// The identity of `library` in the file `path`, the same on every machine:
/// "13.0 157d67e6… 98806736", the newest version that it exports ("13.?": none), its build ID
/// (without one, its SHA-256) and its size in bytes. Empty if `path` is not a readable file of that
/// library.
std::optional<std::string> library_identity(std::string const& path,
                                            toolkit_library const& library);

/// The build ID, in hexadecimal, of the shared library that holds `function`, as mapped in this
/// process; empty if it has none. The file at its path may have been replaced since.
std::string mapped_build_id(void const* function);

struct opened_library {
  shared_library file = {};
  std::string path = {};      ///< the real file
  std::string reason = {};    ///< which rule of the search chose it
  std::string identity = {};  ///< see library_file; empty: the file was replaced since
};

/// Loads the file of `candidate`, and never one that is truncated. Converts to false if it cannot
/// be loaded; `open_error` then says why.
shared_library load_library(library_candidate const& candidate, std::string& open_error);

/// Opens `candidate` as `library`. Returns why it cannot be used; empty on success. `function`: an
/// exported name, by which the mapped file is compared with the one at the path.
std::string open_library(library_candidate const& candidate, toolkit_library const& library,
                         char const* function, opened_library& opened);

/// Looks up the exported `name`. Returns it if it is missing; empty on success.
template <typename Function>
std::string bind(shared_library const& file, char const* name, Function& function)
{
  function = reinterpret_cast<Function>(file.find({name}));
  return function == nullptr ? name : "";
}

/// The base of `Compiler`, which has a static library(), and load(candidate), which opens a file
/// and returns why it cannot be used.
template <typename Compiler>
class opened_compiler {
 public:
  /// Opens the first file of the search. @throws unavailable_error no file can be used; its log
  ///   lists the candidates.
  static std::shared_ptr<Compiler const> open()
  {
    std::vector<library_candidate> tried;
    if (auto opened = find(tried)) return opened;
    refuse_library(Compiler::library(), tried);
  }

  /// Opens `file`. @throws unavailable_error it cannot be used.
  static std::shared_ptr<Compiler const> open(std::string const& file)
  {
    library_candidate candidate{file, "the caller", {}};
    if (auto opened = attempt(candidate)) return opened;
    refuse_library(Compiler::library(), candidate);
  }

  /// As open(), and sets `tried` to all candidates; null if none can be used.
  static std::shared_ptr<Compiler const> find(std::vector<library_candidate>& tried)
  {
    tried = list_candidates(Compiler::library());
    for (auto& candidate : tried)
      if (auto opened = attempt(candidate)) return opened;
    return nullptr;
  }

  [[nodiscard]] std::string const& path() const noexcept { return opened_.path; }
  [[nodiscard]] std::string const& reason() const noexcept { return opened_.reason; }
  [[nodiscard]] std::string const& identity() const noexcept { return opened_.identity; }
  [[nodiscard]] int major() const noexcept { return major_; }
  [[nodiscard]] int minor() const noexcept { return minor_; }

 protected:
  opened_compiler() = default;

  opened_library opened_ = {};
  int major_ = 0;
  int minor_ = 0;

 private:
  /// Null, with the reason in `candidate`, if the file cannot be used.
  static std::shared_ptr<Compiler const> attempt(library_candidate& candidate)
  {
    std::shared_ptr<Compiler> compiler(new Compiler);
    candidate.outcome = compiler->load(candidate);
    if (!candidate.outcome.empty()) return nullptr;
    candidate.outcome = "chosen";
    return compiler;
  }
};

}  // namespace fatlink::detail
