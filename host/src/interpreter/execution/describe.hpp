// SPDX-License-Identifier: Apache-2.0
// Addresses and indices in messages.
#pragma once

#include <cstdio>
#include <string>

#include "interpreter/execution/block.hpp"

namespace fatlink::interpreter {

inline std::string hexadecimal(std::uint64_t value)
{
  char text[2 + 16 + 1];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

inline std::string triple(dimensions const& index)
{
  std::string text(1, '(');
  text.append(std::to_string(index.x)).append(1, ',').append(std::to_string(index.y));
  return text.append(1, ',').append(std::to_string(index.z)).append(1, ')');
}

}  // namespace fatlink::interpreter
