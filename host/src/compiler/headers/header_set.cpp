// SPDX-License-Identifier: Apache-2.0
#include "compiler/headers/header_set.hpp"

#include <utility>

#include "compiler/directives/directive_text.hpp"
#include "compiler/directives/include_lines.hpp"
#include "compiler/headers/refuse_headers.hpp"
#include "compiler/headers/standard_headers.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_most_names = 65'536;  ///< that are searched
constexpr std::size_t k_longest_name = 4096;  ///< PATH_MAX
constexpr std::uint64_t k_most_bytes = std::uint64_t{256} << 20;
constexpr char const* k_forced_folder = "@contract";
constexpr char const* k_standard_folder = "@standard";
constexpr std::string_view k_no_folder = "@next/";

}  // namespace

header_set::header_set(header_sources const& sources)
    : folders_(sources.folders, sources.cuda_folders), check_time_(sources.check_time)
{
  for (auto const& [name, text] : sources.in_memory) memory_names_.insert(name);
  for (auto const& [name, text] : sources.in_memory) texts_.insert(name, text, std::nullopt);
}

std::string header_set::add_forced(std::string const& file_name, std::string text,
                                   fs::path const& folder, std::string const& path)
{
  forced_file_name_ = file_name;
  forced_name_ = detail::format("{}/{}", k_forced_folder, path.empty() ? file_name : path);
  if (!folder.empty())
    if (auto const number = folders_.add(folder))
      forced_place_ = {*number, path.empty() ? file_name : path};
  if (forced_place_) names_.emplace(folders_.real(*forced_place_), forced_name_);
  texts_.insert(forced_name_, std::move(text), forced_place_);
  read_all();
  return forced_name_;
}

void header_set::add_includes_of(std::string_view text)
{
  auto const directives = find_directives(without_mark(text));
  for (auto const& include : directives.includes) resolve_for_source(include);
  macros_.add(directives, {});
  read_all();
  if (auto const use = macros_.unresolved(); !use.empty()) refuse_unresolved(use);
}

void header_set::add_definitions(std::vector<std::string> const& definitions)
{
  for (auto const& definition : definitions) {
    auto line = "#define " + definition;
    if (auto const sign = line.find('='); sign != std::string::npos) line[sign] = ' ';
    macros_.add(find_directives(line), {});
  }
}

bool header_set::add(std::string const& name)
{
  if (texts_.contains(name)) return false;
  resolve_for_source({.name = name});
  read_all();
  return texts_.contains(name);
}

void header_set::add_text(std::string const& name, std::string text)
{
  texts_.add_other(name, std::move(text));
}

std::vector<memory_header> header_set::headers() const
{
  return texts_.edited_headers(macros_.edits());
}

bool header_set::has_only_forced() const noexcept
{
  return memory_names_.empty() && names_.size() == (forced_place_ ? 1U : 0U);
}

std::vector<fs::path> header_set::files() const
{
  std::vector<fs::path> files;
  for (auto const& [file, name] : names_)
    if (!name.empty()) files.push_back(file);
  return files;
}

std::map<std::string, fs::path> header_set::files_by_name() const
{
  std::map<std::string, fs::path> files;
  for (auto const& [file, name] : names_)
    if (!name.empty()) files.emplace(name, file);
  return files;
}

std::vector<fs::path> header_set::missing_files() const
{
  std::vector<fs::path> files;
  auto const folders = folders_.paths();
  for (auto const& [spelled, place] : found_places_)
    if (!place)
      for (auto const& folder : folders) files.push_back(folder / spelled.first);
  for (auto const& [file, name] : names_)
    if (name.empty()) files.push_back(file);
  return files;
}

void header_set::check_time()
{
  if (check_time_) check_time_();
}

/// The name in the set of the header that `line` names; empty: there is none.
std::string header_set::resolve(include_line const& line, optional_place const& includer)
{
  check_time();
  if (line.name.size() > k_longest_name) return {};
  std::string const spelled(line.name);
  if (!line.is_certain && !may_be_header(spelled)) return {};
  if (spelled.starts_with('/') || spelled.starts_with('@')) {
    folders_.refuse(spelled, spelled.front() == '/' ? "is outside of the folders"
                                                    : "begins with @, which fatlink uses itself");
    return {};
  }
  if (line.is_quoted && includer && !line.is_next)
    if (auto name = find_beside(spelled, *includer); !name.empty()) return name;
  if (line.is_next) return find_in_folders(line, includer);
  if (memory_names_.contains(spelled)) return spelled;
  if (!includer && spelled == forced_file_name_) return forced_name_;
  return find_in_folders(line, includer);
}

std::string header_set::find_beside(std::string const& spelled, header_place const& includer)
{
  auto const path = fs::path(includer.name).parent_path() / spelled;
  auto const place = folders_.find_at({includer.folder, path.lexically_normal().string()}, spelled);
  return place ? insert(*place, spelled) : std::string();
}

std::string header_set::find_in_folders(include_line const& line, optional_place const& includer)
{
  std::string const spelled(line.name);
  auto const first = line.is_next && includer ? includer->folder + 1 : 0;
  auto const [entry, is_new] = found_places_.try_emplace({spelled, first});
  if (found_places_.size() > k_most_names)
    refuse_above_limit(detail::format("more than {} names", k_most_names));
  if (is_new) entry->second = folders_.find(spelled, first);
  if (entry->second) return insert(*entry->second, spelled);
  // CUDA's headers include those of the host's library where NVRTC does not compile them.
  if (!includer || !folders_.is_of_cuda(includer->folder))
    if (auto name = find_standard(spelled); !name.empty()) return name;
  auto const is_expected = line.is_certain || is_header_name(spelled);
  if (is_expected && folders_.refusal_of(spelled).empty()) has_missing_ = true;
  return {};
}

/// A header of the C++ standard library.
std::string header_set::find_standard(std::string const& spelled)
{
  if (auto const known = standard_names_.find(spelled); known != standard_names_.end())
    return known->second;
  std::string cccl_text;
  if (spelled == "stdint.h" || spelled == "cstdint")
    if (auto const place = folders_.find("cuda/std/cstdint"))
      cccl_text = folders_.read(*place).value_or("");
  auto text = standard_header_text(spelled, cccl_text);
  if (auto const cccl = cccl_header_of(spelled); !text && !cccl.empty() && folders_.find(cccl))
    text = cccl_header_text(cccl);
  if (!text) return {};
  // #include_next in a header of that name may mean it.
  auto name = is_taken(spelled) || folders_.find(spelled)
                  ? detail::format("{}/{}", k_standard_folder, spelled)
                  : spelled;
  texts_.insert(name, std::move(*text), std::nullopt);
  return standard_names_[spelled] = std::move(name);
}

/// Whether a file of a folder cannot have the name.
bool header_set::is_taken(std::string const& name) const
{
  return memory_names_.contains(name) || name == forced_file_name_ || name.starts_with('@');
}

/// The name in the set of a file that is not in it.
std::string header_set::name_of(header_place const& place)
{
  if (forced_place_ && place.folder == forced_place_->folder)
    return detail::format("{}/{}", k_forced_folder, place.name);
  auto const first = folders_.find(place.name);
  if (!is_taken(place.name) && first && folders_.real(*first) == folders_.real(place))
    return place.name;
  return detail::format("@{}/{}", place.folder, place.name);
}

/// The name in the set of the file at `place`; empty, with the reason for `spelled`, if it cannot
/// be read.
std::string header_set::insert(header_place const& place, std::string const& spelled)
{
  auto const [entry, is_new] = names_.try_emplace(folders_.real(place));
  auto text = is_new ? folders_.read(place) : std::nullopt;
  if (!text && entry->second.empty()) folders_.refuse(spelled, folders_.refusal_of(place.name));
  if (!text) return entry->second;
  size_ += text->size();
  if (size_ > k_most_bytes) refuse_above_limit("more than 256 MiB");
  entry->second = name_of(place);
  texts_.insert(entry->second, std::move(*text), place);
  return entry->second;
}

/// Adds what `line` of the source names, also by that name.
void header_set::resolve_for_source(include_line line)
{
  line.is_next = false;  // the source is in no folder
  if (auto const name = resolve(line, std::nullopt); !name.empty())
    texts_.add_alias(std::string(line.name), name);
}

/// Adds what macros name. Returns whether there are new headers to read.
bool header_set::resolve_macros()
{
  for (auto const& value : macros_.expand()) resolve_value(value);
  for (auto const& value : macros_.condition_headers())
    if (auto const place = folders_.find(value.name))
      if (auto const name = insert(*place, value.name); !name.empty())
        texts_.add_alias(value.name, name);
  return texts_.has_pending();
}

void header_set::resolve_value(header_macros::value const& value)
{
  auto const& [number, header] = value;
  auto const& owner = macros_.owner_of(number);
  auto const place = owner.empty() ? std::nullopt : texts_.at(owner).place;
  auto const is_name = macros_.is_certain(number) || may_be_header(header.name);
  if (header.is_quoted && place && is_name)
    if (auto name = find_beside(header.name, *place); !name.empty())
      return macros_.set_beside(number, header.name, std::move(name));
  if (!is_name) return;
  auto const is_expected = is_header_name(header.name);
  if (auto const name = resolve({.name = header.name, .is_certain = is_expected}, place);
      !name.empty())
    texts_.add_alias(header.name, name);
}

void header_set::read_pending()
{
  while (auto const name = texts_.take_pending()) {
    check_time();
    edit_directives(*name);
  }
}

void header_set::read_all()
{
  do read_pending();
  while (resolve_macros());
  macros_.settle(texts_);
}

/// Gives each header that the header `name` spells otherwise its name in the set.
void header_set::edit_directives(std::string const& name)
{
  auto& subject = texts_.at(name);
  auto const directives = find_directives(subject.text);
  for (auto const& include : directives.includes) edit_directive(subject, include);
  macros_.add(directives, name);
}

void header_set::edit_directive(header_texts::header& subject, include_line const& line)
{
  auto const is_text = line.is_definition && !line.is_certain;  // may be other text than a name
  auto sought = line;
  if (is_text) sought.is_quoted = false;  // its user may be anywhere
  auto name = resolve(sought, subject.place);
  // The compiler would take the header that has this directive for the next one.
  if (name.empty() && line.is_next) name = std::string(k_no_folder).append(line.name);
  if (name.empty()) return;
  if (is_text) return texts_.add_alias(std::string(line.name), name);
  if (line.is_next)
    subject.edits.push_back({line.word, line.is_condition ? "__has_include" : "include"});
  if (name != line.name) subject.edits.push_back({line.range, name});
}

std::string header_set::with_spelled_names(std::string log)
{
  for (auto place = log.find(k_no_folder); place != std::string::npos;
       place = log.find(k_no_folder, place))
    log.erase(place, k_no_folder.size());
  return log;
}

}  // namespace fatlink::detail
