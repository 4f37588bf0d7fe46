// SPDX-License-Identifier: Apache-2.0
#include "plan/library_plan.hpp"

#include <algorithm>
#include <utility>

#include "fatbin/sidecar.hpp"
#include "fatlink/error.hpp"
#include "fatlink/source.hpp"
#include "input/stated_digest.hpp"
#include "preflight/symbols.hpp"
#include "util/bytes/sha256.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {

launch_plan library_plan(input const& library)
{
  auto plan = launch_plan::beside(library.name());
  check_same_version(library);
  if (plan) return std::move(*plan);
  throw file_error(
      stage::sidecar,
      {.message = detail::format("{}: no .json beside it states a launch plan", library.name()),
       .input = library.name(),
       .code = error_code::invalid_plan,
       .hint = "build the library with fatlink_add_fatbin(… PLAN file.json), or launch its kernels "
               "yourself: <link_and_load>"});
}

std::vector<std::string> kernels_to_keep(launch_plan const& plan, std::vector<input> const& inputs)
{
  auto launched = plan.kernels();
  std::size_t shown = 0;
  for (auto const& input : inputs)
    for (auto const& module : input.modules())
      for (auto const& kernel : interface_of_any(module).kernels) {
        if (std::ranges::find(launched, kernel.name) == launched.end()) return launched;
        ++shown;
      }
  if (shown == 0) return launched;  // the inputs do not show their kernels
  return {};
}

void check_same_version(input const& file)
{
  std::filesystem::path const path(file.name());
  if (is_source_name(path)) return;  // the digest is that of what was compiled of it
  auto const sidecar = find_sidecar(path);
  auto const stated = sidecar ? sha256_in(*sidecar) : std::nullopt;
  if (stated && *stated != to_hexadecimal(file.digest()))
    refuse_digest(
        path, file.digest(), *sidecar, *stated,
        "the files were replaced after the input was read: read it again; <fatlink::watch> "
        "returns the next version");
}

}  // namespace fatlink::detail
