// SPDX-License-Identifier: Apache-2.0
#include "cache/unpacked_headers.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <span>
#include <string_view>
#include <thread>

#include "cache/folder.hpp"
#include "cache/ledger.hpp"
#include "fatlink/error.hpp"
#include "util/bytes/sha256.hpp"
#include "util/files/read_file.hpp"
#include "util/text/format.hpp"

namespace fatlink::cache {
namespace {

constexpr char const* k_folder = "headers";
constexpr char const* k_version_file = ".nvrtc_headers_version";
constexpr std::size_t k_digits = 16;
constexpr std::string_view k_list_ending = ".list";
constexpr std::string_view k_list_start = "fatlink headers 1\n";
constexpr std::uint64_t k_largest_list = std::uint64_t{16} << 20;    // bytes
constexpr std::uint64_t k_largest_header = std::uint64_t{64} << 20;  // bytes

std::string digits_of(std::string const& identity)
{
  auto const digest = detail::sha256(std::as_bytes(std::span(identity)));
  return detail::to_hexadecimal(digest).substr(0, k_digits);
}

/// Calls visit(path, status) for everything below `folder`, a folder after what is in it. Symbolic
/// links are not followed.
template <typename Visit>
void walk(std::filesystem::path const& folder, Visit const& visit)
{
  for (auto const& path : detail::list_folder(folder)) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) continue;
    if (S_ISDIR(status.st_mode)) walk(path, visit);
    visit(path, status);
  }
}

/// @throws folder_error something cannot be removed.
void remove_tree(std::filesystem::path const& folder)
{
  auto const remove = [](std::filesystem::path const& path) {
    if (std::remove(path.c_str()) != 0 && errno != ENOENT) throw_fault("removing", path);
  };
  struct stat status {};
  if (::lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode))
    walk(folder, [&](auto const& path, auto const&) { remove(path); });
  remove(folder);
}

/// A line of a list after the digest.
std::string facts_of(struct stat const& status, std::string const& name)
{
  auto const ns = [](timespec time) { return time.tv_sec * 1'000'000'000 + time.tv_nsec; };
  return detail::format(" {} {} {} {}\n", status.st_size, ns(status.st_mtim), ns(status.st_ctim),
                        name);
}

struct listed_header {
  std::string digest;  ///< 64 hexadecimal digits
  std::string facts;   ///< as facts_of() writes them
  std::string name;    ///< relative to the folder
};

/// Nothing if `list` is not a list.
std::optional<std::vector<listed_header>> parse_list(std::string_view list)
{
  constexpr std::size_t k_digest = 64;
  if (!list.starts_with(k_list_start)) return std::nullopt;
  std::vector<listed_header> headers;
  for (list.remove_prefix(k_list_start.size()); !list.empty();) {
    auto const line = list.substr(0, list.find('\n') + 1);
    list.remove_prefix(line.size());
    auto place = k_digest;
    for (int blank = 0; blank < 3 && place != line.npos; ++blank) place = line.find(' ', place + 1);
    if (line.size() <= k_digest || place == line.npos) return std::nullopt;
    headers.push_back({.digest = std::string(line.substr(0, k_digest)),
                       .facts = std::string(line.substr(k_digest)),
                       .name = std::string(line.substr(place + 1, line.size() - place - 2))});
  }
  return headers;
}

/// Why the header at `path` is not the listed one; empty: it is.
std::string compare_facts(std::filesystem::path const& path, listed_header const& listed)
{
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return "it is missing";
  if (!S_ISREG(status.st_mode)) return "it is not a regular file";
  return facts_of(status, listed.name) == listed.facts ? "" : "it was changed after NVRTC wrote it";
}

/// As above, from the bytes.
std::string compare_bytes(std::filesystem::path const& path, listed_header const& listed)
try {
  auto const bytes = detail::read_file(path, k_largest_header, "");
  return detail::to_hexadecimal(detail::sha256(bytes)) == listed.digest
             ? ""
             : "it has other bytes than NVRTC wrote";
} catch (file_error const& failure) {
  return failure.what();
}

/// The first difference between `headers`, a folder in `parent`, and its list.
template <typename Compare>
std::optional<damaged_entry> find_difference(folder const& parent, std::string const& headers,
                                             Compare const& compare)
{
  auto const place = parent.path() / headers;
  auto const bytes = parent.read(headers + std::string(k_list_ending), k_largest_list);
  if (!bytes) return damaged_entry{place, "the list of its files is missing"};
  auto const listed = parse_list({reinterpret_cast<char const*>(bytes->data()), bytes->size()});
  if (!listed) return damaged_entry{place, "the list of its files is damaged"};
  for (auto const& header : *listed)
    if (auto reason = compare(place / header.name, header); !reason.empty())
      return damaged_entry{place / header.name, std::move(reason)};
  return std::nullopt;
}

/// The folders of every NVRTC's headers, with the folder that they are in.
struct header_folders_of_cache {
  std::optional<folder> parent = {};
  std::vector<std::string> names = {};
};

header_folders_of_cache find_header_folders(folder const& cache_folder)
{
  header_folders_of_cache found{folder::open(cache_folder.path() / k_folder, folder::kind::own)};
  if (!found.parent) return found;
  for (auto& name : found.parent->names())
    if (name.size() == k_digits && folder::open(found.parent->path() / name, folder::kind::own))
      found.names.push_back(std::move(name));
  std::ranges::sort(found.names);
  return found;
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
  if (!headers || !headers->facts(k_version_file)) return false;
  auto const parent = folder::open(path_.parent_path(), folder::kind::own);
  return parent && !find_difference(*parent, path_.filename().string(), compare_facts);
} catch (folder_error const&) {
  return false;
}

std::optional<lock> unpacked_headers::make_folder() const
{
  constexpr auto k_longest_wait = std::chrono::seconds(30);
  if (cache_folder_.empty())
    throw folder_error{"there is no cache folder: set HOME or FATLINK_CACHE_DIR", ENOENT};
  auto const cache_folder = folder::make(cache_folder_, folder::kind::own);
  claim(cache_folder);
  (void)folder::make(path_.parent_path(), folder::kind::own);
  auto const end = std::chrono::steady_clock::now() + k_longest_wait;
  auto turn = lock::try_entry(cache_folder, path_.filename().string());
  for (; !turn && std::chrono::steady_clock::now() < end;
       turn = lock::try_entry(cache_folder, path_.filename().string()))
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  if (turn && folder::open(path_, folder::kind::own) && !are_complete()) remove_tree(path_);
  (void)folder::make(path_, folder::kind::own);
  return turn;
}

void unpacked_headers::record() const
{
  std::string list(k_list_start);
  walk(path_, [&](std::filesystem::path const& path, struct stat const& status) {
    if (!S_ISREG(status.st_mode)) return;
    auto const bytes = detail::read_file(path, k_largest_header, "");
    list += detail::to_hexadecimal(detail::sha256(bytes)) +
            facts_of(status, path.lexically_relative(path_).string());
  });
  folder::make(path_.parent_path(), folder::kind::own)
      .write(path_.filename().string() + std::string(k_list_ending),
             std::as_bytes(std::span(list)));
}

cache_verification verify_unpacked_headers(folder const& cache_folder)
{
  cache_verification result;
  auto const found = find_header_folders(cache_folder);
  for (auto const& name : found.names)
    if (auto damage = find_difference(*found.parent, name, compare_bytes))
      result.damaged.push_back(std::move(*damage));
    else
      ++result.sound;
  return result;
}

std::uint64_t remove_damaged_headers(folder const& cache_folder)
{
  std::uint64_t removed = 0;
  auto const found = find_header_folders(cache_folder);
  for (auto const& name : found.names)
    if (find_difference(*found.parent, name, compare_bytes)) {
      remove_tree(found.parent->path() / name);
      found.parent->remove(name + std::string(k_list_ending));
      ++removed;
    }
  return removed;
}

void remove_unpacked_headers(folder const& cache_folder)
{
  // Renamed first, so that no process takes a folder for complete from which files are missing.
  if (cache_folder.has(k_folder)) {
    auto const aside = temporary_file_of(k_folder);
    auto const directory = cache_folder.descriptor();
    if (::renameat(directory, k_folder, directory, aside.c_str()) != 0)
      cache_folder.fail_file("renaming", k_folder);
  }
  for (auto const& name : cache_folder.names()) {
    if (target_of_temporary_file(name) != k_folder) continue;
    remove_tree(cache_folder.path() / name);
  }
}

}  // namespace fatlink::cache
