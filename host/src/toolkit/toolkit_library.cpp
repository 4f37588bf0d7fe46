// SPDX-License-Identifier: Apache-2.0
#include "toolkit/toolkit_library.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <span>
#include <vector>

#include "toolkit/elf_file.hpp"
#include "util/bytes/byte_reader.hpp"
#include "util/bytes/elf_reader.hpp"
#include "util/files/read_file.hpp"
#include "util/process/environment.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
shared_library shared_library::open(std::string const& path, std::string& error)
{
  auto* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) error = ::dlerror();
  return shared_library(handle);
}

shared_library shared_library::loaded(std::string const& name)
{
  return shared_library(::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD));
}

void* shared_library::find(std::initializer_list<std::string> names) const noexcept
{
  for (auto const& name : names)
    if (auto* const symbol = ::dlsym(handle_, name.c_str()); symbol != nullptr) return symbol;
  return nullptr;
}

std::string shared_library::path() const
{
  link_map* map = nullptr;
  if (::dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return {};
  std::error_code ignored;
  auto const real = real_path(map->l_name, ignored);
  return ignored ? std::string(map->l_name) : real.string();
}

namespace fs = std::filesystem;

namespace {

/// The file of `candidate`, which may be a name that the dynamic loader searches; empty if it finds
/// none.
std::optional<std::string> path_of(library_candidate const& candidate)
{
  return candidate.path.find('/') == std::string::npos ? find_by_loader(candidate.path)
                                                       : std::optional(candidate.path);
}

constexpr char const* k_default_toolkit = "/usr/local/cuda";

/// A folder that may hold a toolkit, or what wheels install of one.
struct toolkit_root {
  fs::path folder;
  std::string reason;
  bool is_wheel = false;
};

/// Where the vendor's wheels of CUDA 13 put their files in a Python environment, for every minor
/// version of Python: lib/python3.12/site-packages/nvidia/cu13.
std::vector<fs::path> wheel_roots(fs::path const& environment)
{
  constexpr char const* k_wheels = "site-packages/nvidia/cu13";
  std::vector<fs::path> folders;
  for (auto const& entry : list_folder(environment / "lib"))
    if (entry.filename().string().starts_with("python3.")) folders.push_back(entry / k_wheels);
  if (folders.empty()) folders.push_back(environment / "lib/python3.*" / k_wheels);
  std::sort(folders.begin(), folders.end());
  return folders;
}

void append_wheels(std::vector<toolkit_root>& roots, fs::path const& environment,
                   char const* reason)
{
  for (auto const& folder : wheel_roots(environment)) roots.push_back({folder, reason, true});
}

/// Rule 2 of toolkit_library.hpp. Only folders that are a Python package: the folder above another
/// prefix, such as /tmp, may be one that every user can write to.
std::vector<toolkit_root> roots_beside_package()
{
  std::vector<toolkit_root> roots;
  std::error_code ignored;
  for (auto const& prefix : installation_prefixes())
    if (fs::is_regular_file(prefix / "__init__.py", ignored))
      roots.push_back({prefix.parent_path() / "nvidia/cu13", "beside the Python package", true});
  return roots;
}

/// Rules 4 and 5 of toolkit_library.hpp.
std::vector<toolkit_root> roots_in_environment()
{
  std::vector<toolkit_root> roots;
  for (auto const* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (auto const root = environment(variable); !root.empty())
      roots.push_back({root, detail::format("${}", variable)});
  if (auto const root = environment("VIRTUAL_ENV"); !root.empty())
    append_wheels(roots, root, "$VIRTUAL_ENV");
  if (auto const root = environment("CONDA_PREFIX"); !root.empty()) {
    roots.push_back({root, "$CONDA_PREFIX"});
    append_wheels(roots, root, "$CONDA_PREFIX");
  }
  return roots;
}

/// The file of a candidate with symbolic links resolved; it need not exist.
fs::path real_file(library_candidate const& candidate)
{
  auto const path = path_of(candidate).value_or(candidate.path);
  std::error_code failure;
  auto file = fs::weakly_canonical(path, failure);
  return failure ? fs::path(path) : file;
}

/// Removes candidates whose file an earlier candidate has.
std::vector<library_candidate> without_duplicates(std::vector<library_candidate> const& candidates)
{
  std::set<fs::path> files;
  std::vector<library_candidate> unique;
  for (auto const& candidate : candidates)
    if (files.insert(real_file(candidate)).second) unique.push_back(candidate);
  return unique;
}

class search {
 public:
  explicit search(toolkit_library const& library) : library_(library) {}

  std::vector<library_candidate> places()
  {
    for (auto const& root : roots_beside_package()) add_root(root);
    auto const* reason = "beside the program";
    for (auto const& prefix : installation_prefixes()) {
      for (auto const* folder : {"lib/fatlink", "lib"}) add(prefix / folder, reason);
      reason = "beside libfatlink.so";
    }
    for (auto const& root : roots_in_environment()) add_root(root);
    places_.push_back({library_.name, "dynamic loader", "not tried"});
    add(fs::path(k_default_toolkit) / library_.folders.front(), "default toolkit");
    return std::move(places_);
  }

 private:
  void add(fs::path const& folder, std::string const& reason)
  {
    places_.push_back({(folder / library_.name).string(), reason, "not tried"});
  }
  void add_root(toolkit_root const& root)
  {
    if (root.is_wheel)
      add(root.folder / library_.wheel_folder, root.reason);
    else
      for (auto const* folder : library_.folders) add(root.folder / folder, root.reason);
  }

  toolkit_library const& library_;
  std::vector<library_candidate> places_;
};

std::vector<library_candidate> all_candidates(toolkit_library const& library)
{
  if (auto const named = environment(library.variable); !named.empty())
    return {{named, detail::format("${}", library.variable), "not tried"}};
  return search(library).places();
}

std::string outcomes_of(std::vector<library_candidate> const& candidates)
{
  std::string text;
  for (auto const& candidate : candidates)
    text += detail::format("{} ({}): {}\n", candidate.path, candidate.reason, candidate.outcome);
  return text;
}

}  // namespace

std::vector<library_candidate> list_candidates(toolkit_library const& library)
{
  return without_duplicates(all_candidates(library));
}

std::optional<library_file> locate(toolkit_library const& library)
{
  return locate(library, library_identity);
}

std::optional<library_file> locate(toolkit_library const& library, identity_reader const& identify)
{
  for (auto const& candidate : all_candidates(library)) {
    auto const path = path_of(candidate);
    if (!path) continue;
    if (auto const identity = identify(*path, library))
      return library_file{*path, candidate.reason, *identity};
  }
  return std::nullopt;
}

namespace {

/// The remedy if `candidate` is the only one.
std::string remedy_of(toolkit_library const& library, library_candidate const& candidate)
{
  if (candidate.reason != detail::format("${}", library.variable)) return library.remedy;
  return detail::format(
      "correct or unset {}: while it is set, no other file is tried; otherwise {}",
      library.variable, library.remedy);
}

}  // namespace

void refuse_library(toolkit_library const& library, library_candidate const& candidate)
{
  throw unavailable_error(library.origin, {.message = detail::format(
                                               "{}: {} (from {}) cannot be used: {}", library.title,
                                               candidate.path, candidate.reason, candidate.outcome),
                                           .input = candidate.path,
                                           .code = library.unavailable,
                                           .log = outcomes_of({candidate}),
                                           .hint = remedy_of(library, candidate)});
}

void refuse_library(toolkit_library const& library,
                    std::vector<library_candidate> const& candidates)
{
  if (candidates.size() == 1) refuse_library(library, candidates.front());  // $FATLINK_…
  throw unavailable_error(
      library.origin, {.message = detail::format("{}: {} was found in none of {} places",
                                                 library.title, library.name, candidates.size()),
                       .input = library.name,
                       .code = library.unavailable,
                       .log = outcomes_of(candidates),
                       .hint = library.remedy});
}

std::vector<fs::path> toolkit_roots()
{
  std::vector<fs::path> roots;
  for (auto const& root : roots_beside_package()) roots.push_back(root.folder);
  for (auto const& root : roots_in_environment()) roots.push_back(root.folder);
  roots.emplace_back(k_default_toolkit);
  return roots;
}

namespace {

constexpr char const* k_cache = "/etc/ld.so.cache";
constexpr std::uint64_t k_most_cache = std::uint64_t{64} << 20;
constexpr std::string_view k_cache_magic = "glibc-ld.so.cache1.1";
constexpr std::uint64_t k_header = 48;
constexpr std::uint64_t k_entry = 24;  // i32 flags, u32 name, u32 path, u32 os, u64 hwcap
#if defined(__x86_64__)
constexpr std::int32_t k_host_flags = 0x0303;  // FLAG_X8664_LIB64 | FLAG_ELF_LIBC6
#elif defined(__aarch64__)
constexpr std::int32_t k_host_flags = 0x0a03;  // FLAG_AARCH64_LIB64 | FLAG_ELF_LIBC6
#endif

std::string text_at(byte_reader const& cache, std::uint64_t offset)
{
  auto const bytes_left = cache.view(offset, cache.size() - std::min(offset, cache.size()));
  auto const* const begin = reinterpret_cast<char const*>(bytes_left.data());
  return {begin, std::find(begin, begin + bytes_left.size(), '\0')};
}

struct place {
  std::string folder;
  bool is_default;  ///< a system folder, searched after ld.so.cache
};

/// The loader's search folders for this process, from dlinfo().
std::vector<place> loader_folders()
{
  std::vector<place> folders;
  auto* const self = ::dlopen(nullptr, RTLD_LAZY);
  Dl_serinfo size{};
  if (self == nullptr || ::dlinfo(self, RTLD_DI_SERINFOSIZE, &size) != 0) return folders;
  std::vector<std::max_align_t> storage(size.dls_size / sizeof(std::max_align_t) + 1);
  auto* const info = reinterpret_cast<Dl_serinfo*>(storage.data());
  if (::dlinfo(self, RTLD_DI_SERINFOSIZE, info) != 0 || ::dlinfo(self, RTLD_DI_SERINFO, info) != 0)
    return folders;
  for (unsigned i = 0; i < info->dls_cnt; ++i)
    folders.push_back(
        {info->dls_serpath[i].dls_name, (info->dls_serpath[i].dls_flags & 0x40U) != 0});
  return folders;
}

std::optional<std::string> look_in_cache(std::string const& name)
try {
  return find_in_loader_cache(read_file(k_cache, k_most_cache, {}), name);
} catch (file_error const&) {
  return std::nullopt;
}

std::optional<std::string> look_in(std::vector<place> const& folders, bool defaults,
                                   std::string const& name)
{
  for (auto const& [folder, is_default] : folders)
    if (auto path = folder + '/' + name;
        is_default == defaults && ::access(path.c_str(), R_OK) == 0)
      return path;
  return std::nullopt;
}

}  // namespace

std::optional<std::string> find_in_loader_cache(bytes_view bytes, std::string const& name)
try {
  byte_reader const cache(bytes);
  if (cache.text(0, k_cache_magic.size()) != k_cache_magic) return std::nullopt;
  auto const count = cache.read<std::uint32_t>(k_cache_magic.size());
  (void)cache.view(k_header, count * k_entry);
  for (auto entry = k_header; entry < k_header + count * k_entry; entry += k_entry) {
    auto const flags = cache.read<std::int32_t>(entry);
    if (flags != k_host_flags || cache.read<std::uint64_t>(entry + 16) != 0) continue;
    if (text_at(cache, cache.read<std::uint32_t>(entry + 4)) == name)
      return text_at(cache, cache.read<std::uint32_t>(entry + 8));
  }
  return std::nullopt;
} catch (out_of_bytes const&) {
  return std::nullopt;
}

std::optional<std::string> find_by_loader(std::string const& name)
{
  if (auto loaded = shared_library::loaded(name); loaded) return loaded.path();
  auto const folders = loader_folders();
  if (auto path = look_in(folders, false, name)) return path;
  if (auto path = look_in_cache(name)) return path;
  return look_in(folders, true, name);
}

namespace {

struct mapped_search {
  std::uintptr_t address;
  std::string build_id;
};

/// Callback of dl_iterate_phdr: returns 1, which ends the iteration, for the object that holds the
/// address.
int look_for_build_id(dl_phdr_info* object, std::size_t, void* data)
{
  auto& search = *static_cast<mapped_search*>(data);
  auto const segments = std::span(object->dlpi_phdr, object->dlpi_phnum);
  auto const has_address = [&](auto const& segment) {
    auto const begin = object->dlpi_addr + segment.p_vaddr;
    return segment.p_type == PT_LOAD && search.address >= begin &&
           search.address - begin < segment.p_memsz;
  };
  if (std::none_of(segments.begin(), segments.end(), has_address)) return 0;
  for (auto const& segment : segments)
    if (segment.p_type == PT_NOTE && search.build_id.empty())
      search.build_id =
          build_id_in({reinterpret_cast<std::byte const*>(object->dlpi_addr + segment.p_vaddr),
                       static_cast<std::size_t>(segment.p_filesz)});
  return 1;
}

/// The newest version among exported `names` that begin with `prefix`; -1 if there is none.
int newest_minor(std::string const& names, std::string_view prefix)
{
  int newest = -1;
  for (auto position = names.find(prefix); position != std::string::npos;
       position = names.find(prefix, position + 1)) {
    int minor = -1;
    auto const* const digits = names.data() + position + prefix.size();
    std::from_chars(digits, names.data() + names.size(), minor);
    newest = std::max(newest, minor);
  }
  return newest;
}

/// The version of `library` whose exported names these are; empty if they are another library's.
std::optional<std::string> version_in(std::string const& names, toolkit_library const& library)
{
  for (auto const* function : library.functions)
    if (names.find(function) == std::string::npos) return std::nullopt;
  auto const unknown = detail::format("{}.?", library.major);
  if (library.versioned_name.empty()) return unknown;
  auto const minor =
      newest_minor(names, detail::format("__{}_{}_", library.versioned_name, library.major));
  if (minor >= 0) return detail::format("{}.{}", library.major, minor);
  auto const has_other_versions =
      names.find(detail::format("__{}_", library.versioned_name)) != std::string::npos;
  return has_other_versions ? std::nullopt : std::optional(unknown);
}

}  // namespace

std::optional<std::string> library_identity(std::string const& path, toolkit_library const& library)
try {
  if (::access(path.c_str(), R_OK) != 0) return std::nullopt;
  elf_file const file(path);
  if (file.is_truncated()) return std::nullopt;
  auto const version = version_in(file.names(), library);
  if (!version) return std::nullopt;
  auto const build_id = file.build_id();
  return detail::format("{} {} {}", *version, build_id.empty() ? file.sha256() : build_id,
                        file.size());
} catch (file_error const&) {
  return std::nullopt;
} catch (not_a_shared_library const&) {
  return std::nullopt;
} catch (elf_error const&) {
  return std::nullopt;
} catch (out_of_bytes const&) {
  return std::nullopt;
}

std::string mapped_build_id(void const* function)
try {
  mapped_search search{reinterpret_cast<std::uintptr_t>(function), {}};
  ::dl_iterate_phdr(look_for_build_id, &search);
  return search.build_id;
} catch (out_of_bytes const&) {
  return {};
}

shared_library load_library(library_candidate const& candidate, std::string& open_error)
{
  if (auto const file = path_of(candidate)) open_error = explain_truncation(*file);
  return open_error.empty() ? shared_library::open(candidate.path, open_error) : shared_library{};
}

std::string open_library(library_candidate const& candidate, toolkit_library const& library,
                         char const* function, opened_library& opened)
{
  std::string open_error;
  opened.file = load_library(candidate, open_error);
  if (!opened.file) return open_error;
  auto const* const address = opened.file.find({function});
  if (address == nullptr) return detail::format("exports no {}", function);
  opened.path = opened.file.path();
  opened.reason = candidate.reason;
  opened.identity = library_identity(opened.path, library).value_or("");
  // If the file was replaced after it was loaded, the path no longer tells what is loaded.
  auto const mapped = mapped_build_id(address);
  if (!mapped.empty() && opened.identity.find(mapped) == std::string::npos) opened.identity.clear();
  return {};
}

}  // namespace fatlink::detail
