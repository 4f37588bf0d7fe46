// SPDX-License-Identifier: Apache-2.0
#include "vendor_compiler/nvvm.hpp"

#include <filesystem>

#include "util/files/path_lookup.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

namespace fs = std::filesystem;

/// Looks up all functions; returns the first that is missing, or empty.
std::string bind_nvvm(shared_library const& file, nvvm_functions& api)
{
  for (auto const& missing :
       {bind(file, "nvvmCreateProgram", api.create), bind(file, "nvvmDestroyProgram", api.destroy),
        bind(file, "nvvmAddModuleToProgram", api.add),
        bind(file, "nvvmLazyAddModuleToProgram", api.add_lazily),
        bind(file, "nvvmVerifyProgram", api.verify), bind(file, "nvvmCompileProgram", api.compile),
        bind(file, "nvvmGetCompiledResultSize", api.result_size),
        bind(file, "nvvmGetCompiledResult", api.result),
        bind(file, "nvvmGetProgramLogSize", api.log_size), bind(file, "nvvmGetProgramLog", api.log),
        bind(file, "nvvmVersion", api.version), bind(file, "nvvmIRVersion", api.ir_version),
        bind(file, "nvvmGetErrorString", api.error_name)})
    if (!missing.empty()) return missing;
  return {};
}

}  // namespace

vendor_library const& nvvm_library()
{
  // Used while static objects are destroyed.
  static auto const& library = *new vendor_library{
      .title = "libNVVM",
      .name = "libnvvm.so.4",
      .variable = "FATLINK_LIBNVVM",
      .major = 2,
      .folders = {"nvvm/lib64", "lib64", "lib", "targets/x86_64-linux/lib"},
      .wheel_folder = "lib",
      .functions = {"nvvmCreateProgram", "nvvmCompileProgram", "nvvmLazyAddModuleToProgram"},
      .remedy =
          "install CUDA 13's libNVVM (NVIDIA's apt repository: libnvvm-13-0; in an active Python "
          "environment: pip install nvidia-nvvm), or set FATLINK_LIBNVVM to its libnvvm.so.4",
      .unavailable = error_code::nvvm_unavailable,
      .origin = stage::compiler};
  return library;
}

std::string libdevice_of(std::string const& file)
{
  std::error_code failure;
  auto folder = real_path(file, failure).parent_path();
  if (failure) return {};
  // TOOLKIT/nvvm/lib64/libnvvm.so.4 or TOOLKIT/lib/libnvvm.so.4
  for (int levels = 0; levels < 4; ++levels, folder = folder.parent_path())
    for (auto const* place : {"nvvm/libdevice/libdevice.10.bc", "libdevice/libdevice.10.bc"})
      if (fs::is_regular_file(folder / place, failure)) return (folder / place).string();
  for (auto const& root : toolkit_roots())  // distributions put the two in different folders
    if (auto const bitcode = root / "nvvm/libdevice/libdevice.10.bc";
        fs::is_regular_file(bitcode, failure))
      return bitcode.string();
  return {};
}

std::string nvvm::load(library_candidate const& candidate)
{
  auto problem = open_library(candidate, nvvm_library(), "nvvmCompileProgram", opened_);
  if (!problem.empty()) return problem;
  if (auto const missing = bind_nvvm(opened_.file, functions_); !missing.empty())
    return detail::format("exports no {}", missing);
  if (functions_.version(&major_, &minor_) != 0 || major_ != 2)
    return detail::format("has interface {}.{}; version 2 is needed", major_, minor_);
  return {};
}

}  // namespace fatlink::detail
