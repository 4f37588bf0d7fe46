// SPDX-License-Identifier: Apache-2.0
#include "plan/library_plan.hpp"

#include <utility>

#include "fatlink/error.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {

launch_plan library_plan(input const& library)
{
  if (auto plan = launch_plan::beside(library.name())) return std::move(*plan);
  throw file_error(
      stage::sidecar,
      {.message = detail::format("{}: no .json beside it states a launch plan", library.name()),
       .input = library.name(),
       .code = error_code::invalid_plan,
       .hint = "build the library with fatlink_add_fatbin(… PLAN file.json), or launch its kernels "
               "yourself: link_and_load"});
}

}  // namespace fatlink::detail
