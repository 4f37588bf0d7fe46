// SPDX-License-Identifier: Apache-2.0
#include "fatlink/error.hpp"

#include <utility>

namespace fatlink {

char const* to_string(stage where) noexcept
{
  switch (where) {
    case stage::input:
      return "input";
    case stage::fatbin:
      return "fatbin";
    case stage::preflight:
      return "preflight";
    case stage::linker:
      return "linker";
    case stage::image:
      return "image";
    case stage::device:
      return "device";
    case stage::verify:
      return "verify";
    case stage::report:
      return "report";
  }
  return "unknown";
}

error::error(stage where, error_details details)
    : std::runtime_error(details.message), where_(where), details_(std::move(details))
{
}

}  // namespace fatlink
