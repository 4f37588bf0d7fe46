// SPDX-License-Identifier: Apache-2.0
#include "compiler/headers/cuda_headers.hpp"

#include "compiler/compiler_version.hpp"
#include "toolkit/vendor_library.hpp"
#include "util/files/path_lookup.hpp"

namespace fatlink::detail {
namespace {

namespace fs = std::filesystem;

/// A header that every toolkit has, by which its folder is recognized.
constexpr char const* k_known_header = "cuda_fp16.h";

/// The include folder `include` and that of CCCL in it; empty unless they hold CUDA's headers.
std::vector<fs::path> folders_of(fs::path const& include)
{
  std::error_code ignored;
  if (!fs::exists(include / k_known_header, ignored)) return {};
  std::vector<fs::path> folders{include};
  if (fs::is_directory(include / "cccl", ignored)) folders.push_back(include / "cccl");
  return folders;
}

/// Of the first root that has headers.
std::vector<fs::path> first_folders(std::vector<fs::path> const& roots)
{
  for (auto const& root : roots)
    if (auto folders = folders_of(root / "include"); !folders.empty()) return folders;
  return {};
}

/// The roots that the library in `file` may belong to: ROOT/lib64, ROOT/targets/x86_64-linux/lib.
std::vector<fs::path> roots_of(fs::path const& file)
{
  std::error_code failure;
  auto const real = real_path(file, failure);
  if (failure) return {};
  return {real.parent_path().parent_path(), file.parent_path().parent_path()};
}

fs::path folder_of(link_cache const* cache)
{
  auto const folder = cache == nullptr ? fs::path() : cache->settings().folder;
  return folder.empty() ? default_cache_settings({}).folder : folder;
}

}  // namespace

cuda_headers::cuda_headers(library_file const& nvrtc, link_cache const* cache)
    : own_(first_folders(roots_of(nvrtc.path))),
      brings_headers_(brings_headers(nvrtc.identity)),
      unpacked_(brings_headers_ ? folder_of(cache) : fs::path(), nvrtc.identity)
{
}

bool cuda_headers::must_unpack() const
{
  auto const has_all = own_.size() == 2;  // CCCL's, too
  return brings_headers_ && !has_all && !unpacked_.are_complete();
}

std::vector<fs::path> cuda_headers::folders() const
{
  if (!brings_headers_) return installed_folders();
  auto folders = own_;
  if (unpacked_.are_complete())
    for (auto& folder : folders_of(unpacked_.path())) folders.push_back(std::move(folder));
  return folders;
}

std::vector<fs::path> cuda_headers::installed_folders() const
{
  return own_.empty() ? first_folders(toolkit_roots()) : own_;
}

}  // namespace fatlink::detail
