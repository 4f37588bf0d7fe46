// SPDX-License-Identifier: Apache-2.0
#include "toolkit/nvrtc.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

#include "toolkit/elf_file.hpp"
#include "util/files/read_file.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_builtins = "libnvrtc-builtins.so.13.";

/// NVRTC opens the builtins beside itself.
toolkit_library const& builtins_library()
{
  // Used while static objects are destroyed.
  static auto const& library = *new toolkit_library{.title = "NVRTC's builtins",
                                                    .name = k_builtins.data(),
                                                    .major = 13,
                                                    .folders = {"lib64"},
                                                    .wheel_folder = "lib",
                                                    .functions = {"nvrtc_builtins__13"},
                                                    .versioned_name = "nvrtc_builtins_"};
  return library;
}

/// Looks up all functions; returns the first that is missing, or empty.
std::string bind_nvrtc(shared_library const& file, nvrtc_functions& api)
{
  (void)bind(file, "nvrtcInstallBundledHeaders", api.install_headers);
  for (auto const& missing :
       {bind(file, "nvrtcCreateProgram", api.create),
        bind(file, "nvrtcDestroyProgram", api.destroy),
        bind(file, "nvrtcCompileProgram", api.compile),
        bind(file, "nvrtcGetProgramLogSize", api.log_size),
        bind(file, "nvrtcGetProgramLog", api.log), bind(file, "nvrtcGetPTXSize", api.ptx_size),
        bind(file, "nvrtcGetPTX", api.ptx), bind(file, "nvrtcGetLTOIRSize", api.ltoir_size),
        bind(file, "nvrtcGetLTOIR", api.ltoir), bind(file, "nvrtcGetCUBINSize", api.cubin_size),
        bind(file, "nvrtcGetCUBIN", api.cubin), bind(file, "nvrtcVersion", api.version),
        bind(file, "nvrtcGetErrorString", api.error_name)})
    if (!missing.empty()) return missing;
  return {};
}

/// N of "libnvrtc-builtins.so.13.N.88" after `prefix`; -1: the name does not begin with that.
int minor_of(std::string_view name, std::string_view prefix)
{
  int minor = -1;
  if (name.starts_with(prefix))
    (void)std::from_chars(name.data() + prefix.size(), name.data() + name.size(), minor);
  return minor;
}

/// The builtins of version 13.`minor` in the folder of the real file `real`, else the newest;
/// empty: there are none.
std::string builtins_beside(fs::path const& real, int minor)
{
  std::pair<int, fs::path> newest{-1, {}};
  fs::path own;
  for (auto const& entry : list_folder(real.parent_path())) {
    auto const entry_minor = minor_of(entry.filename().string(), k_builtins);
    if (entry_minor < 0) continue;
    if (entry_minor == minor) own = std::max(own, entry);
    newest = std::max(newest, std::pair(entry_minor, entry));
  }
  return (own.empty() ? newest.second : own).string();
}

/// Opens the builtins of the NVRTC 13.`minor` in `file`: those that builtins_of states, whatever
/// their file is named. Toolkits name it libnvrtc-builtins.so.13.0.88, and wheels
/// libnvrtc-builtins.so.13.0. For each later request of its SONAME, which NVRTC makes, the loader
/// takes the library that is loaded. Returns why NVRTC must not open them; empty: it may.
std::string open_builtins(std::string const& file, int minor)
{
  std::error_code failure;
  auto const real = real_path(file, failure);
  if (failure) return {};
  auto const builtins = builtins_beside(real, minor);
  if (builtins.empty()) return {};
  if (auto const open_error = explain_truncation(builtins); !open_error.empty())
    return detail::format("{} {}", builtins, open_error);
  std::string ignored;
  (void)shared_library::open(builtins, ignored);
  return {};
}

}  // namespace

toolkit_library const& nvrtc_library()
{
  // Used while static objects are destroyed.
  static auto const& library = *new toolkit_library{
      .title = "NVRTC",
      .name = "libnvrtc.so.13",
      .variable = "FATLINK_NVRTC",
      .major = 13,
      .folders = {"lib64", "lib", k_target_folder},
      .wheel_folder = "lib",
      .functions = {"nvrtcCreateProgram", "nvrtcCompileProgram", "nvrtcGetLTOIR", "nvrtcGetCUBIN"},
      .remedy =
          "pip install nvidia-cuda-nvrtc in an active Python environment, or install "
          "cuda-nvrtc-13-0 of "
          "NVIDIA's apt repository, or set FATLINK_NVRTC to CUDA 13's libnvrtc.so.13",
      .unavailable = error_code::nvrtc_unavailable,
      .origin = stage::compiler};
  return library;
}

std::string builtins_of(std::string const& file)
{
  std::error_code failure;
  auto const real = real_path(file, failure);
  if (failure) return {};
  return builtins_beside(real, minor_of(real.filename().string(), "libnvrtc.so.13."));
}

/// The builtins have the version in the names that they export, NVRTC itself has not.
std::optional<std::string> nvrtc_identity(std::string const& path, identity_reader const& identify)
{
  auto const identity = identify(path, nvrtc_library());
  if (!identity) return std::nullopt;
  auto const file = builtins_of(path);
  auto const builtins = file.empty() ? std::nullopt : identify(file, builtins_library());
  if (!builtins) return detail::format("{} without builtins", *identity);
  auto const version = builtins->substr(0, builtins->find(' '));
  return detail::format("{} {} builtins {}", version, identity->substr(identity->find(' ') + 1),
                        builtins->substr(version.size() + 1));
}

std::optional<library_file> locate_nvrtc(identity_reader const& identify)
{
  auto file = locate(nvrtc_library(), identify);
  if (file) file->identity = nvrtc_identity(file->path, identify).value_or("");
  return file;
}

std::string nvrtc::load(library_candidate const& candidate)
{
  auto open_error = open_library(candidate, nvrtc_library(), "nvrtcCompileProgram", opened_);
  if (!open_error.empty()) return open_error;
  if (auto const missing = bind_nvrtc(opened_.file, functions_); !missing.empty())
    return detail::format("exports no {}", missing);
  if (functions_.version(&major_, &minor_) != 0 || major_ != 13)
    return detail::format("is version {}.{}; CUDA 13 is needed", major_, minor_);
  if (auto builtins_error = open_builtins(opened_.path, minor_); !builtins_error.empty())
    return builtins_error;
  if (!opened_.identity.empty()) opened_.identity = nvrtc_identity(opened_.path).value_or("");
  return {};
}

namespace {

using program_handle =
    std::unique_ptr<struct nvrtc_program_state, program_destroyer<nvrtc_functions>>;

std::vector<char const*> pointers_to(std::vector<std::string> const& texts)
{
  std::vector<char const*> pointers;
  for (auto const& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

using size_function = int (*)(nvrtc_functions::program, std::size_t*);
using read_function = int (*)(nvrtc_functions::program, char*);

byte_buffer read(program_handle const& handle, size_function size_of, read_function read_into)
{
  std::size_t size = 0;
  if (size_of(handle.get(), &size) != 0 || size == 0) return {};
  byte_buffer bytes(size);
  if (read_into(handle.get(), reinterpret_cast<char*>(bytes.data())) != 0) return {};
  return bytes;
}

std::string read_log(program_handle const& handle, nvrtc_functions const& api)
{
  auto const bytes = read(handle, api.log_size, api.log);
  return trim_compile_log({reinterpret_cast<char const*>(bytes.data()), bytes.size()});
}

program_handle create(nvrtc_functions const& api, program const& subject, int& code)
{
  std::vector<char const*> texts;
  std::vector<char const*> names;
  for (auto const& header : subject.headers) {
    texts.push_back(header.text.c_str());
    names.push_back(header.name.c_str());
  }
  nvrtc_functions::program raw = nullptr;
  code = api.create(&raw, subject.source.c_str(), subject.name.c_str(),
                    static_cast<int>(names.size()), texts.data(), names.data());
  return {raw, {&api}};
}

compile_product compile(nvrtc_functions const& api, program const& subject,
                        compile_call const& call)
{
  compile_product product;
  int code = 0;
  auto const handle = create(api, subject, code);
  auto const texts = pointers_to(call.options);
  if (code == 0) code = api.compile(handle.get(), static_cast<int>(texts.size()), texts.data());
  if (handle) product.log = read_log(handle, api);
  if (code != 0) product.code = api.error_name(code);
  if (!handle) return product;
  product.ptx = read(handle, api.ptx_size, api.ptx);
  while (!product.ptx.empty() && product.ptx.back() == std::byte{0}) product.ptx.pop_back();
  if (code != 0) return product;
  product.ltoir = read(handle, api.ltoir_size, api.ltoir);
  if (call.wants_cubin) product.cubin = read(handle, api.cubin_size, api.cubin);
  return product;
}

}  // namespace

std::vector<compile_product> compile_with_nvrtc(nvrtc const& compiler, program const& subject)
{
  std::vector<compile_product> products;
  for (auto const& call : subject.compiles) {
    products.push_back(compile(compiler.functions(), subject, call));
    if (!products.back().code.empty()) break;
  }
  return products;
}

void install_headers(nvrtc const& compiler, std::string const& folder)
{
  auto const install = compiler.functions().install_headers;
  char const* log = nullptr;
  auto const code = install == nullptr ? -1 : install(folder.c_str(), 0, &log);
  if (code == 0) return;
  throw unavailable_error(
      stage::compiler,
      {.message = detail::format(
           "the headers of {} cannot be unpacked to {}: {}", compiler.path(), folder,
           install == nullptr ? "it has none" : compiler.functions().error_name(code)),
       .input = folder,
       .code = error_code::nvrtc_unavailable,
       .log = log == nullptr ? "" : log,
       .hint =
           "free space there and make it writable, or set CUDA_HOME to a toolkit with headers"});
}

void warm_up(nvrtc const& compiler)
{
  program const line{
      .name = "warm_up.cu",
      .source = "__device__ int fatlink_warm_up;",
      .compiles = {{.options = {"--gpu-architecture=sm_75", "--relocatable-device-code=true",
                                "--minimal", "--modify-stack-limit=false"}}}};
  auto const products = compile_with_nvrtc(compiler, line);
  if (products.back().code.empty()) return;
  throw unavailable_error(
      stage::compiler,
      {.message =
           detail::format("NVRTC: {} cannot compile: {}", compiler.path(), products.back().code),
       .input = compiler.path(),
       .code = error_code::nvrtc_unavailable,
       .log = products.back().log,
       .hint = detail::format("install NVRTC again: libnvrtc-builtins.so.13.{} must be beside it",
                              compiler.minor())});
}

}  // namespace fatlink::detail
