// SPDX-License-Identifier: Apache-2.0
#include "compiler/messages/refuse_death.hpp"

#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

[[noreturn]] void refuse(std::string const& name, std::string const& cause, code_text code,
                         char const* hint)
{
  throw compile_error(stage::compiler, {.message = detail::format("{}: {}", name, cause),
                                        .input = name,
                                        .code = std::move(code),
                                        .hint = hint});
}

/// Memory of a compiler that has not seen a source, which the limit does not count: 66 MiB with
/// NVRTC 13.0, of which 52 MiB are pages of its file.
constexpr std::uint64_t k_idle_kib = std::uint64_t{64} << 10;

bool is_near_limit(std::uint64_t peak_kib, unsigned limit_mib)
{
  return peak_kib > k_idle_kib + (std::uint64_t{limit_mib} << 10) / 4 * 3;
}

double seconds_of(std::chrono::milliseconds time)
{
  return static_cast<double>(time.count()) / 1000;
}

bool is_crash(std::string const& reason)
{
  return reason.starts_with("SIG") && reason != "SIGKILL";
}

char const* hint_of(std::string const& reason)
{
  if (reason == "SIGSEGV")
    return "parentheses, braces or templates that nest too deep use up the compiler's stack: "
           "nest them less, or simplify the source; the next compile is not affected";
  if (reason == "SIGABRT")
    return "compilers abort where they get no memory: raise <compiler_settings::memory_limit_mib>, "
           "or "
           "use smaller arrays; the next compile is not affected";
  return "simplify the source; the next compile is not affected";
}

}  // namespace

void refuse_memory(std::string const& name, compiler_settings const& settings)
{
  refuse(name,
         detail::format("the compile needed more than its memory limit of {} MiB",
                        settings.memory_limit_mib),
         error_code::compile_memory,
         "look for endless templates or macros, or raise <compiler_settings::memory_limit_mib>");
}

void refuse_slow_headers(std::string const& name, compiler_settings const& settings)
{
  refuse(name,
         detail::format("finding and reading its headers took longer than the time limit of {} s",
                        seconds_of(settings.time_limit)),
         error_code::compile_timeout,
         "include fewer headers, name fewer folders, or raise <compiler_settings::time_limit>");
}

void refuse_death(helper_death const& death, std::string const& name,
                  compiler_settings const& settings)
{
  if (death.reason == "ETIMEDOUT")
    refuse(name,
           detail::format(
               "the compile took longer than its time limit of {} s; the compiler's process was "
               "stopped",
               seconds_of(settings.time_limit)),
           error_code::compile_timeout,
           "look for endless templates or macros, or raise <compiler_settings::time_limit>");
  if (is_near_limit(death.peak_kib, settings.memory_limit_mib)) refuse_memory(name, settings);
  refuse(name,
         detail::format("{} ({})",
                        is_crash(death.reason) ? "the compiler crashed compiling it"
                                               : "the compiler's process died compiling it",
                        death.cause.empty() ? death.reason : death.cause),
         vendor_code(death.reason), hint_of(death.reason));
}

}  // namespace fatlink::detail
