// SPDX-License-Identifier: Apache-2.0
#include "doctor/verdicts.hpp"

#include <fmt/format.h>

#include <charconv>

#include "doctor/compiler_check.hpp"
#include "doctor/helper_check.hpp"
#include "preflight/rules.hpp"

namespace fatlink::cli {
namespace {

constexpr int k_cuda_major = 13;  // of linked cubins
constexpr char const* k_driver_remedy = "install NVIDIA's driver (580 or newer)";

bool is_found(nlohmann::json const& part)
{
  return part.at("found").get<bool>();
}

std::string text_of(nlohmann::json const& part, char const* key)
{
  return part.value(key, std::string{});
}

/// "with nvJitLink 13.0", and whether it is newer than what fatlink was tested with.
std::string describe_used(char const* title, std::string const& version)
{
  auto const text = fmt::format("with {} {}", title, version);
  auto const used = detail::parse_toolkit_version(version);
  auto const newest = detail::newest_known_toolkit();
  if (!used || *used <= newest) return text;
  return fmt::format("{}, which is newer than what fatlink {} was tested with (up to {})", text,
                     FATLINK_VERSION, to_string(newest));
}

verdict check_helper(nlohmann::json const& findings)
{
  auto const& helper = findings.at("link_helper");
  return {"helper", "helper", is_helper_usable(helper), text_of(helper, "reason"),
          text_of(helper, "hint")};
}

verdict check_link(nlohmann::json const& findings)
{
  verdict result{.name = "link", .title = "link"};
  auto const& linker = findings.at("nvjitlink");
  if (!is_found(linker)) {
    result.detail = text_of(linker, "message");
    result.remedy = text_of(linker, "hint");
  } else if (!is_found(findings.at("link_helper"))) {
    result.detail = "links run in the helper, which is missing";
    result.remedy = "see helper, or pass --in-process";
  } else if (!is_helper_usable(findings.at("link_helper"))) {
    result.detail = "links run in the helper, which does not start or is not confined";
    result.remedy = text_of(findings.at("link_helper"), "hint");
  } else {
    result.ok = true;
    result.detail = describe_used("nvJitLink", text_of(linker, "version"));
  }
  return result;
}

int major_of(std::string const& version)
{
  int major = 0;
  std::from_chars(version.data(), version.data() + version.size(), major);
  return major;
}

verdict check_gpu(nlohmann::json const& findings, verdict const& link)
{
  verdict result{.name = "run_on_gpu", .title = "run on a GPU"};
  auto const& driver = findings.at("driver");
  if (!is_found(driver)) {
    result.detail = text_of(driver, "reason");
    result.remedy = k_driver_remedy;
  } else if (auto const cuda = text_of(driver, "cuda"); major_of(cuda) < k_cuda_major) {
    result.detail = fmt::format("the driver is for CUDA {} and cannot load code of CUDA 13", cuda);
    result.remedy = k_driver_remedy;
  } else if (findings.at("gpus").empty()) {
    result.detail = "the driver shows no GPU";
    result.remedy = "use a machine with a GPU, and check CUDA_VISIBLE_DEVICES";
  } else if (!link.ok) {
    result.detail = "linking does not work";
    result.remedy = "see link";
  } else {
    result.ok = true;
    result.detail = text_of(findings.at("gpus").front(), "name");
  }
  return result;
}

verdict check_reference_device(verdict const& link)
{
  verdict result{
      .name = "run_on_reference_device", .title = "run on the reference device", .ok = true};
  if (link.ok) return result;
  result.detail = "in ptx mode only";
  result.remedy = "for lto mode see link";
  return result;
}

verdict check_cache(nlohmann::json const& findings)
{
  auto const& cache = findings.at("cache");
  return {"cache", "cache", cache.at("usable").get<bool>(), text_of(cache, "reason"),
          text_of(cache, "hint")};
}

/// `title`: of the compiler. It is optional.
verdict check_compiler(nlohmann::json const& findings, char const* name, char const* title)
{
  auto const is_cuda = std::string_view(name) == "nvrtc";
  verdict result{.name = is_cuda ? "compile_cuda" : "compile_llvm_ir",
                 .title = is_cuda ? "compile CUDA C++" : "compile LLVM IR"};
  auto const& compiler = findings.at(name);
  if (!is_compiler_usable(compiler)) {
    result.detail = text_of(compiler, "message");
    result.remedy = text_of(compiler, "hint");
  } else if (!is_helper_usable(findings.at("link_helper"))) {
    result.detail = "compiles run in the helper, which is not confined";
    result.remedy = "see helper";
  } else {
    result.ok = true;
    result.detail = describe_used(title, text_of(compiler, "version"));
  }
  return result;
}

std::string answer_of(verdict const& result)
{
  std::string text = result.ok ? "yes" : "no";
  if (!result.detail.empty()) text += (result.ok ? ", " : ": ") + result.detail;
  return result.remedy.empty() ? text : text + "; " + result.remedy;
}

}  // namespace

std::vector<verdict> check_machine(nlohmann::json const& findings)
{
  auto const link = check_link(findings);
  return {link,
          check_gpu(findings, link),
          check_reference_device(link),
          check_cache(findings),
          check_helper(findings),
          check_compiler(findings, "nvrtc", "NVRTC"),
          check_compiler(findings, "libnvvm", "libNVVM")};
}

nlohmann::json to_json(std::vector<verdict> const& verdicts)
{
  auto object = nlohmann::json::object();
  for (auto const& result : verdicts)
    object[result.name] = {{"ok", result.ok}, {"detail", result.detail}, {"remedy", result.remedy}};
  return object;
}

void print_verdicts(std::vector<verdict> const& verdicts)
{
  fmt::print("What works:\n");
  for (auto const& result : verdicts) fmt::print("  {:<28} {}\n", result.title, answer_of(result));
}

}  // namespace fatlink::cli
