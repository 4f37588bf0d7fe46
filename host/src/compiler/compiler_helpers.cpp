// SPDX-License-Identifier: Apache-2.0
#include "compiler/compiler_helpers.hpp"

#include <utility>

#include "compiler/compile_messages.hpp"
#include "link_helper/find_link_helper.hpp"
#include "toolkit/nvrtc.hpp"
#include "toolkit/nvvm.hpp"
#include "toolkit/toolkit_library.hpp"
#include "util/process/stopwatch.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {

compiler_helpers::compiler_helpers(compiler_state& state, std::string name)
    : state_(state), name_(std::move(name)), limit_(state.settings.time_limit)
{
}

compile_reply compiler_helpers::compile(helper_tool tool, program const& subject,
                                        file_source const& files)
{
  auto& helper = lease(tool);
  helper.end_after_this();
  return compile_in(helper, subject, files);
}

compile_reply compiler_helpers::compile_trusted(helper_tool tool, program const& subject,
                                                file_source const& files)
{
  return compile_in(lease(tool), subject, files);
}

compile_reply compiler_helpers::compile_in(helper_lease& helper, program const& subject,
                                           file_source const& files)
try {
  auto reply = helper.compile(subject, limit_, files);
  if (reply.products.empty()) refuse_death({.reason = "EPROTO"}, name_, state_.settings);
  return reply;
} catch (helper_death const& death) {
  refuse_death(death, name_, state_.settings);
}

link_cache::result compiler_helpers::find_or_make(cache_key const& key,
                                                  std::function<link_cache::product()> const& make)
{
  auto const start = time_limit::clock::now();
  bool is_waiting = true;
  auto const end_wait = [&] {
    if (is_waiting) limit_.extend(time_limit::clock::now() - start);
    is_waiting = false;
  };
  auto const make_in_full_time = [&] {
    end_wait();
    return make();
  };
  auto const& settings = state_.settings;
  auto result = settings.cache->find_or_make(key, make_in_full_time, nullptr, settings.time_limit);
  end_wait();
  return result;
}

void compiler_helpers::check_time() const
{
  if (time_limit::clock::now() >= limit_.end()) refuse_slow_headers(name_, state_.settings);
}

void compiler_helpers::unpack_headers(std::string const& folder)
{
  auto settings = settings_for(helper_tool::nvrtc);
  settings.headers_folder = folder;
  (void)link_helper::start(settings, limit_);
}

helper_settings compiler_helpers::settings_for(helper_tool tool) const
{
  auto const& settings = state_.settings;
  auto const is_nvrtc = tool == helper_tool::nvrtc;
  auto const file = state_.locate(is_nvrtc ? source_language::cuda : source_language::nvvm_ir);
  auto const& named = is_nvrtc ? settings.nvrtc : settings.libnvvm;
  if (!named.empty() && file.identity.empty())
    refuse_library(is_nvrtc ? nvrtc_library() : nvvm_library(),
                   {file.path, file.reason, "it is not readable, or not of CUDA 13"});
  // Without search: the key and the fatbin state this file.
  return {.tool = tool,
          .file = file.path,
          .may_search = file.path.empty(),
          .allow_unconfined = settings.allow_unconfined,
          .memory_mib = settings.memory_limit_mib};
}

helper_lease& compiler_helpers::lease(helper_tool tool)
{
  if (helper_ && tool_ == tool) return *helper_;
  helper_.reset();  // before another is waited for
  stopwatch watch;
  helper_ = open(tool);
  open_ms_ += watch.lap();
  tool_ = tool;
  return *helper_;
}

std::unique_ptr<helper_lease> compiler_helpers::open(helper_tool tool)
{
  auto const settings = settings_for(tool);
  auto const language =
      tool == helper_tool::nvrtc ? source_language::cuda : source_language::nvvm_ir;
  auto const identity = state_.locate(language).identity;
  auto const start = time_limit::clock::now();
  auto place = std::make_unique<helper_place>(tool, time_limit(state_.settings.time_limit));
  limit_.extend(time_limit::clock::now() - start);
  auto helper = std::make_unique<helper_lease>(settings, identity, helper_reuse::shared, limit_,
                                               std::move(place));
  auto const& opened = (*helper)->hello();
  if (identity.empty() || opened.identity == identity) return helper;
  state_.forget(language);
  fail_without_helper(tool, detail::format("{} was replaced meanwhile", settings.file),
                      settings.file, "ESTALE", "try again");
}

}  // namespace fatlink::detail
