// SPDX-License-Identifier: Apache-2.0
// docs/reference_device.md lists the special registers and the instructions that are refused by
// name; the build adds the table of instructions, which has those of the conformance cases.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "conformance/coverage.hpp"
#include "conformance/suite.hpp"
#include "interpreter/decode/decoder.hpp"

namespace fatlink::interpreter {
namespace {

using name_set = std::set<std::string>;

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

/// The names in backticks in the first cells of the section "## `title`".
name_set names_in(std::string const& title)
{
  std::ifstream file(places::corpus("reference_device.md"));
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

TEST(ReferenceDeviceDocument, HasAConformanceCaseOfEveryInstruction)
{
  name_set with_cases;
  for (auto const& [name, coverage] : covered()) with_cases.insert(name);
  EXPECT_EQ(without(instructions(), with_cases), name_set());
}

TEST(ReferenceDeviceDocument, ListsTheSpecialRegisters)
{
  name_set supported;
  for (auto const& name : special_registers()) supported.emplace(name);
  EXPECT_EQ(names_in("Special registers"), supported);
}

TEST(ReferenceDeviceDocument, ListsTheInstructionsThatAreRefusedByName)
{
  name_set refused;
  for (auto const& entry : unsupported_instructions()) refused.emplace(entry.first);
  EXPECT_EQ(names_in("Features that are not supported"), refused);
}

}  // namespace fatlink::interpreter
