// SPDX-License-Identifier: Apache-2.0
// docs/reference_device.md lists what the decoder knows: every instruction, with what the
// conformance cases execute of it, every special register, and every instruction that is refused by
// name. scripts/reference-device-docs writes the tables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "conformance/coverage.hpp"
#include "conformance/suite.hpp"
#include "interpreter/decode/decoder.hpp"
#include "interpreter/limits.hpp"

namespace fatlink::interpreter {
namespace {

using name_set = std::set<std::string>;

/// The document that is compared, or written where $FATLINK_REFERENCE_DEVICE_DOC names it.
std::string document()
{
  auto const* const written = std::getenv("FATLINK_REFERENCE_DEVICE_DOC");
  return written != nullptr ? written : places::corpus("reference_device.md");
}

std::string text_of(std::string const& path)
{
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

name_set instructions()
{
  name_set known;
  for (auto const& entry : instruction_table()) known.emplace(entry.first);
  return known;
}

conformance::coverage covered()
{
  conformance::coverage result;
  for (auto const& path : conformance::case_files())
    for (auto const& test_case : conformance::read_cases(path))
      if (!test_case.fails() || test_case.is_fault) add_coverage(result, test_case, instructions());
  return result;
}

name_set without(name_set all, name_set const& excluded)
{
  for (auto const& name : excluded) all.erase(name);
  return all;
}

/// "`.a` `.b`"
std::string code_list(name_set const& words, std::string const& prefix)
{
  std::string text;
  for (auto const& word : words) text += (text.empty() ? "`" : " `") + prefix + word + "`";
  return text;
}

std::string instruction_rows()
{
  std::string text = "| Instruction | Modifiers | Types | From |\n|---|---|---|---|\n";
  auto const cases = covered();
  for (auto const& name : instructions()) {
    if (!cases.contains(name)) continue;
    auto const& coverage = cases.at(name);
    text += "| `" + name + "` | " + code_list(coverage.modifiers, ".") + " | " +
            code_list(coverage.types, ".") + " | " + coverage.lowest_target + " |\n";
  }
  return text;
}

std::string refusal_rows()
{
  std::map<std::string, name_set> features;
  for (auto const& [name, feature] : unsupported_instructions()) features[feature].emplace(name);
  std::string text = "| Instructions | Feature |\n|---|---|\n";
  for (auto const& [feature, members] : features)
    text += "| " + code_list(members, "") + " | " + feature + " |\n";
  return text;
}

/// `text` with `rows` between the markers of the table `name`.
std::string with_table(std::string text, std::string const& name, std::string const& rows)
{
  auto const begin = "<!-- " + name + ": made by scripts/reference-device-docs -->\n";
  auto const end = "<!-- end of " + name + " -->\n";
  auto const first = text.find(begin);
  auto const last = text.find(end);
  if (first == std::string::npos || last == std::string::npos || last < first) {
    ADD_FAILURE() << "there are no markers of the table " << name;
    return text;
  }
  auto const start = first + begin.size();
  return text.replace(start, last - start, "\n" + rows + "\n");
}

/// The names in backticks in the first cells of the section "## `title`".
name_set names_in(std::string const& title)
{
  std::istringstream file(text_of(document()));
  name_set result;
  std::string section;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) section = line.substr(3);
    if (section != title || !line.starts_with("| `")) continue;
    std::istringstream cell(line.substr(0, line.find(" | ")));
    std::string part;
    for (unsigned i = 0; std::getline(cell, part, '`'); ++i)
      if (i % 2 == 1) result.insert(part);
  }
  return result;
}

}  // namespace

TEST(ReferenceDeviceDocument, HasTheTablesOfTheDecoderAndTheConformanceCases)
{
  auto const text = text_of(document());
  auto const expected = with_table(with_table(text, "instructions", instruction_rows()),
                                   "refused instructions", refusal_rows());
  if (std::getenv("FATLINK_REFERENCE_DEVICE_DOC") != nullptr) {
    std::ofstream(document()) << expected;
    return;
  }
  EXPECT_TRUE(text == expected) << "run scripts/reference-device-docs";
}

TEST(ReferenceDeviceDocument, HasAConformanceCaseOfEveryInstruction)
{
  name_set with_cases;
  for (auto const& [name, coverage] : covered()) with_cases.insert(name);
  EXPECT_EQ(without(instructions(), with_cases), name_set());
}

TEST(ReferenceDeviceDocument, ListsTheSpecialRegisters)
{
  auto const documented = names_in("Special registers");
  name_set supported;
  for (auto const& name : special_registers()) supported.emplace(name);
  EXPECT_EQ(without(supported, documented), name_set()) << "are not documented";
  EXPECT_EQ(without(documented, supported), name_set()) << "are not supported";
}

}  // namespace fatlink::interpreter
