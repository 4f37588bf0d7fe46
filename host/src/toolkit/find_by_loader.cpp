// SPDX-License-Identifier: Apache-2.0
#include "toolkit/find_by_loader.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "util/bytes/byte_reader.hpp"
#include "util/files/read_file.hpp"
#include "util/files/shared_library.hpp"

namespace fatlink::detail {
namespace {

constexpr char const* k_cache = "/etc/ld.so.cache";
constexpr std::uint64_t k_most_cache = std::uint64_t{64} << 20;
constexpr std::string_view k_cache_magic = "glibc-ld.so.cache1.1";
constexpr std::uint64_t k_header = 48;
constexpr std::uint64_t k_entry = 24;      // i32 flags, u32 name, u32 path, u32 os, u64 hwcap
constexpr std::int32_t k_x86_64 = 0x0303;  // FLAG_X8664_LIB64 | FLAG_ELF_LIBC6

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
    if (cache.read<std::int32_t>(entry) != k_x86_64 || cache.read<std::uint64_t>(entry + 16) != 0)
      continue;
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

}  // namespace fatlink::detail
