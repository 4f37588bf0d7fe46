// SPDX-License-Identifier: Apache-2.0
// docs/reference_device.md lists exactly what the decoder accepts: every instruction form with its
// types, every special register, and every instruction that is refused by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/limits.hpp"
#include "interpreter/machine.hpp"
#include "places.hpp"

namespace fatlink::interpreter {
namespace {

using names = std::set<std::string>;
using row = std::vector<std::string>;

constexpr char const* k_types[] = {"pred",  "b8",   "b16",    "b32", "b64", "u8",   "u16",
                                   "u32",   "u64",  "s8",     "s16", "s32", "s64",  "f16",
                                   "f16x2", "bf16", "bf16x2", "f32", "f64", "f32x2"};

std::vector<std::string> split(std::string const& text, char delimiter)
{
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, delimiter);) parts.push_back(part);
  return parts;
}

/// All texts in backticks.
std::vector<std::string> code_of(std::string const& cell)
{
  std::vector<std::string> texts;
  auto const parts = split(cell, '`');
  for (std::size_t i = 1; i < parts.size(); i += 2) texts.push_back(parts[i]);
  return texts;
}

/// The cells of all tables in the section "## `title`", without the heading rows.
std::vector<row> table_of(std::string const& title)
{
  std::ifstream file(places::corpus("reference_device.md"));
  std::vector<row> rows;
  std::string section;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) section = line.substr(3);
    if (section != title || !line.starts_with("| `")) continue;
    auto cells = split(std::regex_replace(line, std::regex(R"(\\\|)"), "/"),
                       '|');  // an escaped | is not a delimiter
    cells.erase(cells.begin());
    rows.push_back(std::move(cells));
  }
  EXPECT_FALSE(rows.empty()) << "no table in the section " << title;
  return rows;
}

std::string register_type(std::string const& type)
{
  if (type == "pred") return ".pred";
  auto const size = size_of(*ptx::parse_type(type));
  return size == 8 ? ".b64" : size == 4 ? ".b32" : ".b16";
}

std::string wide_type(std::string const& type)
{
  return type != "pred" && size_of(*ptx::parse_type(type)) == 2 ? ".b32" : ".b64";
}

/// A kernel that contains `form` with `type` in place of T. Registers: d a b c e have the width of
/// T, D and C twice that; u v w have 32 bits, x has 64; p q s are predicates; m is in shared
/// memory.
std::string kernel_of(std::string const& form, std::string const& type)
{
  auto instruction = std::regex_replace(form, std::regex("\\.T\\b"), "." + type);
  std::replace(instruction.begin(), instruction.end(), '/', '|');
  return ".version 9.0\n.target sm_90\n.address_size 64\n.func f() { ret; }\n.entry k()\n{\n.reg " +
         register_type(type) + " d, a, b, c, e;\n.reg " + wide_type(type) +
         " D, C;\n.reg .b32 u, v, w;\n.reg .b64 x;\n.reg .pred p, q, s;\n.shared .b64 m;\nL:\n" +
         "targets: .branchtargets L;\n" + instruction + ";\nret;\n}\n";
}

bool is_accepted(std::string const& form, std::string const& type)
{
  auto const text = kernel_of(form, type);
  module_text const module{text, "a.ptx"};
  try {
    (void)program(std::make_shared<memory>(), {&module, 1}).find("k");
    return true;
  } catch (failure const&) {
    return false;
  }
}

/// PTX restricts some operations to untyped, unsigned or signed integers; the device does not.
bool is_same_class(std::string const& a, std::string const& b)
{
  if (a == "pred" || b == "pred") return a == b;
  auto const x = *ptx::parse_type(a);
  auto const y = *ptx::parse_type(b);
  return x == y || (size_of(x) == size_of(y) && is_integer(x) && is_integer(y));
}

void expect_types(std::string const& form, std::vector<std::string> const& documented)
{
  for (auto const& type : documented)
    EXPECT_TRUE(is_accepted(form, type)) << form << " is documented for " << type;
  for (std::string const type : k_types) {
    auto const matches = [&](std::string const& entry) { return is_same_class(entry, type); };
    if (std::none_of(documented.begin(), documented.end(), matches)) {
      EXPECT_FALSE(is_accepted(form, type)) << form << " is undocumented for " << type;
    }
  }
}

}  // namespace

TEST(ReferenceDeviceDocument, ListsTheTypesThatTheDecoderAccepts)
{
  for (auto const& row : table_of("Instructions")) {
    auto const types = code_of(row.at(1));
    for (auto const& form : code_of(row.at(0)))
      if (form.find(".T") != std::string::npos)
        expect_types(form, types);
      else
        EXPECT_TRUE(is_accepted(form, "b32")) << form;
  }
}

TEST(ReferenceDeviceDocument, ListsTheInstructionsThatTheDecoderKnows)
{
  names documented;
  for (auto const& row : table_of("Instructions"))
    for (auto const& form : code_of(row.at(0)))
      documented.insert(form.substr(0, form.find_first_of(". ")));
  names supported;
  for (auto const& entry : instruction_table()) supported.emplace(entry.first);
  EXPECT_EQ(documented, supported);
}

TEST(ReferenceDeviceDocument, ListsTheSpecialRegisters)
{
  names documented;
  for (auto const& row : table_of("Special registers"))
    for (auto const& name : code_of(row.at(0))) documented.insert(name);
  names supported;
  for (auto const& name : special_registers()) supported.emplace(name);
  EXPECT_EQ(documented, supported);
}

TEST(ReferenceDeviceDocument, ListsTheInstructionsOfUnsupportedFeatures)
{
  std::map<std::string, std::string> documented;
  for (auto const& row : table_of("Features that are not supported"))
    for (auto const& name : code_of(row.at(0)))
      documented[name] = std::regex_replace(row.at(1), std::regex("^ +| +$"), "");
  std::map<std::string, std::string> unsupported;
  for (auto const& [name, feature] : unsupported_instructions()) unsupported.emplace(name, feature);
  EXPECT_EQ(documented, unsupported);
}

}  // namespace fatlink::interpreter
