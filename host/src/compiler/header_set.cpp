// SPDX-License-Identifier: Apache-2.0
#include "compiler/header_set.hpp"

#include <algorithm>

#include "compiler/include_lines.hpp"
#include "fatlink/error.hpp"
#include "fatlink/source.hpp"
#include "util/files/read_file.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_most_headers = 4096;
constexpr std::uint64_t k_most_bytes = std::uint64_t{256} << 20;

[[noreturn]] void refuse_above_limit(std::string const& cause)
{
  throw file_error(stage::compiler, {.message = "the headers of the source: " + cause,
                                     .input = "headers",
                                     .code = error_code::above_limit,
                                     .hint = "include fewer headers, or compile it with nvcc"});
}

bool is_below(fs::path const& file, fs::path const& folder)
{
  auto const [end, ignored] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return end == folder.end();
}

}  // namespace

header_set::header_set(std::vector<fs::path> folders,
                       std::map<std::string, std::string> const& in_memory)
    : texts_(in_memory)
{
  for (auto const& [name, text] : in_memory) memory_names_.insert(name);
  for (auto const& folder : folders) {
    std::error_code failure;
    auto path = fs::canonical(folder, failure);
    if (!failure) folders_.push_back(std::move(path));
  }
}

void header_set::add_includes_of(std::string_view text)
{
  auto const directives = find_directives(text);
  for (auto const& include : directives.includes)
    if (auto const place = find(std::string(include.name), include.is_quoted, nullptr))
      (void)insert(*place);
  macros_.add(directives);
  read_all();
}

bool header_set::add(std::string const& name)
{
  if (texts_.contains(name)) return false;
  auto const place = find(name, false, nullptr);
  if (!place) return false;
  auto const size = texts_.size();
  auto const inserted = insert(*place);
  read_all();
  if (inserted != name) texts_.emplace(name, texts_.at(inserted));
  return texts_.size() > size;
}

void header_set::add_text(std::string name, std::string text)
{
  memory_names_.insert(name);
  texts_.insert_or_assign(std::move(name), std::move(text));
}

std::vector<memory_header> header_set::headers() const
{
  std::vector<memory_header> list;
  for (auto const& [name, text] : texts_) list.push_back({name, text});
  return list;
}

std::vector<fs::path> header_set::files() const
{
  std::vector<fs::path> files;
  for (auto const& [place, name] : names_) files.push_back(folders_[place.first] / place.second);
  return files;
}

std::vector<fs::path> header_set::missing_files() const
{
  std::vector<fs::path> files;
  for (auto const& [name, place] : places_)
    if (!place)
      for (auto const& folder : folders_) files.push_back(folder / name);
  return files;
}

std::string header_set::refusal_of(std::string const& name) const
{
  auto const refusal = refusals_.find(name);
  return refusal == refusals_.end() ? std::string() : refusal->second;
}

/// The file that `spelled` names: relative to the file that includes it, or in the first folder.
std::optional<header_set::location> header_set::find(std::string const& spelled, bool is_quoted,
                                                     pending const* includer)
{
  if (memory_names_.contains(spelled)) return std::nullopt;
  if (spelled.starts_with('/')) {
    refusals_.emplace(spelled, "is outside of the folders");
    return std::nullopt;
  }
  if (is_quoted && includer != nullptr) {
    auto const name =
        (fs::path(includer->place.name).parent_path() / spelled).lexically_normal().string();
    if (is_file(includer->place.folder, name, spelled))
      return location{includer->place.folder, name};
  }
  auto const [known, is_new] = places_.try_emplace(spelled);
  if (is_new) known->second = find_in_folders(spelled);
  if (!known->second) has_missing_ = true;
  return known->second;
}

std::optional<header_set::location> header_set::find_in_folders(std::string const& spelled)
{
  auto const name = fs::path(spelled).lexically_normal().string();
  for (std::size_t folder = 0; folder < folders_.size(); ++folder)
    if (is_file(folder, name, spelled)) return location{folder, name};
  return std::nullopt;
}

/// Whether `name` is a regular file below the folder, also with symbolic links resolved.
bool header_set::is_file(std::size_t folder, std::string const& name, std::string const& spelled)
{
  auto const kind = kind_of(folder, name);
  if (kind == file_kind::outside) refusals_.emplace(spelled, "is outside of the folders");
  if (kind == file_kind::irregular) refusals_.emplace(spelled, "is not a regular file");
  return kind == file_kind::regular;
}

header_set::file_kind header_set::kind_of(std::size_t folder, std::string const& name)
{
  auto const [known, is_new] = kinds_.try_emplace({folder, name}, file_kind::missing);
  if (is_new) known->second = read_kind(folder, name);
  return known->second;
}

header_set::file_kind header_set::read_kind(std::size_t folder, std::string const& name) const
{
  std::error_code failure;
  auto const path = folders_[folder] / name;
  auto const status = fs::status(path, failure);
  if (failure || !fs::exists(status)) return file_kind::missing;
  auto const real = fs::canonical(path, failure);
  if (failure || !is_below(real, folders_[folder])) return file_kind::outside;
  if (fs::is_regular_file(status)) return file_kind::regular;
  return fs::is_directory(status) ? file_kind::folder : file_kind::irregular;
}

/// The name in the set of the file at `place`: its own, unless another file has that.
std::string header_set::insert(location const& place)
{
  auto const [entry, is_new] = names_.try_emplace({place.folder, place.name}, place.name);
  if (!is_new) return entry->second;
  if (texts_.contains(place.name))
    entry->second = detail::format("{}/{}", place.folder, place.name);
  if (texts_.size() == k_most_headers)
    refuse_above_limit(detail::format("more than {}", k_most_headers));
  texts_.emplace(entry->second, std::string());
  pending_.push_back({entry->second, place});
  return entry->second;
}

std::string header_set::read(fs::path const& file)
{
  auto const bytes = read_file(file, k_largest_source, "include another header");
  size_ += bytes.size();
  if (size_ > k_most_bytes) refuse_above_limit("more than 256 MiB");
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

void header_set::read_pending()
{
  while (!pending_.empty()) {
    auto const next = std::move(pending_.back());
    pending_.pop_back();
    texts_[next.name] = rewrite(read(folders_[next.place.folder] / next.place.name), next);
  }
}

/// Returns whether there are new headers to read.
bool header_set::insert_named_by_macros()
{
  for (auto const& name : macros_.header_names())
    if (auto const place = find(name, false, nullptr)) (void)insert(*place);
  return !pending_.empty();
}

void header_set::read_all()
{
  do read_pending();
  while (insert_named_by_macros());
}

/// `text` with the name in the set for each #include that is spelled otherwise.
std::string header_set::rewrite(std::string text, pending const& owner)
{
  auto const directives = find_directives(text);
  macros_.add(directives);
  std::vector<std::pair<include_line, std::string>> changes;
  for (auto const& include : directives.includes) {
    auto const place = find(std::string(include.name), include.is_quoted, &owner);
    if (!place) continue;
    auto name = insert(*place);
    if (name != include.name) changes.emplace_back(include, std::move(name));
  }
  for (auto change = changes.rbegin(); change != changes.rend(); ++change)
    text.replace(change->first.offset, change->first.name.size(), change->second);
  return text;
}

}  // namespace fatlink::detail
