// SPDX-License-Identifier: Apache-2.0
#include "compiler/compiler_state.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>

#include "base/wording.hpp"
#include "cache/offline.hpp"
#include "toolkit/nvrtc.hpp"
#include "toolkit/nvvm.hpp"
#include "toolkit/toolkit_library.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

library_file locate_nvrtc_file(std::filesystem::path const& named, identity_reader const& identify)
{
  if (named.empty()) return locate_nvrtc(identify).value_or(library_file{});
  return {named.string(), in_words("<compiler_settings::nvrtc>"),
          nvrtc_identity(named.string(), identify).value_or("")};
}

library_file locate_nvvm_file(std::filesystem::path const& named, identity_reader const& identify)
{
  if (named.empty()) return detail::locate(nvvm_library(), identify).value_or(library_file{});
  return {named.string(), in_words("<compiler_settings::libnvvm>"),
          identify(named.string(), nvvm_library()).value_or("")};
}

}  // namespace

compiler_state::compiler_state(compiler_settings user_settings)
    : settings(std::move(user_settings)), is_offline(cache::is_offline(settings.offline))
{
}

library_file compiler_state::locate(source_language language)
{
  auto const identify = remembering_reader(settings.cache);
  std::lock_guard const lock(mutex_);
  if (language == source_language::cuda) {
    if (!nvrtc_) nvrtc_ = locate_nvrtc_file(settings.nvrtc, identify);
    return *nvrtc_;
  }
  if (!libnvvm_) libnvvm_ = locate_nvvm_file(settings.libnvvm, identify);
  return *libnvvm_;
}

void compiler_state::forget(source_language language)
{
  std::lock_guard const lock(mutex_);
  (language == source_language::cuda ? nvrtc_ : libnvvm_).reset();
}

namespace {

/// Increased whenever fatlink itself would identify the same file otherwise.
constexpr char const* k_identity_format = "1";
constexpr std::time_t k_settled_s = 2;

std::string time_text(::timespec const& time)
{
  return detail::format("{}.{:09}", time.tv_sec, time.tv_nsec);
}

bool is_settled(struct ::stat const& status)
{
  auto const now = std::time(nullptr);
  return status.st_ctim.tv_sec + k_settled_s < now && status.st_mtim.tv_sec + k_settled_s < now;
}

cache_key identity_key(struct ::stat const& status, toolkit_library const& library)
{
  cache_key key;
  key.add("identity", k_identity_format);
  key.add("library", library.name);
  key.add("file", detail::format("{} {} {} {} {}", status.st_dev, status.st_ino, status.st_size,
                                 time_text(status.st_mtim), time_text(status.st_ctim)));
  return key;
}

std::optional<std::string> find_identity(link_cache& cache, std::string const& path,
                                         toolkit_library const& library)
{
  struct ::stat status = {};
  if (::access(path.c_str(), R_OK) != 0 || ::stat(path.c_str(), &status) != 0) return std::nullopt;
  if (!S_ISREG(status.st_mode) || !is_settled(status)) return library_identity(path, library);
  auto const result = cache.find_or_make(identity_key(status, library), [&] {
    link_cache::product entry;
    auto const identity = library_identity(path, library).value_or("");
    auto const bytes = std::as_bytes(std::span(identity));
    entry.link.bytes.assign(bytes.begin(), bytes.end());
    entry.keep = !identity.empty();
    return entry;
  });
  auto const& bytes = result.link->bytes;
  if (bytes.empty()) return std::nullopt;
  return std::string(reinterpret_cast<char const*>(bytes.data()), bytes.size());
}

}  // namespace

identity_reader remembering_reader(std::shared_ptr<link_cache> const& cache)
{
  if (!cache) return library_identity;
  return [cache](std::string const& path, toolkit_library const& library) {
    return find_identity(*cache, path, library);
  };
}

std::string version_of(std::string const& identity)
{
  return identity.substr(0, identity.find(' '));
}

bool is_known(std::string const& version)
{
  return !version.empty() && version.find('?') == std::string::npos;
}

std::string title_of(char const* compiler, std::string const& version)
{
  return is_known(version) ? detail::format("{} {}", compiler, version) : compiler;
}

bool brings_headers(std::string const& identity)
{
  constexpr int k_first_minor = 3;
  auto const version = version_of(identity);
  auto const dot = version.find('.');
  return dot != std::string::npos && std::atoi(version.c_str() + dot + 1) >= k_first_minor;
}

}  // namespace fatlink::detail
