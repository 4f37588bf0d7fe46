// SPDX-License-Identifier: Apache-2.0
// Any bytes as an expression, evaluated as a formula of a launch plan and as a reference: one byte
// that says which of its names are integers, 8 bytes that are the value of all names, then the
// text.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "expression/formula.hpp"
#include "expression/program.hpp"

namespace {

using namespace fatlink::detail;

void evaluate_formula(std::string const& text, std::int64_t value)
{
  try {
    formula_symbols symbols;
    std::vector<std::int64_t> values;
    expression_syntax const syntax(text, expression_use::formula);
    for (auto const& name : syntax.names()) {
      symbols[name].value = static_cast<std::int64_t>(values.size());
      values.push_back(value);
    }
    formula const parsed(text, symbols);
    (void)parsed.solve(value);
    (void)parsed.evaluate(values.data());
  } catch (expression_error const&) {
  }
}

void evaluate_reference(std::string const& text, std::uint8_t integers, std::int64_t value)
{
  try {
    constexpr std::size_t k_count = 3;
    std::array<double, k_count> reals{static_cast<double>(value), -0.0, 0};
    std::memcpy(&reals[2], &value, sizeof value);
    std::array<int128, k_count> const wholes{value, 0, -1};
    expression_syntax const syntax(text, expression_use::reference);
    std::vector<expression_variable> variables;
    for (auto const& name : syntax.names())
      variables.push_back(
          {name, (integers >> variables.size() % 8 & 1) != 0, reals.data(), wholes.data()});
    expression_program(syntax, variables, k_count).evaluate(k_count);
  } catch (expression_error const&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
  std::int64_t value = 0;
  if (size < 1 + sizeof value) return 0;
  std::memcpy(&value, data + 1, sizeof value);
  std::string const text(reinterpret_cast<char const*>(data) + 1 + sizeof value,
                         size - 1 - sizeof value);
  evaluate_formula(text, value);
  evaluate_reference(text, data[0], value);
  return 0;
}
