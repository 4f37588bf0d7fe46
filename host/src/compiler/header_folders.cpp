// SPDX-License-Identifier: Apache-2.0
#include "compiler/header_folders.hpp"

#include "toolkit/vendor_library.hpp"
#include "util/bytes/sha256.hpp"

namespace fatlink::detail {
namespace {

namespace fs = std::filesystem;

/// A header that every toolkit has, by which its folder is recognized.
constexpr char const* k_known_header = "cuda_fp16.h";
constexpr std::size_t k_digits = 16;

/// The include folders below `root`; empty unless they hold CUDA's headers.
std::vector<fs::path> folders_below(fs::path const& include)
{
  std::error_code ignored;
  if (!fs::exists(include / k_known_header, ignored)) return {};
  std::vector<fs::path> folders{include};
  if (fs::is_directory(include / "cccl", ignored)) folders.push_back(include / "cccl");
  return folders;
}

/// The roots that the library in `file` may belong to: ROOT/lib64, ROOT/targets/x86_64-linux/lib.
std::vector<fs::path> roots_of(fs::path const& file)
{
  std::error_code failure;
  auto const real = fs::canonical(file, failure);
  if (failure) return {};
  return {real.parent_path().parent_path(), file.parent_path().parent_path()};
}

}  // namespace

std::vector<fs::path> cuda_header_folders(fs::path const& nvrtc_file, fs::path const& unpacked)
{
  auto roots = roots_of(nvrtc_file);
  for (auto& root : toolkit_roots()) roots.push_back(std::move(root));
  for (auto const& root : roots)
    if (auto folders = folders_below(root / "include"); !folders.empty()) return folders;
  return unpacked.empty() ? std::vector<fs::path>() : folders_below(unpacked);
}

fs::path unpacked_headers_folder(fs::path const& folder, std::string const& identity)
{
  if (folder.empty() || identity.empty()) return {};
  auto const digest = sha256(std::as_bytes(std::span(identity)));
  return folder / "headers" / to_hexadecimal(digest).substr(0, k_digits);
}

}  // namespace fatlink::detail
