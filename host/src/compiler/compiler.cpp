// SPDX-License-Identifier: Apache-2.0
#include "fatlink/compiler.hpp"

#include "compiler/compiler_options.hpp"
#include "compiler/headers/cuda_headers.hpp"
#include "compiler/session/compile_session.hpp"

namespace fatlink {

struct compiler::state : detail::compiler_state {
  using compiler_state::compiler_state;
};

compiler::compiler(compiler_settings settings)
{
  detail::check_compiler_settings(settings);
  state_ = std::make_shared<state>(std::move(settings));
}

compiled_source compiler::compile(source const& code, compile_options const& options,
                                  header_lookups* lookups)
{
  detail::check_compile_options(options);
  detail::compile_session session(*state_, code, options);
  if (lookups == nullptr) return session.run();
  try {
    auto result = session.run();
    *lookups = session.lookups();
    return result;
  } catch (...) {
    *lookups = session.lookups();
    throw;
  }
}

compiled_source compiler::compile_into(std::filesystem::path const& layer, source const& code,
                                       compile_options const& options)
{
  detail::check_compile_options(options);
  return detail::compile_session(*state_, code, options).run_into(layer);
}

std::vector<std::filesystem::path> compiler::header_folders() const
{
  return detail::cuda_headers(state_->locate(source_language::cuda), state_->settings.cache.get())
      .folders();
}

}  // namespace fatlink
