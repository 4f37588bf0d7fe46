// SPDX-License-Identifier: Apache-2.0
#include "base/wording.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <string_view>

namespace fatlink::detail {
namespace {

/// One thing that a caller sets, calls or reads, as each interface names it.
struct worded_name {
  char const* cxx;  ///< as texts of the library write it
  char const* c;
  char const* program;
  char const* python;
};

// Every member has a text, if only an empty one; the static_assert below refuses a missing one.
// clang-format off
constexpr std::array k_names{
    worded_name{"link_options::target", "fatlink_link_options.target", "--target", "target"},
    worded_name{"link_options::kernels", "fatlink_link_options.kernels", "--kernel", "kernels"},
    worded_name{"link_options::variables", "fatlink_link_options.variables", "--keep-variable", "variables"},
    worded_name{"link_options::drop_unused_variables", "fatlink_link_options.drop_unused_variables", "--drop-unused-variables", "drop_unused_variables"},
    worded_name{"link_options::max_registers", "fatlink_link_options.max_registers", "--max-registers", "max_registers"},
    worded_name{"link_options::line_info", "fatlink_link_options.line_info", "--line-info", "line_info"},
    worded_name{"link_options::debug", "fatlink_link_options.debug", "--debug", "debug"},
    worded_name{"link_options::ftz", "fatlink_link_options.ftz", "--ftz", "ftz"},
    worded_name{"link_options::prec_div", "fatlink_link_options.prec_div", "--prec-div", "prec_div"},
    worded_name{"link_options::prec_sqrt", "fatlink_link_options.prec_sqrt", "--prec-sqrt", "prec_sqrt"},
    worded_name{"link_options::fma", "fatlink_link_options.fma", "--fma", "fma"},
    worded_name{"link_options::latest_nvvm", "fatlink_link_options.latest_nvvm", "--latest-nvvm", "latest_nvvm"},
    worded_name{"link_options::threads", "fatlink_link_options.threads", "--threads", "threads"},
    worded_name{"link_options::ptxas", "fatlink_link_options.ptxas", "--ptxas", "ptxas"},
    worded_name{"link_options::allow_calls", "fatlink_link_options.allow_calls", "--allow-calls", "allow_calls"},
    worded_name{"link_options::whole_archive", "fatlink_link_options.whole_archive", "--whole-archive", "whole_archive"},
    worded_name{"link_options::require_inlined", "fatlink_link_options.require_inlined", "--require-inlined", "require_inlined"},
    worded_name{"link_options::mode", "fatlink_link_options.mode", "--mode", "mode"},
    worded_name{"link_options::fast_compile", "link_options::fast_compile of C++", "--fast-compile", "link_options::fast_compile of C++"},
    worded_name{"link_options::stack_protector", "link_options::stack_protector of C++", "--stack-protector", "link_options::stack_protector of C++"},
    worded_name{"link_options::driver_cache", "link_options::driver_cache of C++", "--no-driver-cache", "link_options::driver_cache of C++"},
    worded_name{"link_options::nvvm", "link_options::nvvm of C++", "--nvvm", "link_options::nvvm of C++"},
    worded_name{"link_options::optimization", "fatlink_link_options.no_optimization", "--optimize", "no_optimization"},
    worded_name{"link_options::optimization 0", "fatlink_link_options.no_optimization", "--optimize 0", "no_optimization=True"},
    worded_name{"set link_options::allow_calls", "set fatlink_link_options.allow_calls", "pass --allow-calls", "set allow_calls"},
    worded_name{"link_mode::lto", "FATLINK_MODE_LTO", "--mode lto", "mode=\"lto\""},
    worded_name{"link_mode::ptx", "FATLINK_MODE_PTX", "--mode ptx", "mode=\"ptx\""},
    worded_name{"link_mode::sass", "FATLINK_MODE_SASS", "--mode sass", "mode=\"sass\""},
    worded_name{"image_kind::cubin", "FATLINK_IMAGE_CUBIN", "--emit cubin", "emit=\"cubin\""},
    worded_name{"image_kind::ltoir", "FATLINK_IMAGE_LTOIR", "--emit ltoir", "emit=\"ltoir\""},
    worded_name{"image_kind::relocatable", "FATLINK_IMAGE_RELOCATABLE", "--emit relocatable", "emit=\"relocatable\""},
    worded_name{"isolation::helper", "fatlink_linker_settings.in_process 0", "no --in-process", "fatlink.configure(in_process=False)"},
    worded_name{"isolation::in_process", "fatlink_linker_settings.in_process 1", "--in-process", "fatlink.configure(in_process=True)"},
    worded_name{"linker_settings::allow_unconfined", "fatlink_linker_settings.allow_unconfined", "--allow-unconfined", "fatlink.configure(allow_unconfined=True)"},
    worded_name{"linker_settings::time_limit", "fatlink_linker_settings.time_limit_ms", "--link-timeout SECONDS", "fatlink.configure(link_time_limit_ms=…)"},
    worded_name{"linker_settings::nvjitlink", "fatlink_linker_settings.nvjitlink", "linker_settings::nvjitlink", "fatlink.configure(nvjitlink=…)"},
    worded_name{"set linker_settings::cache", "set fatlink_linker_settings.cache", "leave out --no-cache", "call fatlink.configure(cache=True)"},
    worded_name{"set compiler_settings::cache", "set fatlink_compiler_settings.cache", "leave out --no-cache", "call fatlink.configure(cache=True)"},
    worded_name{"compiler_settings::allow_unconfined", "fatlink_compiler_settings.allow_unconfined", "--allow-unconfined", "fatlink.configure(allow_unconfined=True)"},
    worded_name{"compiler_settings::time_limit", "fatlink_compiler_settings.time_limit_ms", "--compile-timeout", "fatlink.configure(compile_time_limit_ms=…)"},
    worded_name{"compiler_settings::memory_limit_mib", "fatlink_compiler_settings.memory_limit_mib", "--memory-limit of fatlink compile", "fatlink.configure(compile_memory_limit_mib=…)"},
    worded_name{"compiler_settings::nvrtc", "fatlink_compiler_settings.nvrtc", "compiler_settings::nvrtc", "fatlink.configure(nvrtc=…)"},
    worded_name{"compiler_settings::libnvvm", "fatlink_compiler_settings.libnvvm", "compiler_settings::libnvvm", "fatlink.configure(libnvvm=…)"},
    worded_name{"compile_options::contract", "fatlink_compile_options.contract", "--contract NAME", "contract"},
    worded_name{"compile_options::include_folders", "fatlink_compile_options.include_folders", "-I", "include_folders"},
    worded_name{"fatlink::compiler and compile_options::contract", "fatlink_compile and fatlink_compile_options.contract", "fatlink compile --contract NAME", "fatlink.compile(…, contract=…)"},
    worded_name{"compile it first with fatlink::compiler", "compile it first with fatlink_compile", "rename it to FILE.cu (LLVM IR: FILE.ll, FILE.bc), compile it with fatlink compile", "compile it first with fatlink.compile"},
    worded_name{", cache_settings::folder", ", fatlink_cache_settings.folder", "", ", fatlink.configure(cache_folder=…)"},
    worded_name{", or cache_settings::folder", ", or fatlink_cache_settings.folder", "", ", or fatlink.configure(cache_folder=…)"},
    worded_name{"cpu_options::instruction_budget", "fatlink_device_options.instruction_budget", "--instruction-budget", "fatlink.open_device(\"cpu\", instruction_budget=…)"},
    worded_name{"live_settings::tiered", "fatlink_live_settings.tiered", "live_settings::tiered", "tiered"},
    worded_name{"device::link_options(mode)", "fatlink_device_link_options", "--target", "target=fatlink.open_device()"},
    worded_name{"link for a GPU", "link for a GPU", "run on a GPU (--device gpu)", "link for a GPU"},
    worded_name{"link_and_load", "fatlink_module_load", "fatlink::link_and_load", "fatlink.Module"},
    worded_name{"fatlink::watch", "fatlink::watch", "fatlink run --watch", "fatlink::watch of C++"},
    worded_name{", as in", ", as in", ": --set", ", as in"},
    worded_name{"pass the address of its bytes", "pass the address of its bytes", "pass its bytes with --state FILE, or state its fields in the transform's .json", "pass its bytes"},
    worded_name{"pass it as the elements of a run", "pass it as the elements of a run", "pass it with --input", "pass it as the elements of a run"},
    worded_name{"ptx_interface::kernels", "fatlink inspect", "fatlink inspect", "`fatlink inspect`"},
    worded_name{"ptx_interface::variables", "fatlink inspect", "fatlink inspect", "`fatlink inspect`"},
    worded_name{"fatbin::entries", "fatlink inspect", "fatlink inspect", "`fatlink inspect`"},
    worded_name{"pack_settings::package", "package", "--package", "package"},
    worded_name{"linker_settings::cache", "fatlink_linker_settings.cache", "linker_settings::cache", "fatlink.configure(cache=True)"},
    worded_name{"link_cache::statistics", "`fatlink cache stats`", "fatlink cache stats", "`fatlink cache stats`"},
    worded_name{"name another output", "name another file", "name another file with --output", "name another file"},
    worded_name{"preflight", "fatlink_check", "fatlink check", "fatlink.check"},
    worded_name{"nvidia-smi", "nvidia-smi", "fatlink doctor", "nvidia-smi"},
    worded_name{"nvjitlink::path is", "`fatlink doctor` shows", "fatlink doctor shows", "`fatlink doctor` shows"},
};
// clang-format on

constexpr bool is_complete(worded_name const& entry)
{
  return entry.cxx != nullptr && entry.c != nullptr && entry.program != nullptr &&
         entry.python != nullptr;
}
static_assert(std::ranges::all_of(k_names, is_complete));

char const* text_of(worded_name const& entry, wording words)
{
  switch (words) {
    case wording::c:
      return entry.c;
    case wording::program:
      return entry.program;
    case wording::python:
      return entry.python;
    case wording::cxx:
    case wording::none:
      break;
  }
  return entry.cxx;
}

constexpr int k_of_process = -1;

constinit std::atomic<wording> process_wording{wording::cxx};
constinit thread_local int thread_wording = k_of_process;

}  // namespace

void set_process_wording(wording words) noexcept
{
  process_wording = words;
}

wording current_wording() noexcept
{
  return thread_wording == k_of_process ? process_wording.load()
                                        : static_cast<wording>(thread_wording);
}

wording_scope::wording_scope(wording words) noexcept : before_(thread_wording)
{
  thread_wording = static_cast<int>(words);
}

wording_scope::~wording_scope()
{
  thread_wording = before_;
}

std::string in_words(std::string text)
{
  auto const words = current_wording();
  if (words == wording::none) return text;
  for (std::size_t start = 0; (start = text.find('<', start)) != text.npos;) {
    auto const end = std::min(text.find('>', start), text.size());
    auto const written = std::string_view(text).substr(start + 1, end - start - 1);
    auto const entry = std::ranges::find(k_names, written, &worded_name::cxx);
    auto const is_known = entry != k_names.end() && end < text.size();
    auto const shown = std::string(is_known ? text_of(*entry, words) : "<");
    text.replace(start, is_known ? end - start + 1 : 1, shown);
    start += shown.size();
  }
  return text;
}

}  // namespace fatlink::detail
