// SPDX-License-Identifier: Apache-2.0
// Prints the table of docs/reference_device.md, "Instructions", in Markdown: every instruction that
// the decoder knows, with what the conformance cases execute of it.
//   reference_device_instructions CASES...
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "conformance/coverage.hpp"
#include "conformance/reader.hpp"
#include "interpreter/decode/decoder.hpp"

namespace {

using name_set = std::set<std::string>;

name_set instructions()
{
  name_set known;
  for (auto const& entry : fatlink::interpreter::instruction_table()) known.emplace(entry.first);
  return known;
}

void add_file(conformance::coverage& covered, std::filesystem::path const& path)
{
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  for (auto const& test_case : conformance::reader(path.stem().string(), text.str()).read())
    if (!test_case.fails() || test_case.is_fault) add_coverage(covered, test_case, instructions());
}

/// "`.a` `.b`"
std::string code_list(name_set const& words)
{
  std::string text;
  for (auto const& word : words) text += (text.empty() ? "`." : " `.") + word + "`";
  return text;
}

}  // namespace

int main(int count, char** arguments)
try {
  conformance::coverage covered;
  for (int index = 1; index < count; ++index) add_file(covered, arguments[index]);
  std::puts("| Instruction | Modifiers | Types | From |\n|---|---|---|---|");
  for (auto const& [name, use] : covered)
    std::printf("| `%s` | %s | %s | %s |\n", name.c_str(), code_list(use.modifiers).c_str(),
                code_list(use.types).c_str(), use.lowest_target.c_str());
} catch (std::exception const& failure) {
  std::fprintf(stderr, "reference_device_instructions: error: %s\n", failure.what());
  return 1;
}
