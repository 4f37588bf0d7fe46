// SPDX-License-Identifier: Apache-2.0
#include "cache/kept_sources.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <span>
#include <system_error>
#include <vector>

#include "cache/ledger.hpp"
#include "util/bytes/sha256.hpp"
#include "util/text/format.hpp"

namespace fatlink::cache {
namespace {

constexpr char const* k_sources = "sources";
constexpr std::size_t k_longest_name = 100;  // bytes; the file name has 17 more
constexpr std::size_t k_most_sources = 1024;
constexpr std::uint64_t k_most_source_bytes = std::uint64_t{64} << 20;

/// "operator.0123456789abcdef.cu" of "operator.cu".
std::string kept_name(std::string const& name, bytes_view text)
{
  constexpr std::size_t k_digits = 16;
  std::filesystem::path const file = name.size() > k_longest_name ? "source.cu" : name;
  return detail::format("{}.{}{}", file.stem().string(),
                        detail::to_hexadecimal(detail::sha256(text)).substr(0, k_digits),
                        file.extension().string());
}

/// Compilers differ in whether a backslash in a #line directive begins an escape sequence.
void require_nameable(std::filesystem::path const& path)
{
  auto const is_special = [](unsigned char letter) {
    return letter < 0x20 || letter == '"' || letter == '\\' || letter == 0x7F;
  };
  if (std::ranges::any_of(path.string(), is_special))
    throw folder_error{
        detail::format("a #line directive cannot name {}: use another folder (FATLINK_CACHE_DIR)",
                       detail::printable(path.string())),
        EINVAL};
}

/// Whether the file is there, in a folder that may be read-only.
bool is_kept(std::filesystem::path const& cache_folder, std::string const& file, bytes_view text)
{
  if (!folder::open(cache_folder, folder::kind::own)) return false;
  auto const sources = folder::open(cache_folder / k_sources, folder::kind::own);
  if (!sources) return false;
  auto const kept = sources->read(file, text.size(), true);
  return kept && std::ranges::equal(*kept, text);
}

/// Removes the least recently used files until the file `added` of `size` bytes, which replaces
/// one of its name, is within the limits, or no other file is left.
void make_source_room(folder const& sources, std::string const& added, std::uint64_t size)
{
  auto files = sources.list();
  std::erase_if(files, [&](file_facts const& file) { return file.name == added; });
  std::ranges::sort(files, {}, &file_facts::last_used);
  auto bytes = size;
  for (auto const& file : files) bytes += file.size;
  auto count = files.size() + 1;
  for (auto const& file : files) {
    if (count <= k_most_sources && bytes <= k_most_source_bytes) return;
    (void)sources.remove(file.name);
    bytes -= file.size;
    --count;
  }
}

}  // namespace

std::filesystem::path keep_source(std::filesystem::path const& cache_folder,
                                  std::string const& name, std::string_view text)
{
  auto const bytes = std::as_bytes(std::span(text));
  auto const file = kept_name(name, bytes);
  std::error_code failure;
  auto const parent = std::filesystem::absolute(cache_folder, failure);
  if (failure) throw folder_error{"finding the working folder", failure.value()};
  auto const place = parent / k_sources;
  require_nameable(place);
  if (is_kept(parent, file, bytes)) return place / file;
  claim(folder::make(parent, folder::kind::own));
  auto const sources = folder::make(place, folder::kind::own);
  make_source_room(sources, file, bytes.size());
  sources.write(file, bytes);
  return place / file;
}

void remove_kept_sources(folder const& cache_folder)
{
  auto const sources = folder::open(cache_folder.path() / k_sources, folder::kind::own);
  if (!sources) return;
  for (auto const& file : sources->list()) (void)sources->remove(file.name);
}

}  // namespace fatlink::cache
