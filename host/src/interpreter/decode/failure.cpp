// SPDX-License-Identifier: Apache-2.0
#include "interpreter/decode/failure.hpp"

#include <utility>

#include "interpreter/decode/operation.hpp"
#include "util/text/printable.hpp"

namespace fatlink::interpreter {
failure::failure(fault kind, std::string const& message, std::string source, unsigned line,
                 std::string location, std::string hint)
    : std::runtime_error(detail::printable(line_of(message))),
      kind_(kind),
      source_(std::move(source)),
      line_(line),
      location_(std::move(location)),
      hint_(std::move(hint))
{
}

}  // namespace fatlink::interpreter
