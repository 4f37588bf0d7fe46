// SPDX-License-Identifier: Apache-2.0
#include "toolkit/nvvm.hpp"

#include <algorithm>
#include <filesystem>

#include "util/files/read_file.hpp"
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

toolkit_library const& nvvm_library()
{
  // Used while static objects are destroyed.
  static auto const& library = *new toolkit_library{
      .title = "libNVVM",
      .name = "libnvvm.so.4",
      .variable = "FATLINK_LIBNVVM",
      .major = 2,
      .folders = {"nvvm/lib64", "lib64", "lib", k_target_folder},
      .wheel_folder = "lib",
      .functions = {"nvvmCreateProgram", "nvvmCompileProgram", "nvvmLazyAddModuleToProgram"},
      .remedy =
          "pip install nvidia-nvvm in an active Python environment, or install libnvvm-13-0 of "
          "NVIDIA's "
          "apt repository, or set FATLINK_LIBNVVM to CUDA 13's libnvvm.so.4",
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
  auto open_error = open_library(candidate, nvvm_library(), "nvvmCompileProgram", opened_);
  if (!open_error.empty()) return open_error;
  if (auto const missing = bind_nvvm(opened_.file, functions_); !missing.empty())
    return detail::format("exports no {}", missing);
  if (functions_.version(&major_, &minor_) != 0 || major_ != 2)
    return detail::format("has interface {}.{}; version 2 is needed", major_, minor_);
  return {};
}

namespace {

class nvvm_session {
 public:
  explicit nvvm_session(nvvm_functions const& api) : api_(api), handle_(nullptr, {&api})
  {
    nvvm_functions::program raw = nullptr;
    code_ = api.create(&raw);
    handle_.reset(raw);
  }

  compile_product compile(program const& subject, std::vector<std::string> const& options)
  {
    std::vector<char const*> texts;
    for (auto const& option : options) texts.push_back(option.c_str());
    auto const count = static_cast<int>(texts.size());
    step([&] {
      return api_.add(handle_.get(), subject.source.data(), subject.source.size(),
                      subject.name.c_str());
    });
    for (auto const& library : subject.headers)
      step([&] {
        auto const add = library.name.ends_with(".ll") ? api_.add : api_.add_lazily;
        return add(handle_.get(), library.text.data(), library.text.size(), library.name.c_str());
      });
    step([&] { return api_.verify(handle_.get(), count, texts.data()); });
    step([&] { return api_.compile(handle_.get(), count, texts.data()); });
    compile_product product;
    if (handle_) product.log = log();
    if (code_ != 0) product.code = api_.error_name(code_);
    auto const is_lto = std::find(options.begin(), options.end(), "-gen-lto") != options.end();
    if (code_ == 0) (is_lto ? product.ltoir : product.ptx) = result(!is_lto);
    return product;
  }

 private:
  /// Calls `function` unless an earlier step has failed.
  template <typename Function>
  void step(Function const& function)
  {
    if (code_ == 0) code_ = function();
  }

  byte_buffer result(bool is_text)
  {
    std::size_t size = 0;
    if (api_.result_size(handle_.get(), &size) != 0) return {};
    byte_buffer bytes(size);
    if (api_.result(handle_.get(), reinterpret_cast<char*>(bytes.data())) != 0) return {};
    while (is_text && !bytes.empty() && bytes.back() == std::byte{0}) bytes.pop_back();
    return bytes;
  }

  std::string log()
  {
    std::size_t size = 0;
    if (api_.log_size(handle_.get(), &size) != 0 || size == 0) return {};
    std::string text(size, '\0');
    if (api_.log(handle_.get(), text.data()) != 0) return {};
    return trim_compile_log(std::move(text));
  }

  nvvm_functions const& api_;
  std::unique_ptr<struct nvvm_program_state, program_destroyer<nvvm_functions>> handle_;
  int code_ = 0;
};

}  // namespace

std::vector<compile_product> compile_with_nvvm(nvvm const& compiler, program const& subject)
{
  std::vector<compile_product> products;
  for (auto const& call : subject.compiles) {
    products.push_back(nvvm_session(compiler.functions()).compile(subject, call.options));
    if (!products.back().code.empty()) break;
  }
  return products;
}

}  // namespace fatlink::detail
