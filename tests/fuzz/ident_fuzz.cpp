// SPDX-License-Identifier: Apache-2.0
// Any text as an entry's ident, as the mangled type of a hook, and as an entry's options.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fatlink/float_flags.hpp"
#include "fatlink/ident.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
  std::string_view const text(reinterpret_cast<char const*>(data), size);
  (void)fatlink::parse_ident(text);
  (void)fatlink::hook_declaration("hook", std::string(text));
  (void)fatlink::parse_float_flags(text);
  return 0;
}
