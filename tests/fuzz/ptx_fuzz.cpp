// SPDX-License-Identifier: Apache-2.0
// Any text as PTX: its interface read, parsed, linked, decoded, and each kernel run by a few
// threads for a few instructions. Whatever it is, it ends in a result or a failure.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "fatlink/ptx_interface.hpp"
#include "interpreter/machine.hpp"
#include "ptx/parser.hpp"
#include "ptx/syntax_error.hpp"

using namespace fatlink::interpreter;

namespace {

void run(program& in, syntax::function const& entry)
{
  auto const& found = in.find(entry.name);
  std::vector<std::vector<std::byte>> values;
  std::vector<std::span<std::byte const>> arguments;
  for (auto const& slot : found.entry->parameters) values.emplace_back(slot.size);
  arguments.assign(values.begin(), values.end());
  launch_options const how{.grid = {1, 1, 1},
                           .block = {40, 1, 1},
                           .shared_bytes = 64,
                           .budget = 2000,
                           .check_races = true,
                           .print = [](std::string_view) {}};
  launch(in, found, how, arguments);
}

bool is_small(syntax::module const& parsed)
{
  std::uint64_t bytes = 0;
  for (auto const& one : parsed.variables) bytes += one.bytes();
  for (auto const& function : parsed.functions)
    for (auto const& one : function.variables) bytes += one.bytes();
  return bytes < (1U << 20);  // a gigabyte of zeros is no finding, and slow
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
  std::string_view const text(reinterpret_cast<char const*>(data), size);
  try {
    (void)fatlink::read_ptx_interface(text, "fuzz");
  } catch (fatlink::file_error const&) {
  }
  try {
    auto const parsed = fatlink::ptx::parse_module(text, "fuzz");
    if (!is_small(parsed)) return 0;
    module_text const module{text, "fuzz"};
    program in(std::make_shared<memory>(), {&module, 1});
    for (auto const& one : parsed.functions)
      if (one.is_entry && one.has_body) try {
          run(in, one);
        } catch (failure const&) {
        }
  } catch (fatlink::ptx::syntax_error const&) {
  } catch (failure const&) {
  }
  return 0;
}
