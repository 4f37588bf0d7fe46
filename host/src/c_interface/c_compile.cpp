// SPDX-License-Identifier: Apache-2.0
#include "c_interface/guard.hpp"
#include "c_interface/handles.hpp"
#include "c_interface/structs.hpp"

namespace fatlink::c {
namespace {

compiler_settings settings_of(fatlink_compiler_settings const& stated)
{
  auto settings = read_tool_settings<compiler_settings>(stated);
  if (stated.memory_limit_mib != 0) settings.memory_limit_mib = stated.memory_limit_mib;
  settings.nvrtc = text_or_empty(stated.nvrtc);
  settings.libnvvm = text_or_empty(stated.libnvvm);
  return settings;
}

std::vector<target> targets_of(std::vector<std::string> const& names)
{
  return {names.begin(), names.end()};
}

float_flags float_flags_of(fatlink_compile_options const& stated)
{
  float_flags flags;
  flags.ftz = read_choice(stated.ftz, "options.ftz").value_or(flags.ftz);
  flags.prec_div = read_choice(stated.prec_div, "options.prec_div").value_or(flags.prec_div);
  flags.prec_sqrt = read_choice(stated.prec_sqrt, "options.prec_sqrt").value_or(flags.prec_sqrt);
  flags.fmad = read_choice(stated.fma, "options.fma").value_or(flags.fmad);
  return flags;
}

compile_options options_of(fatlink_compile_options const& stated)
{
  compile_options options;
  options.contract = text_or_empty(stated.contract);
  for (auto& folder :
       texts(stated.include_folders, stated.include_folder_count, "options.include_folders"))
    options.include_folders.emplace_back(std::move(folder));
  options.definitions = texts(stated.definitions, stated.definition_count, "options.definitions");
  if (stated.standard != nullptr) options.standard = stated.standard;
  options.architectures =
      targets_of(texts(stated.architectures, stated.architecture_count, "options.architectures"));
  if (options.architectures.empty()) options.architectures = {"sm_75"};
  options.sass = targets_of(texts(stated.sass, stated.sass_count, "options.sass"));
  options.float_flags = float_flags_of(stated);
  options.line_info = stated.line_info != 0;
  return options;
}

}  // namespace
}  // namespace fatlink::c

using namespace fatlink::c;

fatlink_error* fatlink_compiler_create(fatlink_compiler_settings const* settings,
                                       fatlink_compiler** compiler)
{
  return guarded([&] {
    auto& result = output(compiler, "compiler");
    auto const stated = optional_struct(settings, "settings");
    result = new fatlink_compiler{fatlink::compiler(settings_of(stated))};
  });
}

fatlink_error* fatlink_compile(fatlink_compiler* compiler, char const* source, size_t count,
                               char const* name, fatlink_compile_options const* options,
                               fatlink_input** fatbin, char** warnings)
{
  return guarded([&] {
    auto& result = output(fatbin, "fatbin");
    if (warnings != nullptr) *warnings = nullptr;
    auto& tool = required(compiler, "compiler").compiler;
    auto const text = list(source, count, "source");
    auto const stated = optional_struct(options, "options");
    auto const code = fatlink::source::from_text(
        {text.begin(), text.end()}, required_text(name, "name"), text_or_empty(stated.folder));
    auto const compiled = stated.layer == nullptr
                              ? tool.compile(code, options_of(stated))
                              : tool.compile_into(stated.layer, code, options_of(stated));
    auto input = std::make_unique<fatlink_input>(compiled.code);
    if (warnings != nullptr && !compiled.warnings.empty())
      *warnings = copy_text(lines_of(compiled.warnings));
    result = input.release();
  });
}

void fatlink_compiler_free(fatlink_compiler* compiler)
{
  delete compiler;
}
