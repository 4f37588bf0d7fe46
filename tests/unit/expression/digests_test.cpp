// SPDX-License-Identifier: Apache-2.0
// What the shipped references and formulas compute, bit by bit, for inputs with NaN, infinities,
// zeros of both signs, denormals, integers that overflow, and divisions by zero.
// fixtures/expression_digests.txt has the digests of the results that muParser and the evaluators
// of integers had before expression/ replaced them (the sign of a zero apart: muParser computes
// 2*x as 2*x + 0). Without expressions that call sin, exp, log2 or erfc, whose last bits are the C
// library's.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <vector>

#include "expression/formula.hpp"
#include "expression/program.hpp"
#include "places.hpp"
#include "plan/components.hpp"

using namespace fatlink::detail;

namespace {

constexpr std::size_t k_digest_inputs = 10'000;

std::uint64_t random_bits_of(std::uint64_t number)
{
  number += 0x9E3779B97F4A7C15;
  number = (number ^ (number >> 30U)) * 0xBF58476D1CE4E5B9;
  number = (number ^ (number >> 27U)) * 0x94D049BB133111EB;
  return number ^ (number >> 31U);
}

template <typename Float>
double special_float(std::uint64_t bits)
{
  using limits = std::numeric_limits<Float>;
  constexpr std::array k_values{Float{0},
                                -Float{0},
                                limits::infinity(),
                                -limits::infinity(),
                                limits::quiet_NaN(),
                                limits::denorm_min(),
                                -limits::denorm_min(),
                                limits::min(),
                                limits::max(),
                                limits::lowest(),
                                Float{1},
                                Float{-1},
                                Float{0.5},
                                Float{2},
                                Float{255},
                                Float{65536}};
  return static_cast<double>(k_values.at(bits % k_values.size()));
}

std::int64_t special_integer(std::uint64_t bits)
{
  using limits = std::numeric_limits<std::int64_t>;
  constexpr std::array<std::int64_t, 16> k_values{
      0,   1,   -1,    2,     -2,      3, 7, limits::max(), limits::min(), limits::max() - 1,
      255, 256, 65535, 65536, 1 << 30, -5};
  return k_values.at(bits % k_values.size());
}

/// A third special, a third of ordinary size, a third any bits.
number input_of(std::string const& type, std::size_t variable, std::size_t index)
{
  auto const choice = random_bits_of(index * 64 + variable);
  auto const bits = random_bits_of(choice);
  auto const part = choice % 3;
  if (type == "int64")
    return whole_number(part == 0   ? special_integer(bits)
                        : part == 1 ? static_cast<std::int64_t>(bits % 2048) - 512
                                    : std::bit_cast<std::int64_t>(bits));
  auto const ordinary = static_cast<std::int64_t>(bits % 32768) - 16384;
  if (part == 1) return {.real = static_cast<double>(ordinary) / 1024};
  if (type == "float64")
    return {.real = part == 0 ? special_float<double>(bits) : std::bit_cast<double>(bits)};
  auto const any = std::bit_cast<float>(static_cast<unsigned>(bits));
  return {.real = part == 0 ? special_float<float>(bits) : static_cast<double>(any)};
}

/// FNV-1a of 64 bits.
class value_digest {
 public:
  void add(std::uint64_t value)
  {
    for (unsigned i = 0; i < 64; i += 8) add_byte(static_cast<unsigned char>(value >> i));
  }
  void add(double value)
  {
    add(std::isnan(value) ? ~std::uint64_t{0} : std::bit_cast<std::uint64_t>(value));
  }
  void add(std::string const& text)
  {
    for (auto const letter : text) add_byte(static_cast<unsigned char>(letter));
  }
  [[nodiscard]] std::string text() const
  {
    std::ostringstream stream;
    stream << std::hex << state_;
    return stream.str();
  }

 private:
  void add_byte(unsigned char byte) { state_ = (state_ ^ byte) * 0x100000001B3; }
  std::uint64_t state_ = 0xCBF29CE484222325;
};

std::string digest_of_reference(std::string const& text, std::string const& type)
{
  expression_syntax const syntax(text, expression_use::reference);
  auto const names = syntax.names().size();
  std::vector<std::vector<double>> reals(names, std::vector<double>(k_digest_inputs));
  std::vector<std::vector<int128>> wholes(names, std::vector<int128>(k_digest_inputs));
  std::vector<expression_variable> variables;
  for (std::size_t k = 0; k < names; ++k) {
    for (std::size_t i = 0; i < k_digest_inputs; ++i) {
      auto const value = input_of(type, k, i);
      reals[k][i] = value.real;
      wholes[k][i] = value.whole;
    }
    variables.push_back({syntax.names()[k], type == "int64", reals[k].data(), wholes[k].data()});
  }
  expression_program program(syntax, variables, k_digest_inputs);
  program.evaluate(k_digest_inputs);
  value_digest digest;
  for (std::size_t i = 0; i < k_digest_inputs; ++i) {
    if (!program.is_integer()) {
      digest.add(program.reals()[i]);
      continue;
    }
    digest.add(static_cast<std::uint64_t>(program.wholes()[i]));
    digest.add(static_cast<std::uint64_t>(program.wholes()[i] >> 64));
  }
  return digest.text();
}

std::string digest_of_formula(std::string const& text)
{
  formula_symbols symbols;
  std::int64_t count = 0;
  expression_syntax const syntax(text, expression_use::formula);
  for (auto const& name : syntax.names()) symbols[name].value = count++;
  formula const parsed(text, symbols);
  std::vector<std::int64_t> values(symbols.size());
  value_digest digest;
  for (std::size_t i = 0; i < k_digest_inputs; ++i) {
    for (std::size_t k = 0; k < values.size(); ++k)
      values[k] = static_cast<std::int64_t>(input_of("int64", k, i).whole);
    try {
      digest.add(static_cast<std::uint64_t>(parsed.evaluate(values.data())));
    } catch (expression_error const& error) {
      digest.add(std::string(error.what()));
    }
  }
  return digest.text();
}

}  // namespace

TEST(ExpressionDigests, OfShippedReferencesAndFormulasAreThoseOfTheFile)
{
  std::ifstream file(places::fixture("expression_digests.txt"));
  std::string line;
  std::size_t count = 0;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string type;
    std::string expected;
    std::string text;
    words >> type >> expected >> std::ws;
    std::getline(words, text);
    EXPECT_EQ(type == "formula" ? digest_of_formula(text) : digest_of_reference(text, type),
              expected)
        << type << ' ' << text;
    ++count;
  }
  EXPECT_GT(count, 200U);
}
