// SPDX-License-Identifier: Apache-2.0
#include "doctor/compiler_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string>
#include <vector>

#include "doctor/candidates.hpp"
#include "fatlink/compiler.hpp"
#include "fatlink/library_file.hpp"
#include "vendor/nvrtc.hpp"
#include "vendor/nvvm.hpp"
#include "vendor/vendor_library.hpp"

namespace fatlink::cli {
namespace {

/// With a header: an NVRTC that opened files otherwise than by the calls that the helper answers
/// (linkd/file_calls.hpp) would not find it.
constexpr char const* k_cuda = "#include <cstdint>\n__device__ std::int32_t number;\n";
constexpr char const* k_ir =
    "target datalayout = \"e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-"
    "f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64\"\n"
    "target triple = \"nvptx64-nvidia-cuda\"\n"
    "define void @empty() {\n  ret void\n}\n"
    "!nvvmir.version = !{!0}\n!0 = !{i32 2, i32 0}\n";

/// Sets "version", or "message" and "hint". `used`: the file that compiles open, which is not the
/// first one that loads: they choose it without loading it. Stated if it fails.
void try_compile(nlohmann::json& json, std::string const& text, std::string const& name,
                 std::optional<library_file> const& used)
try {
  if (!json.at("found").get<bool>()) return;
  compiler tool({.allow_unconfined = true});
  auto const compiled = tool.compile(source::from_text(text, name), {.architectures = {"sm_75"}});
  json["version"] = compiled.producer.substr(compiled.producer.find(' ') + 1);
} catch (error const& failure) {
  json["message"] = failure.details().message;
  json["hint"] = failure.details().hint;
  if (!used) return;
  json["path"] = used->path;
  json["reason"] = used->reason;
}

std::vector<std::string> header_folders()
{
  std::vector<std::string> names;
  compiler const tool({.cache = std::make_shared<link_cache>(default_cache_settings())});
  for (auto const& folder : tool.header_folders()) names.push_back(folder.string());
  return names;
}

void print_first_line(char const* title, char const* language, nlohmann::json const& compiler)
{
  if (!compiler["found"].get<bool>())
    fmt::print("{}: not found; only to compile {}: {}\n", title, language,
               compiler.value("hint", ""));
  else
    fmt::print("{} {}: {} ({})\n", title, compiler.value("version", "does not work"),
               compiler["path"].get<std::string>(), compiler["reason"].get<std::string>());
}

void print_headers(nlohmann::json const& nvrtc)
{
  auto const folders = nvrtc["headers"].get<std::vector<std::string>>();
  if (!nvrtc["found"].get<bool>()) return;
  fmt::print("  headers: {}\n",
             folders.empty() ? "none yet; NVRTC 13.3 and newer unpacks its own when a source "
                               "includes one, for others install nvidia-cuda-runtime or a toolkit"
                             : fmt::format("{}", fmt::join(folders, ", ")));
}

/// `absent`: what to print if it is not there.
void print_part(nlohmann::json const& compiler, char const* key, char const* absent)
{
  if (!compiler["found"].get<bool>()) return;
  fmt::print("  {}: {}\n", key, compiler.value(key, absent));
}

}  // namespace

nlohmann::json examine_nvrtc()
{
  auto json = examine_library<detail::nvrtc>();
  json["headers"] = header_folders();
  try_compile(json, k_cuda, "doctor.cu", detail::locate_nvrtc());
  if (!json["found"].get<bool>()) return json;
  if (auto const file = detail::builtins_of(json["path"].get<std::string>()); !file.empty())
    json["builtins"] = file;
  return json;
}

nlohmann::json examine_libnvvm()
{
  auto json = examine_library<detail::nvvm>();
  try_compile(json, k_ir, "doctor.ll", detail::locate(detail::nvvm_library()));
  if (!json["found"].get<bool>()) return json;
  if (auto const file = detail::libdevice_of(json["path"].get<std::string>()); !file.empty())
    json["libdevice"] = file;
  return json;
}

bool is_compiler_usable(nlohmann::json const& compiler)
{
  return compiler.contains("version");
}

void print_compilers(nlohmann::json const& nvrtc, nlohmann::json const& libnvvm)
{
  print_first_line("NVRTC", "CUDA C++", nvrtc);
  print_candidates(nvrtc);
  print_part(nvrtc, "builtins",
             is_compiler_usable(nvrtc) ? "found by the dynamic loader" : "not found");
  print_headers(nvrtc);
  print_first_line("libNVVM", "LLVM IR", libnvvm);
  print_candidates(libnvvm);
  print_part(libnvvm, "libdevice", "not found");
}

}  // namespace fatlink::cli
