// SPDX-License-Identifier: Apache-2.0
#include "compiler/header_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <optional>
#include <utility>

#include "compiler/compiler_state.hpp"
#include "fatlink/source.hpp"
#include "link_helper/protocol.hpp"
#include "toolkit/toolkit_library.hpp"
#include "util/bytes/sha256.hpp"
#include "util/files/output_file.hpp"
#include "util/files/read_file.hpp"
#include "util/process/environment.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_most_paths = 131'072;
constexpr std::size_t k_most_headers = 4096;
constexpr std::uint64_t k_most_bytes = std::uint64_t{256} << 20;
constexpr char const* k_outside = "is outside of the folders";

constexpr char const* k_memory = "/@memory";
constexpr char const* k_contract = "/@contract";
constexpr char const* k_header = "/@header";
constexpr char const* k_data = "/@data";
constexpr char const* k_standard = "/@standard";
constexpr char const* k_cuda = "/@cuda";

[[noreturn]] void refuse_above_limit(std::string const& cause)
{
  throw file_error(stage::compiler, {.message = "the headers of the source: " + cause,
                                     .input = "headers",
                                     .code = error_code::above_limit,
                                     .hint = "include fewer headers, or compile it with nvcc"});
}

[[noreturn]] void refuse_nul(std::string const& name)
{
  throw file_error(stage::compiler, {.message = detail::format("{} has a NUL byte", name),
                                     .input = name,
                                     .code = error_code::invalid_source,
                                     .hint = "save it as UTF-8 text"});
}

bool is_below(std::string_view path, std::string_view root)
{
  return path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
}

/// Whether `name`, which is normal, leaves the folder that it is relative to.
bool is_above(std::string_view name)
{
  return name == ".." || name.starts_with("../");
}

bool is_plain(std::string_view path)
{
  auto const is_control = [](unsigned char letter) { return letter < 0x20; };
  return path.starts_with('/') && path.size() < PATH_MAX && std::ranges::none_of(path, is_control);
}

char const* refusal_for(file_kind_below kind)
{
  if (kind == file_kind_below::outside) return k_outside;
  if (kind == file_kind_below::irregular) return "is not a regular file";
  return kind == file_kind_below::unreadable ? "cannot be read" : "";
}

std::vector<fs::path> standard_folders()
{
  auto folders = data_folders();
  for (auto& folder : folders) folder = folder / "include" / "nvrtc";
  return folders;
}

std::string digest_of_text(std::string_view text)
{
  return to_hexadecimal(sha256(std::as_bytes(std::span(text))));
}

}  // namespace

std::string_view without_mark(std::string_view text)
{
  constexpr std::string_view k_mark = "\xEF\xBB\xBF";
  return text.starts_with(k_mark) ? text.substr(k_mark.size()) : text;
}

header_files::header_files(compile_options const& options, installed_contract const* contract,
                           std::function<void()> check_time, source_place const& source)
    : program_path_(detail::format("{}/{}", k_source_folder, source.name)),
      has_folder_(!source.folder.empty()),
      check_time_(std::move(check_time))
{
  if (source.folder.empty())
    (void)add_root(k_source_folder, {});
  else
    (void)add_root(k_source_folder, {source.folder});
  if (!options.headers.empty()) add_search(add_root(k_memory, {}).name);
  for (auto const& [name, text] : options.headers)
    add_text(detail::format("{}/{}", k_memory, name), text, {});
  for (std::size_t i = 0; i < options.include_folders.size(); ++i)
    add_search(add_root(detail::format("/@{}", i + 1), {options.include_folders[i]}).name);
  if (contract != nullptr) add_contract(*contract);
  if (!options.header.empty()) add_header(options.header);
  add_search(add_root(k_data, data_include_folders()).name);
  add_search(add_root(k_standard, standard_folders()).name);
  add_search(add_root(k_cuda, {}).name);
}

void header_files::set_cuda_folders(std::vector<fs::path> const& folders)
{
  roots_.pop_back();
  (void)add_root(k_cuda, folders);
  std::erase_if(entries_, [](auto const& known) {
    return is_below(known.first, k_cuda) || is_below(known.first, k_standard);
  });
  has_missing_ = false;
}

header_files::root& header_files::add_root(std::string name, std::vector<fs::path> const& folders)
{
  auto& added = roots_.emplace_back(root{.name = std::move(name)});
  std::error_code failure;
  for (auto const& path : folders)
    if (auto real = real_path(path, failure); !failure && fs::is_directory(real, failure))
      added.folders.push_back({.base = base_folder(std::move(real))});
  return added;
}

/// `file`: with the same text, which may also be looked up by another path; empty: none.
void header_files::add_text(std::string const& path, std::string_view text, fs::path const& file)
{
  if (text.find('\0') != std::string_view::npos)
    refuse_nul(file.empty() ? path.substr(path.find('/', 1) + 1) : file.string());
  entry added{.found = identity(), .text = std::string(without_mark(text)), .file = file};
  added.found.kind = looked_up_file::file_kind::regular;
  struct ::stat status = {};
  if (!file.empty() && ::stat(file.c_str(), &status) == 0) {
    added.found.device = status.st_dev;
    added.found.inode = status.st_ino;
  }
  memory_[path] = added.text;
  entries_[path] = std::move(added);
}

void header_files::add_contract(installed_contract const& contract)
{
  add_root(k_contract, {contract.folder});
  auto const path = detail::format("{}/{}", k_contract, contract.header_below);
  add_text(path, contract.header_text, contract.header_path);
  add_search(fs::path(path).parent_path().string());
  options_.push_back("--pre-include=" + path);
}

void header_files::add_header(fs::path const& header)
{
  auto const bytes = read_file(header, k_largest_source, "pass the header that declares the hooks");
  auto const path = detail::format("{}/{}", k_header, header.filename().string());
  add_text(path, {reinterpret_cast<char const*>(bytes.data()), bytes.size()}, header);
  add_search(add_root(k_header, {}).name);
  options_.push_back("--pre-include=" + path);
}

/// The identity of a file that has none.
looked_up_file header_files::identity() const
{
  return {.device = ~std::uint64_t{0}, .inode = entries_.size() + 1};
}

looked_up_file header_files::answer(std::string const& path)
{
  auto const& known = look_up(path);
  auto const is_missing = known.found.kind == looked_up_file::file_kind::missing;
  auto const is_memory =
      memory_.contains(path) || is_below(path, k_memory) || is_below(path, k_header);
  auto const is_apart = path == program_path_ || (!has_folder_ && is_below(path, k_source_folder));
  if (!is_memory && !is_apart && is_plain(path))
    record_.insert(is_missing ? path.substr(0, known.found.missing) : path);
  if (is_missing && is_below(path, k_cuda)) has_missing_ = true;
  auto found = known.found;
  found.text = known.text;
  return found;
}

header_files::entry const& header_files::look_up(std::string const& path)
{
  if (auto const known = entries_.find(path); known != entries_.end()) return known->second;
  check_time_();
  if (entries_.size() >= k_most_paths)
    refuse_above_limit(detail::format("more than {} places to look at", k_most_paths));
  auto found = find(path);
  if (found.found.missing == 0) found.found.missing = static_cast<std::uint32_t>(path.size());
  header_count_ += found.file.empty() ? 0 : 1;
  size_ += found.text.size();
  if (header_count_ > k_most_headers)
    refuse_above_limit(detail::format("more than {}", k_most_headers));
  if (size_ > k_most_bytes)
    refuse_above_limit(detail::format("more than {} MiB", k_most_bytes >> 20));
  return entries_[path] = std::move(found);
}

header_files::root* header_files::root_of(std::string const& path)
{
  auto const place =
      std::ranges::find_if(roots_, [&](root const& each) { return is_below(path, each.name); });
  return place == roots_.end() ? nullptr : &*place;
}

header_files::entry header_files::find(std::string const& path)
{
  if (!is_plain(path) || path == program_path_) return {};
  auto* const place = root_of(path);
  if (place == nullptr) return find_by_path(path);
  auto const name = path.size() > place->name.size() ? path.substr(place->name.size() + 1) : ".";
  auto result = find_in(*place, path, name);
  auto const is_missing = result.found.kind == looked_up_file::file_kind::missing;
  if (!is_missing || place->name != k_standard) return result;
  auto of_cccl = find_of_cccl(name);
  return of_cccl.found.kind == looked_up_file::file_kind::regular ? of_cccl : result;
}

/// The file `name` of the first folder of `place` that has it.
header_files::entry header_files::find_in(root& place, std::string const& path,
                                          std::string const& name)
{
  auto const normal = fs::path(name).lexically_normal().string();
  entry result;
  std::size_t missing = 0;
  for (auto& each : place.folders) {
    if (is_above(normal)) {
      result = find_by_path(each.base.path() / normal);
      if (result.found.kind != looked_up_file::file_kind::missing) return result;
      continue;
    }
    std::size_t end = 0;
    while ((end = normal.find('/', end + 1)) != std::string::npos) {
      auto const [part, is_new] = each.parts.try_emplace(normal.substr(0, end));
      if (is_new) part->second = each.base.kind_of(part->first) != file_kind_below::missing;
      if (!part->second) break;
    }
    missing = std::max(missing, std::min(end, normal.size()));
    if (end == std::string::npos && open(each, normal, result)) return result;
  }
  if (place.folders.empty() && place.name != k_memory && place.name != k_header)
    result.found.missing = static_cast<std::uint32_t>(place.name.size());
  else if (name == normal && missing != 0)
    result.found.missing = static_cast<std::uint32_t>(path.size() - name.size() + missing);
  return result;
}

/// A file by its path on this machine, if it is in a folder; without symbolic links as well.
header_files::entry header_files::find_by_path(fs::path const& path)
{
  entry result;
  bool is_inside = false;
  std::error_code failure;
  for (auto const& file : {path.lexically_normal(), real_path(path, failure)})
    for (auto& place : roots_)
      for (auto& each : place.folders) {
        if (place.name == k_source_folder) continue;
        auto const name = file.lexically_relative(each.base.path()).string();
        if (file.empty() || name.empty() || is_above(name)) continue;
        auto const opened = each.base.open(name);
        read(opened, result);
        if (result.found.kind != looked_up_file::file_kind::missing) {
          result.file = file;
          return result;
        }
        is_inside = is_inside || opened.kind != file_kind_below::outside;
      }
  if (!is_inside) result.refusal = k_outside;
  return result;
}

/// A standard header of CCCL (libcu++), by the names of the namespace std.
header_files::entry header_files::find_of_cccl(std::string const& name)
{
  auto const is_letter = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '_';
  };
  if (name.empty() || !std::ranges::all_of(name, is_letter)) return {};
  auto const& own = look_up(detail::format("{}/cuda/std/{}", k_cuda, name));
  if (own.found.kind != looked_up_file::file_kind::regular) return {};
  entry result{
      .found = identity(),
      .text = detail::format("#include <cuda/std/{}>\nnamespace cuda {{ namespace std {{}} "
                             "}}\nnamespace std {{\nusing namespace cuda::std;\n}}\n",
                             name)};
  result.found.kind = looked_up_file::file_kind::regular;
  return result;
}

/// The file or folder `name` below `place`. Returns false, with the reason in `result`, if there is
/// none that may be read.
bool header_files::open(folder& place, std::string const& name, entry& result)
{
  auto const path = place.base.path() / name;
  auto const opened = place.base.open(name);
  if (opened.kind == file_kind_below::outside)  // a link into another folder
    result = find_by_path(path);
  else
    read(opened, result);
  if (result.found.kind == looked_up_file::file_kind::missing) return false;
  if (result.file.empty()) result.file = path;
  if (result.found.kind == looked_up_file::file_kind::regular) return true;
  result.file.clear();
  struct ::stat status = {};
  if (::stat(path.c_str(), &status) != 0) return true;
  result.found.device = status.st_dev;
  result.found.inode = status.st_ino;
  return true;
}

void header_files::read(file_below const& opened, entry& result)
{
  if (opened.kind == file_kind_below::folder) result.found.kind = looked_up_file::file_kind::folder;
  if (auto const* const reason = refusal_for(opened.kind); *reason != '\0') result.refusal = reason;
  if (opened.kind != file_kind_below::regular) return;
  struct ::stat status = {};
  if (opened.size > k_largest_source) {
    result.refusal = "is larger than 16 MiB";
    return;
  }
  result.text.assign(opened.size, '\0');
  auto const bytes = std::as_writable_bytes(std::span(result.text));
  if (!opened.file || ::fstat(opened.file->get(), &status) != 0 ||
      !read_at(*opened.file, 0, bytes, {}))
    result.refusal = "cannot be read";
  else if (result.text.find('\0') != std::string::npos)
    result.refusal = "has a NUL byte";
  else
    result.found = {.kind = looked_up_file::file_kind::regular,
                    .device = status.st_dev,
                    .inode = status.st_ino};
  if (result.found.kind != looked_up_file::file_kind::regular) result.text.clear();
  result.text.erase(0, result.text.size() - without_mark(result.text).size());
}

bool header_files::includes_standard_only(std::string_view text)
{
  constexpr std::string_view k_word = "include";
  constexpr std::string_view k_blank = " \t";
  for (auto place = text.find(k_word); place != std::string_view::npos;
       place = text.find(k_word, place)) {
    auto const before = text.substr(0, text.substr(0, place).find_last_not_of(k_blank) + 1);
    auto rest = text.substr(place += k_word.size());
    if (!before.ends_with('#') && !before.ends_with("__has_")) continue;  // a comment
    rest.remove_prefix(std::min(rest.find_first_not_of(k_blank), rest.size()));
    auto const end = rest.find_first_of(">\"\n", 1);
    if (end == std::string_view::npos || rest[end] == '\n') return false;
    auto const path = detail::format("{}/{}", k_standard, rest.substr(1, end - 1));
    if (look_up(path).file.empty()) return false;
  }
  return true;
}

bool header_files::has_read_others() const
{
  return std::ranges::any_of(record_, [&](std::string const& path) {
    auto const known = entries_.find(path);
    return known != entries_.end() &&
           known->second.found.kind == looked_up_file::file_kind::regular &&
           !(is_below(path, k_standard) && !known->second.file.empty());
  });
}

void header_files::add_to_record(std::set<std::string> const& paths)
{
  record_.insert(paths.begin(), paths.end());
}

std::string header_files::state_of(std::set<std::string> const& paths, bool is_shipped)
{
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> known;
  std::string text;
  for (auto const& path : paths) {
    if (is_shipped && is_below(path, k_cuda)) continue;
    auto const& [found, content, refusal, file] = look_up(path);
    auto const is_file = found.kind == looked_up_file::file_kind::regular &&
                         !(is_shipped && is_below(path, k_standard) && file.empty());
    std::string state = refusal;
    if (found.kind == looked_up_file::file_kind::folder) state = "folder";
    if (is_file) {
      auto const [first, is_new] = known.try_emplace({found.device, found.inode}, path);
      state = is_new || is_shipped ? digest_of_text(content) : "as " + first->second;
    }
    text += detail::format("{}\n{}\n", path, state);
  }
  return text;
}

bool header_files::has_own_of(std::set<std::string> const& paths)
{
  for (auto const& path : paths) {
    auto const* const place = root_of(path);
    if (place == nullptr || path.size() <= place->name.size()) continue;
    auto const name = path.substr(place->name.size());
    for (auto const& each : roots_) {
      auto const is_own = each.name == k_memory || (each.name[2] >= '0' && each.name[2] <= '9');
      if (is_own && look_up(each.name + name).found.kind != looked_up_file::file_kind::missing)
        return true;
    }
  }
  return false;
}

std::vector<fs::path> header_files::folders() const
{
  std::vector<fs::path> paths;
  for (auto const& place : roots_)
    if (place.name != k_source_folder && place.name != k_contract && place.name != k_standard)
      for (auto const& each : place.folders) paths.push_back(each.base.path());
  return paths;
}

std::vector<fs::path> header_files::files() const
{
  std::set<fs::path> files;
  std::error_code failure;
  for (auto const& path : record_)
    if (auto const known = entries_.find(path); known != entries_.end())
      if (auto const& file = known->second.file; !file.empty()) {
        auto const real = real_path(file, failure);
        files.insert(failure ? file : real);
      }
  return {files.begin(), files.end()};
}

std::vector<fs::path> header_files::missing_files()
{
  std::vector<fs::path> files;
  for (auto const& path : record_) {
    auto const& known = look_up(path);
    if (known.found.kind != looked_up_file::file_kind::missing) continue;
    if (root_of(path) == nullptr && known.refusal.empty()) files.emplace_back(path);
    for (auto const& place : roots_)
      if (is_below(path, place.name) && path.size() > place.name.size())
        for (auto const& each : place.folders)
          files.push_back(each.base.path() / path.substr(place.name.size() + 1));
  }
  return files;
}

std::map<std::string, fs::path> header_files::files_by_name() const
{
  std::map<std::string, fs::path> files;
  for (auto const& [path, known] : entries_)
    if (!known.file.empty())
      files.emplace(
          is_below(path, k_source_folder) ? path.substr(std::strlen(k_source_folder) + 1) : path,
          known.file);
  return files;
}

std::string header_files::refusal_of(std::string const& spelled) const
{
  for (auto const& [path, known] : entries_)
    if (!known.refusal.empty() && (path == spelled || path.ends_with('/' + spelled)))
      return known.refusal;
  return {};
}

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

/// The roots that the library in `file` may belong to: ROOT/lib64, ROOT/targets/ARCH-linux/lib.
std::vector<fs::path> roots_of(fs::path const& file)
{
  std::error_code failure;
  auto const real = real_path(file, failure);
  if (failure) return {};
  return {real.parent_path().parent_path(), file.parent_path().parent_path()};
}

/// Whether this process may write to `folder`, or may make it.
bool is_writable(fs::path folder)
{
  std::error_code failure;
  while (!folder.empty() && !fs::exists(folder, failure) && folder != folder.parent_path())
    folder = folder.parent_path();
  return !folder.empty() && ::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0;
}

/// The cache's folder. Where none is named and the default one cannot be made, without HOME or as
/// another user in a container: a folder of this user's own among the temporary files.
fs::path folder_of(link_cache const* cache)
{
  auto const folder = cache == nullptr ? fs::path() : cache->settings().folder;
  auto const by_default = default_cache_settings({}).folder;
  if (!folder.empty() && folder != by_default) return folder;
  if (!environment("FATLINK_CACHE_DIR").empty() || is_writable(by_default)) return by_default;
  return scratch_folder() / detail::format("fatlink-{}", ::geteuid());
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
