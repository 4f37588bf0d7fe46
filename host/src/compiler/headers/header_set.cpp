// SPDX-License-Identifier: Apache-2.0
#include "compiler/headers/header_set.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "compiler/directives/include_lines.hpp"
#include "compiler/headers/standard_headers.hpp"
#include "fatlink/error.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_most_headers = 4096;  ///< with other names of them
constexpr std::size_t k_most_names = 65'536;  ///< that are searched
constexpr std::uint64_t k_most_bytes = std::uint64_t{256} << 20;
constexpr char const* k_forced_folder = "@contract";

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

[[noreturn]] void refuse_nul(std::string const& name)
{
  throw file_error(stage::compiler, {.message = detail::format("{} has a NUL byte", name),
                                     .input = name,
                                     .code = error_code::invalid_source,
                                     .hint = "save it as UTF-8 text"});
}

[[noreturn]] void refuse_two_meanings(std::string const& spelled, std::string const& owner)
{
  throw compile_error(
      stage::compiler,
      {.message = detail::format("{} is named by a macro in {}, and is another file beside it than "
                                 "elsewhere",
                                 spelled, owner),
       .input = owner,
       .code = error_code::header_not_found,
       .hint = "name the header in the directive, without a macro"});
}

[[noreturn]] void refuse_unresolved(std::string const& text)
{
  throw compile_error(
      stage::compiler,
      {.message = detail::format("the condition of {} cannot be decided: its macros may name more "
                                 "headers than the limits allow",
                                 text),
       .input = "headers",
       .code = error_code::above_limit,
       .hint = "write the name of the header in __has_include, or compile it with nvcc"});
}

}  // namespace

header_set::header_set(header_sources const& sources)
    : folders_(sources.folders, sources.cuda_folders), check_time_(sources.check_time)
{
  for (auto const& [name, text] : sources.in_memory) memory_names_.insert(name);
  for (auto const& [name, text] : sources.in_memory) insert_text(name, text, std::nullopt);
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
  insert_text(forced_name_, std::move(text), forced_place_);
  read_all();
  return forced_name_;
}

void header_set::add_includes_of(std::string_view text)
{
  auto const directives = find_directives(text);
  for (auto const& include : directives.includes) resolve_for_source(include);
  add_directives(directives, {});
  read_all();
  if (auto const use = macros_.unresolved(); !use.empty()) refuse_unresolved(use);
}

void header_set::add_definitions(std::vector<std::string> const& definitions)
{
  for (auto const& definition : definitions) {
    auto line = "#define " + definition;
    if (auto const sign = line.find('='); sign != std::string::npos) line[sign] = ' ';
    add_directives(find_directives(line), {});
  }
}

bool header_set::add(std::string const& name)
{
  if (headers_.contains(name)) return false;
  resolve_for_source({.name = name});
  read_all();
  return headers_.contains(name);
}

void header_set::add_text(std::string const& name, std::string text)
{
  headers_[name].text = std::move(text);
}

std::vector<memory_header> header_set::headers() const
{
  std::map<std::string_view, std::vector<text_edit>> changes;
  for (auto const& use : uses_)
    if (use.change) changes[use.owner].push_back(*use.change);
  std::vector<memory_header> list;
  for (auto const& [name, subject] : headers_) {
    auto edits = subject.edits;
    if (auto const own = changes.find(name); own != changes.end())
      edits.insert(edits.end(), own->second.begin(), own->second.end());
    list.push_back({name, edited(subject.text, std::move(edits))});
  }
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

void header_set::check_time()
{
  if (check_time_) check_time_();
}

/// The name in the set of the header that `line` names; empty: there is none.
std::string header_set::resolve(include_line const& line, optional_place const& includer)
{
  check_time();
  std::string const spelled(line.name);
  if (!line.is_certain && !may_be_header(spelled)) return {};
  if (spelled.starts_with('/') || spelled.starts_with('@')) {
    folders_.refuse(spelled, spelled.front() == '/' ? "is outside of the folders"
                                                    : "begins with @, which fatlink uses itself");
    return {};
  }
  if (line.is_quoted && includer && !line.is_next)
    if (auto name = find_beside(spelled, *includer); !name.empty()) return name;
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
  if (standard_names_.contains(spelled)) return spelled;
  std::string cccl_text;
  if (spelled == "stdint.h" || spelled == "cstdint")
    if (auto const place = folders_.find("cuda/std/cstdint"))
      cccl_text = folders_.read(*place).value_or("");
  auto text = standard_header_text(spelled, cccl_text);
  if (auto const cccl = cccl_header_of(spelled); !text && !cccl.empty() && folders_.find(cccl))
    text = cccl_header_text(cccl);
  if (!text) return {};
  insert_text(spelled, std::move(*text), std::nullopt);
  standard_names_.insert(spelled);
  return spelled;
}

/// The name in the set of a file that is not in it.
std::string header_set::name_of(header_place const& place)
{
  if (forced_place_ && place.folder == forced_place_->folder)
    return detail::format("{}/{}", k_forced_folder, place.name);
  auto const is_taken = memory_names_.contains(place.name) || place.name == forced_file_name_ ||
                        place.name.starts_with('@');
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
  auto text = folders_.read(place);
  if (!text) folders_.refuse(spelled, folders_.refusal_of(place.name));
  if (!text) return {};
  size_ += text->size();
  if (size_ > k_most_bytes) refuse_above_limit("more than 256 MiB");
  entry->second = name_of(place);
  insert_text(entry->second, std::move(*text), place);
  return entry->second;
}

/// Adds a text whose directives are to be read.
header_set::header& header_set::insert_text(std::string const& name, std::string text,
                                            optional_place place)
{
  constexpr std::string_view k_mark = "\xEF\xBB\xBF";  // of UTF-8
  if (text.find('\0') != std::string::npos) refuse_nul(name);
  if (text.starts_with(k_mark)) text.erase(0, k_mark.size());
  auto& entry = headers_[name];
  entry = {.text = std::move(text), .place = std::move(place)};
  if (headers_.size() > k_most_headers)
    refuse_above_limit(detail::format("more than {}", k_most_headers));
  pending_.push_back(name);
  return entry;
}

/// Adds a header `spelled` that includes the header `name` of the set, unless there is one.
void header_set::add_alias(std::string const& spelled, std::string const& name)
{
  if (spelled == name || headers_.contains(spelled)) return;
  headers_[spelled] = {.text = include_of(name), .alias_of = name};
  if (headers_.size() > k_most_headers)
    refuse_above_limit(detail::format("more than {} with their other names", k_most_headers));
}

/// Adds what `line` of the source names, also by that name.
void header_set::resolve_for_source(include_line const& line)
{
  if (auto const name = resolve(line, std::nullopt); !name.empty())
    add_alias(std::string(line.name), name);
}

/// `owner`: of the text, by its name in the set; empty: the source.
void header_set::add_directives(include_directives const& directives, std::string const& owner)
{
  macros_.add(directives);
  for (auto const& use : directives.uses)
    if (!use.is_call) uses_.push_back({.owner = owner, .range = use.range});
  if (!directives.is_complete || macros_.size() > k_most_directives)
    refuse_above_limit(detail::format("more than {} directives", k_most_directives));
}

/// Returns whether there are new headers to read.
bool header_set::resolve_macros()
{
  for (auto const number : macros_.expand())
    for (auto const& value : macros_.headers_of(number)) resolve_value(uses_[number], value);
  for (auto const& value : macros_.condition_headers())
    if (auto const place = folders_.find(value.name))
      if (auto const name = insert(*place, value.name); !name.empty()) add_alias(value.name, name);
  return !pending_.empty();
}

void header_set::resolve_value(macro_place& use, include_macros::header_name const& value)
{
  auto const place = use.owner.empty() ? std::nullopt : headers_.at(use.owner).place;
  if (value.is_quoted && place)
    if (auto name = find_beside(value.name, *place); !name.empty()) {
      use.beside.insert_or_assign(value.name, std::move(name));
      return;
    }
  if (auto const name = resolve({.name = value.name, .is_certain = false}, place); !name.empty())
    add_alias(value.name, name);
}

/// Gives each "…" that a macro may name the file beside its owner.
void header_set::settle_macros()
{
  for (std::size_t number = 0; number < uses_.size(); ++number) {
    auto& use = uses_[number];
    use.change.reset();
    if (use.beside.empty()) continue;
    if (macros_.headers_of(number).size() > 1) {
      settle(use);
      continue;
    }
    use.change = {use.range, '"' + use.beside.begin()->second + '"'};
  }
}

/// The compiler looks the values up as they are spelled.
void header_set::settle(macro_place const& use)
{
  for (auto const& [spelled, name] : use.beside) {
    add_alias(spelled, name);
    if (spelled != name && headers_.at(spelled).alias_of != name)
      refuse_two_meanings(spelled, use.owner);
  }
}

void header_set::read_pending()
{
  while (!pending_.empty()) {
    auto const name = std::move(pending_.back());
    pending_.pop_back();
    check_time();
    edit_directives(name);
  }
}

void header_set::read_all()
{
  do read_pending();
  while (resolve_macros());
  settle_macros();
}

/// Gives each header that the header `name` spells otherwise its name in the set.
void header_set::edit_directives(std::string const& name)
{
  auto& subject = headers_.at(name);
  auto const directives = find_directives(subject.text);
  for (auto const& include : directives.includes) edit_directive(subject, include);
  add_directives(directives, name);
}

void header_set::edit_directive(header& subject, include_line const& line)
{
  auto const is_text = line.is_definition && !line.is_certain;  // may be other text than a name
  auto sought = line;
  if (is_text) sought.is_quoted = false;  // its user may be anywhere
  auto const name = resolve(sought, subject.place);
  if (name.empty()) return;
  if (is_text) return add_alias(std::string(line.name), name);
  if (line.is_next)
    subject.edits.push_back({line.word, line.is_condition ? "__has_include" : "include"});
  if (name != line.name) subject.edits.push_back({line.range, name});
}

}  // namespace fatlink::detail
