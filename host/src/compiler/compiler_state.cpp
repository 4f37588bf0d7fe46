// SPDX-License-Identifier: Apache-2.0
#include "compiler/compiler_state.hpp"

#include "compiler/remembered_identity.hpp"
#include "vendor_compiler/nvrtc.hpp"
#include "vendor_compiler/nvvm.hpp"
#include "wording.hpp"

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

compiler_state::compiler_state(compiler_settings user_settings) : settings(std::move(user_settings))
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

}  // namespace fatlink::detail
