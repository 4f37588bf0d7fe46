// SPDX-License-Identifier: Apache-2.0
#include "nvjitlink/refuse_nvjitlink.hpp"

#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr char const* k_remedy =
    "install CUDA 13's nvJitLink (Debian, Ubuntu: libnvjitlink-13-0; in an active Python "
    "environment: pip install nvidia-nvjitlink), or set FATLINK_NVJITLINK to its "
    "libnvJitLink.so.13";

std::string outcomes_of(std::vector<nvjitlink_candidate> const& candidates)
{
  std::string text;
  for (auto const& candidate : candidates)
    text += detail::format("{} ({}): {}\n", candidate.path, candidate.reason, candidate.outcome);
  return text;
}

[[noreturn]] void fail(std::string const& message, std::string const& input,
                       std::vector<nvjitlink_candidate> const& candidates)
{
  throw unavailable_error(stage::linker, {.message = message,
                                          .input = input,
                                          .code = error_code::nvjitlink_unavailable,
                                          .log = outcomes_of(candidates),
                                          .hint = k_remedy});
}

}  // namespace

void refuse_nvjitlink(nvjitlink_candidate const& candidate)
{
  fail(detail::format("nvJitLink: {} (from {}) cannot be used: {}", candidate.path,
                      candidate.reason, candidate.outcome),
       candidate.path, {candidate});
}

void refuse_nvjitlink(std::vector<nvjitlink_candidate> const& candidates)
{
  fail(detail::format("nvJitLink: {} was found in none of {} places", k_nvjitlink_name,
                      candidates.size()),
       k_nvjitlink_name, candidates);
}

}  // namespace fatlink::detail
