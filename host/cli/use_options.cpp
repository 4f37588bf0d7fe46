// SPDX-License-Identifier: Apache-2.0
#include "use_options.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace fatlink::cli {
namespace {

struct option_name {
  std::string_view api;
  std::string_view option;
};

/// Each API name occurs in a hint of the library (tests/source/test_hints.py).
constexpr std::array k_option_names{
    option_name{"linker_settings::allow_unconfined", "--allow-unconfined"},
    option_name{"linker_settings::time_limit", "--link-timeout SECONDS"},
    option_name{"isolation::in_process", "--in-process"},
    option_name{"link_mode::ptx", "--mode ptx"},
    option_name{"link_mode::lto", "--mode lto"},
    option_name{"link_mode::sass", "--mode sass"},
    option_name{"image_kind::cubin", "--emit cubin"},
    option_name{"image_kind::ltoir", "--emit ltoir"},
    option_name{"image_kind::relocatable", "--emit relocatable"},
    option_name{"link_options::target", "--target"},
    option_name{"set link_options::allow_calls", "pass --allow-calls"},
    option_name{"link_options::allow_calls", "--allow-calls"},
    option_name{"link_options::whole_archive", "--whole-archive"},
    option_name{"link_options::kernels", "--kernel"},
    option_name{"link_options::variables", "--keep-variable"},
    option_name{"link_options::drop_unused_variables", "--drop-unused-variables"},
    option_name{"link_options::max_registers", "--max-registers"},
    option_name{"link_options::optimization", "--optimize"},
    option_name{"link_options::fast_compile", "--fast-compile"},
    option_name{"link_options::line_info", "--line-info"},
    option_name{"link_options::debug", "--debug"},
    option_name{"link_options::ftz", "--ftz"},
    option_name{"link_options::prec_div", "--prec-div"},
    option_name{"link_options::prec_sqrt", "--prec-sqrt"},
    option_name{"link_options::fma", "--fma"},
    option_name{"link_options::stack_protector", "--stack-protector"},
    option_name{"link_options::latest_nvvm", "--latest-nvvm"},
    option_name{"link_options::threads", "--threads"},
    option_name{"link_options::driver_cache", "--no-driver-cache"},
    option_name{"link_options::ptxas", "--ptxas"},
    option_name{"link_options::nvvm", "--nvvm"},
    option_name{" (compile_options::include_folders)", ""},
    option_name{"link_options::require_inlined", "--require-inlined"},
    option_name{"compiler_settings::time_limit", "--compile-timeout"},
    option_name{"compiler_settings::allow_unconfined", "--allow-unconfined"},
    option_name{"compiler_settings::memory_limit_mib", "--memory-limit of fatlink compile"},
    option_name{"compiler and compile_options::contract", "fatlink compile --contract NAME"},
    option_name{
        "compile it first with fatlink::compiler, or",
        "rename it to FILE.cu (LLVM IR: FILE.ll, FILE.bc), compile it with fatlink compile, or"},
    option_name{"cpu_options::instruction_budget", "--instruction-budget"},
    option_name{" (FATLINK_CACHE_DIR, cache_settings::folder)", " (FATLINK_CACHE_DIR)"},
    option_name{"give its value, as in ", "give its value: --set "},
    option_name{"pass the address of its bytes",
                "pass its bytes with --state FILE, or state its fields in the transform's .json"},
    option_name{"(compile_options::contract)", "(--contract NAME)"},
    option_name{"pass it as the elements of a run", "pass it with --input"},
    option_name{"fatbin::entries shows which", "fatlink inspect shows which"},
    option_name{"nvjitlink::path is the one", "fatlink doctor shows the one"},
    option_name{"link for a GPU, or compile it", "run on a GPU (--device gpu), or compile it"},
    option_name{"preflight reports those", "fatlink check reports those"},
    option_name{"nvidia-smi shows the driver", "fatlink doctor shows the driver"},
    option_name{"ptx_interface::kernels lists", "fatlink inspect lists"},
    option_name{"ptx_interface::variables lists", "fatlink inspect lists"},
};

struct remedy {
  std::string_view code;
  std::string_view hint;
};

constexpr std::array k_remedies{
    remedy{"CUDA_ERROR_OUT_OF_MEMORY", "use fewer --elements, or a GPU with more free memory"},
    remedy{"out-of-memory",
           "use fewer --elements, smaller sizes (--set) or inputs, or raise the limit of memory "
           "(ulimit -v)"},
    remedy{"endless-kernel", "fix the loop, or raise --instruction-budget (0: no limit)"},
};

void replace_all(std::string& text, std::string_view name, std::string_view option)
{
  for (std::size_t position = 0; (position = text.find(name, position)) != std::string::npos;
       position += option.size())
    text.replace(position, name.size(), option);
}

}  // namespace

std::string use_options(std::string text)
{
  for (auto const& [api, option] : k_option_names) {
    replace_all(text, "fatlink::" + std::string(api), option);
    replace_all(text, api, option);
  }
  return text;
}

std::string use_options(error_details const& details)
{
  if (details.code == error_code::refused_instruction)
    return use_options(details.hint) + ": --device gpu";
  auto const* const entry =
      std::find_if(k_remedies.begin(), k_remedies.end(),
                   [&](remedy const& candidate) { return details.code == candidate.code; });
  return entry == k_remedies.end() ? use_options(details.hint) : std::string(entry->hint);
}

}  // namespace fatlink::cli
