// SPDX-License-Identifier: Apache-2.0
#include "vendor_compiler/compile_with_nvrtc.hpp"

#include "util/text/format.hpp"

namespace fatlink::detail {
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
           install == nullptr ? "it brings none" : compiler.functions().error_name(code)),
       .input = folder,
       .code = error_code::nvrtc_unavailable,
       .log = log == nullptr ? "" : log,
       .hint = "make room and allow writing there, or set CUDA_HOME to a toolkit with headers"});
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
       .hint =
           detail::format("install the rest of NVRTC: libnvrtc-builtins.so.13.{} belongs beside it",
                          compiler.minor())});
}

}  // namespace fatlink::detail
