// SPDX-License-Identifier: Apache-2.0
#include "compiler/header_set.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "compiler/include_lines.hpp"
#include "fatlink/error.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_most_headers = 4096;
constexpr std::uint64_t k_most_bytes = std::uint64_t{256} << 20;
constexpr char const* k_forced_folder = "@contract";

[[noreturn]] void refuse_above_limit(std::string const& cause)
{
  throw file_error(stage::compiler, {.message = "the headers of the source: " + cause,
                                     .input = "headers",
                                     .code = error_code::above_limit,
                                     .hint = "include fewer headers, or compile it with nvcc"});
}

/// Whether the argument of a macro may be the name of a header.
bool may_be_header(std::string_view name)
{
  return std::ranges::all_of(name, [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
           std::string_view("_/.-+").find(letter) != std::string_view::npos;
  });
}

/// Whether it is likely to be one, though none was found.
bool is_header_name(std::string_view name)
{
  return name.ends_with(".h") || name.ends_with(".cuh") || name.ends_with(".hpp");
}

/// An #include of the file `name` of the set.
std::string include_of(std::string const& name)
{
  return detail::format("#include \"{}\"\n", name);
}

}  // namespace

header_set::header_set(std::vector<fs::path> const& folders,
                       std::map<std::string, std::string> const& in_memory,
                       std::function<void()> check)
    : folders_(folders), check_(check ? std::move(check) : [] {})
{
  for (auto const& [name, text] : in_memory) memory_names_.insert(name);
  for (auto const& [name, text] : in_memory) insert_text(name, text, std::nullopt);
}

std::string header_set::add_forced(std::string const& file_name, std::string text,
                                   fs::path const& folder)
{
  forced_file_name_ = file_name;
  forced_name_ = detail::format("{}/{}", k_forced_folder, file_name);
  if (!folder.empty())
    if (auto const number = folders_.add(folder)) forced_place_ = {*number, file_name};
  if (forced_place_) names_.emplace(folders_.real(*forced_place_), forced_name_);
  insert_text(forced_name_, std::move(text), forced_place_);
  read_all();
  return forced_name_;
}

void header_set::add_includes_of(std::string_view text)
{
  auto const directives = find_directives(text);
  for (auto const& include : directives.includes) resolve_for_source(include);
  macros_.add(directives);
  read_all();
}

void header_set::add_definitions(std::vector<std::string> const& definitions)
{
  for (auto const& definition : definitions) {
    auto line = "#define " + definition;
    if (auto const sign = line.find('='); sign != std::string::npos) line[sign] = ' ';
    macros_.add(find_directives(line));
  }
}

bool header_set::add(std::string const& name)
{
  if (texts_.contains(name)) return false;
  resolve_for_source({.name = name});
  read_all();
  return texts_.contains(name);
}

void header_set::add_text(std::string name, std::string text)
{
  texts_.insert_or_assign(std::move(name), std::move(text));
}

std::vector<memory_header> header_set::headers() const
{
  std::vector<memory_header> list;
  for (auto const& [name, text] : texts_) list.push_back({name, text});
  return list;
}

bool header_set::has_only_forced() const noexcept
{
  return memory_names_.empty() && names_.size() == (forced_place_ ? 1U : 0U);
}

std::vector<fs::path> header_set::files() const
{
  std::vector<fs::path> files;
  for (auto const& [file, name] : names_) files.push_back(file);
  return files;
}

std::map<std::string, fs::path> header_set::files_by_name() const
{
  std::map<std::string, fs::path> files;
  for (auto const& [file, name] : names_) files.emplace(name, file);
  return files;
}

std::vector<fs::path> header_set::missing_files() const
{
  std::vector<fs::path> files;
  auto const folders = folders_.paths();
  for (auto const& [spelled, place] : found_places_)
    if (!place)
      for (auto const& folder : folders) files.push_back(folder / spelled.first);
  return files;
}

std::string header_set::refusal_of(std::string const& name) const
{
  return folders_.refusal_of(name);
}

/// The name in the set of the header that `line` names; empty: there is none.
std::string header_set::resolve(include_line const& line, optional_place const& includer)
{
  std::string const spelled(line.name);
  if (!line.is_certain && !may_be_header(spelled)) return {};
  if (spelled.starts_with('/')) {
    folders_.refuse(spelled, "is outside of the folders");
    return {};
  }
  if (line.is_quoted && includer && !line.is_next)
    if (auto name = find_beside(spelled, *includer); !name.empty()) return name;
  if (memory_names_.contains(spelled)) return spelled;
  if (!includer && spelled == forced_file_name_) return forced_name_;
  return find_in_folders(line, line.is_next && includer ? includer->folder + 1 : 0);
}

std::string header_set::find_beside(std::string const& spelled, header_place const& includer)
{
  header_place const place{
      includer.folder,
      (fs::path(includer.name).parent_path() / spelled).lexically_normal().string()};
  return folders_.is_file(place, spelled) ? insert(place, spelled) : std::string();
}

std::string header_set::find_in_folders(include_line const& line, std::size_t first)
{
  std::string const spelled(line.name);
  auto const [known, is_new] = found_places_.try_emplace({spelled, first});
  if (is_new) {
    check_();
    known->second = folders_.find(spelled, first);
  }
  if (known->second) return insert(*known->second, spelled);
  auto const is_expected = line.is_certain || is_header_name(spelled);
  if (is_expected && folders_.refusal_of(spelled).empty()) has_missing_ = true;
  return {};
}

/// The name in the set of a file that is not in it.
std::string header_set::name_of(header_place const& place)
{
  if (forced_place_ && place.folder == forced_place_->folder)
    return detail::format("{}/{}", k_forced_folder, place.name);
  auto const is_taken = memory_names_.contains(place.name) || place.name == forced_file_name_;
  auto const first = folders_.find(place.name);
  if (!is_taken && first && folders_.real(*first) == folders_.real(place)) return place.name;
  return detail::format("@{}/{}", place.folder, place.name);
}

/// The name in the set of the file at `place`; empty, with the reason for `spelled`, if it cannot
/// be read.
std::string header_set::insert(header_place const& place, std::string const& spelled)
{
  auto const [entry, is_new] = names_.try_emplace(folders_.real(place));
  if (!is_new) return entry->second;
  if (texts_.size() >= k_most_headers)
    refuse_above_limit(detail::format("more than {}", k_most_headers));
  auto text = folders_.read(place);
  if (!text) folders_.refuse(spelled, folders_.refusal_of(place.name));
  if (!text) return {};
  size_ += text->size();
  if (size_ > k_most_bytes) refuse_above_limit("more than 256 MiB");
  entry->second = name_of(place);
  insert_text(entry->second, std::move(*text), place);
  return entry->second;
}

void header_set::insert_text(std::string const& name, std::string text, optional_place place)
{
  texts_.insert_or_assign(name, std::move(text));
  pending_.push_back({name, std::move(place)});
}

/// Adds what `line` of the source names, also by that name.
void header_set::resolve_for_source(include_line const& line)
{
  auto const name = resolve(line, std::nullopt);
  if (!name.empty() && name != line.name)
    texts_.try_emplace(std::string(line.name), include_of(name));
}

/// Returns whether there are new headers to read.
bool header_set::resolve_macros()
{
  for (auto const& name : macros_.header_names())
    if (resolved_macros_.insert(name).second)
      resolve_for_source({.name = name, .is_certain = false});
  return !pending_.empty();
}

void header_set::read_pending()
{
  while (!pending_.empty()) {
    auto const next = std::move(pending_.back());
    pending_.pop_back();
    check_();
    auto text = rewrite(texts_.at(next.name), next.place);
    texts_.insert_or_assign(next.name, std::move(text));
  }
}

void header_set::read_all()
{
  do read_pending();
  while (resolve_macros());
}

/// `text` with the name in the set for each header that is spelled otherwise.
std::string header_set::rewrite(std::string const& text, optional_place const& owner)
{
  constexpr std::string_view k_next = "include_next";
  auto const directives = find_directives(text);
  macros_.add(directives);
  std::string changed;
  std::size_t copied = 0;
  for (auto const& include : directives.includes) {
    auto const name = resolve(include, owner);
    if (name.empty()) continue;
    if (!include.is_certain) {  // the text may be another one's
      if (name != include.name) texts_.try_emplace(std::string(include.name), include_of(name));
      continue;
    }
    if (auto const word = text.rfind(k_next, include.offset);
        include.is_next && word != std::string::npos && word >= copied) {
      changed.append(text, copied, word - copied).append("include     ");
      copied = word + k_next.size();
    }
    if (name == include.name) continue;
    changed.append(text, copied, include.offset - copied).append(name);
    copied = include.offset + include.name.size();
  }
  return changed.append(text, copied);
}

}  // namespace fatlink::detail
