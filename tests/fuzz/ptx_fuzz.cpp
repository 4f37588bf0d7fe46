// SPDX-License-Identifier: Apache-2.0
// Treats any text as PTX: reads its interface, parses, links and decodes it, and runs each kernel
// with a few threads for a few instructions. Every input must end in a result or an exception.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "fatlink/ptx_interface.hpp"
#include "interpreter/machine.hpp"
#include "ptx/lexer.hpp"
#include "ptx/parser.hpp"

namespace fatlink::interpreter {
namespace {

void run(program& program, syntax::function const& entry)
{
  auto const& kernel = program.find(entry.name);
  std::vector<std::vector<std::byte>> values;
  std::vector<std::span<std::byte const>> arguments;
  for (auto const& slot : kernel.entry->parameters) values.emplace_back(slot.size);
  arguments.assign(values.begin(), values.end());
  launch_options const options{.grid = {1, 1, 1},
                               .block = {40, 1, 1},
                               .shared_bytes = 64,
                               .budget = 2000,
                               .check_races = true,
                               .print = [](std::string_view) {}};
  launch(program, kernel, options, arguments);
}

bool is_small(syntax::module const& parsed)
{
  std::uint64_t bytes = 0;
  for (auto const& variable : parsed.variables) bytes += variable.bytes();
  for (auto const& function : parsed.functions)
    for (auto const& variable : function.variables) bytes += variable.bytes();
  return bytes < (1U << 20);  // larger ones are slow and find nothing
}

}  // namespace
}  // namespace fatlink::interpreter

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
  using namespace fatlink::interpreter;
  std::string_view const text(reinterpret_cast<char const*>(data), size);
  try {
    (void)fatlink::read_ptx_interface(text, "fuzz");
  } catch (fatlink::file_error const&) {
  }
  try {
    auto const parsed = fatlink::ptx::parse_module(text, "fuzz");
    if (!is_small(parsed)) return 0;
    module_text const module{text, "fuzz"};
    fatlink::interpreter::program program(std::make_shared<memory>(), {&module, 1});
    for (auto const& function : parsed.functions)
      if (function.is_entry && function.has_body) try {
          run(program, function);
        } catch (code_error const&) {
        }
  } catch (fatlink::ptx::syntax_error const&) {
  } catch (code_error const&) {
  }
  return 0;
}
