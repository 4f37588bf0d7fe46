// SPDX-License-Identifier: Apache-2.0
#include "compiler/headers/header_folders.hpp"

#include "compiler/headers/refuse_headers.hpp"
#include "fatlink/source.hpp"
#include "util/files/path_lookup.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_most_places = 131'072;
constexpr std::size_t k_most_refusals = 65'536;
constexpr char const* k_outside = "is outside of the folders";

char const* refusal_for(file_kind_below kind)
{
  if (kind == file_kind_below::outside) return k_outside;
  if (kind == file_kind_below::irregular) return "is not a regular file";
  return kind == file_kind_below::unreadable ? "cannot be read" : nullptr;
}

}  // namespace

header_folders::header_folders(std::vector<fs::path> const& folders,
                               std::vector<fs::path> const& cuda_folders)
{
  for (auto const& folder : folders) (void)add(folder);
  first_cuda_ = folders_.size();
  for (auto const& folder : cuda_folders) (void)add(folder);
  searched_ = folders_.size();
}

std::optional<std::size_t> header_folders::add(fs::path const& folder)
{
  std::error_code failure;
  auto path = real_path(folder, failure);
  if (failure) return std::nullopt;
  folders_.emplace_back(std::move(path));
  return folders_.size() - 1;
}

std::vector<fs::path> header_folders::paths() const
{
  std::vector<fs::path> paths;
  for (std::size_t i = 0; i < searched_; ++i) paths.push_back(folders_[i].path());
  return paths;
}

std::optional<header_place> header_folders::find(std::string const& spelled, std::size_t first)
{
  header_place place{.name = fs::path(spelled).lexically_normal().string()};
  for (place.folder = first; place.folder < searched_; ++place.folder)
    if (auto file = find_at(place, spelled)) return file;
  return std::nullopt;
}

std::optional<header_place> header_folders::find_at(header_place const& place,
                                                    std::string const& spelled)
{
  auto const kind = kind_of(place);
  if (kind == file_kind_below::regular) return place;
  if (kind == file_kind_below::outside)
    if (auto other = find_in_others(place)) return other;
  if (auto const* const reason = refusal_for(kind)) refuse(spelled, reason);
  return std::nullopt;
}

file_kind_below header_folders::kind_of(header_place const& place)
{
  auto const [entry, is_new] = kinds_.try_emplace(place, file_kind_below::missing);
  if (is_new) entry->second = folders_[place.folder].kind_of(place.name);
  if (kinds_.size() > k_most_places)
    refuse_above_limit(detail::format("more than {} places to look at", k_most_places));
  return entry->second;
}

/// The file of `place` below another folder: "../b.h", or what a symbolic link names.
std::optional<header_place> header_folders::find_in_others(header_place const& place)
{
  auto const path = folders_[place.folder].path() / place.name;
  std::error_code failure;
  for (auto const& file : {path.lexically_normal(), real_path(path, failure)})
    for (std::size_t i = 0; i < searched_; ++i) {
      auto const name = file.lexically_relative(folders_[i].path());
      if (file.empty() || name.empty() || *name.begin() == "..") continue;
      header_place other{i, name.string()};
      if (kind_of(other) == file_kind_below::regular) return other;
    }
  return std::nullopt;
}

std::optional<std::string> header_folders::read(header_place const& place)
{
  auto const opened = folders_[place.folder].open(place.name);
  auto const* reason = refusal_for(opened.kind);
  if (opened.size > k_largest_source) reason = "is larger than 16 MiB";
  std::string text(reason == nullptr && opened.file ? opened.size : 0, '\0');
  auto const bytes = std::as_writable_bytes(std::span(text));
  auto const file = folders_[place.folder].path() / place.name;
  if (reason == nullptr && (!opened.file || !read_at(*opened.file, 0, bytes, file)))
    reason = "cannot be read";
  if (reason == nullptr && text.find('\0') != std::string::npos) reason = "has a NUL byte";
  if (reason == nullptr) return text;
  refuse(place.name, reason);
  return std::nullopt;
}

fs::path header_folders::real(header_place const& place) const
{
  auto const path = folders_[place.folder].path() / place.name;
  std::error_code failure;
  auto real = real_path(path, failure);
  return failure ? path : real;
}

std::string header_folders::refusal_of(std::string const& spelled) const
{
  auto const refusal = refusals_.find(spelled);
  return refusal == refusals_.end() ? std::string() : refusal->second;
}

std::string header_folders::outside() const
{
  for (auto const& [spelled, reason] : refusals_)
    if (reason == k_outside) return spelled;
  return {};
}

void header_folders::refuse(std::string const& spelled, std::string const& reason)
{
  refusals_.emplace(spelled, reason);
  if (refusals_.size() > k_most_refusals)
    refuse_above_limit(detail::format("more than {} that cannot be read", k_most_refusals));
}

}  // namespace fatlink::detail
