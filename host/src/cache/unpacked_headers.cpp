// SPDX-License-Identifier: Apache-2.0
#include "cache/unpacked_headers.hpp"

#include <cerrno>
#include <cstdio>
#include <span>
#include <system_error>

#include "cache/claim.hpp"
#include "cache/temporary_file.hpp"
#include "util/bytes/sha256.hpp"

namespace fatlink::cache {
namespace {

constexpr char const* k_folder = "headers";
constexpr char const* k_version_file = ".nvrtc_headers_version";
constexpr std::size_t k_digits = 16;

std::string digits_of(std::string const& identity)
{
  auto const digest = detail::sha256(std::as_bytes(std::span(identity)));
  return detail::to_hexadecimal(digest).substr(0, k_digits);
}

}  // namespace

unpacked_headers::unpacked_headers(std::filesystem::path cache_folder, std::string const& identity)
    : cache_folder_(std::move(cache_folder)), path_(cache_folder_ / k_folder / digits_of(identity))
{
}

bool unpacked_headers::are_complete() const
try {
  if (cache_folder_.empty()) return false;
  for (auto const& path : {cache_folder_, path_.parent_path()})
    if (!folder::open(path, folder::kind::own)) return false;
  auto const headers = folder::open(path_, folder::kind::own);
  return headers && headers->facts(k_version_file).has_value();
} catch (fault const&) {
  return false;
}

void unpacked_headers::make_folder() const
{
  if (cache_folder_.empty())
    throw fault{"there is no cache folder: set HOME or FATLINK_CACHE_DIR", ENOENT};
  claim(folder::make(cache_folder_, folder::kind::own));
  (void)folder::make(path_.parent_path(), folder::kind::own);
  (void)folder::make(path_, folder::kind::own);
}

void remove_unpacked_headers(folder const& cache_folder)
{
  // Renamed first, so that no process takes a folder for complete from which files are missing.
  if (cache_folder.has(k_folder)) {
    auto const aside = temporary_file_of(k_folder);
    auto const directory = cache_folder.descriptor();
    if (::renameat(directory, k_folder, directory, aside.c_str()) != 0)
      cache_folder.fail("renaming", k_folder);
  }
  for (auto const& name : cache_folder.names()) {
    if (target_of_temporary_file(name) != k_folder) continue;
    std::error_code failure;
    std::filesystem::remove_all(cache_folder.path() / name, failure);
    errno = failure.value();
    if (failure) cache_folder.fail("removing", name);
  }
}

}  // namespace fatlink::cache
