// SPDX-License-Identifier: Apache-2.0
// Evaluates every formula and every reference in folders of .json files by two evaluators, and
// compares the results bit by bit:
//   compare_evaluators [--inputs N] FOLDER...
// References: all names as float32, as float64, and as int64; formulas: all names as int64. The
// inputs have NaN, infinities, zeros of both signs, denormals, and integers that overflow. Results
// that are NaN agree with each other; errors agree if their texts do.
// Prints a line for each expression that differs, then counts. Exit status 1 if one differs.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "expression/formula.hpp"
#include "expression/program.hpp"
#include "expression/syntax.hpp"
#include "plan/components.hpp"
#include "plan/formula.hpp"
#include "verification/expression.hpp"
#include "verification/transform_reference.hpp"
#include "verification/whole_expression.hpp"

namespace {

using namespace fatlink;
namespace fl = fatlink::detail;
namespace language = fatlink::detail::language;

constexpr std::size_t k_block = 512;

std::uint64_t random_bits(std::uint64_t number)
{
  number += 0x9E3779B97F4A7C15;
  number = (number ^ (number >> 30U)) * 0xBF58476D1CE4E5B9;
  number = (number ^ (number >> 27U)) * 0x94D049BB133111EB;
  return number ^ (number >> 31U);
}

enum class kind : std::uint8_t { float32, float64, int64 };
constexpr std::array k_kinds{kind::float32, kind::float64, kind::int64};
constexpr std::array k_kind_names{"float32", "float64", "int64"};

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
fl::number input(kind type, std::size_t variable, std::size_t index)
{
  auto const choice = random_bits(index * 64 + variable);
  auto const bits = random_bits(choice);
  if (type == kind::int64) {
    auto const value = choice % 3 == 0   ? special_integer(bits)
                       : choice % 3 == 1 ? static_cast<std::int64_t>(bits % 2048) - 512
                                         : std::bit_cast<std::int64_t>(bits);
    return fl::whole_number(value);
  }
  if (choice % 3 == 1)
    return {.real = static_cast<double>(
                        static_cast<float>(static_cast<std::int64_t>(bits % 32768) - 16384)) /
                    1024};
  if (type == kind::float64)
    return {.real = choice % 3 == 0 ? special_float<double>(bits) : std::bit_cast<double>(bits)};
  return {.real = choice % 3 == 0
                      ? special_float<float>(bits)
                      : static_cast<double>(std::bit_cast<float>(static_cast<unsigned>(bits)))};
}

struct counts {
  std::size_t expressions = 0;
  std::size_t inputs = 0;
  std::size_t errors = 0;  ///< inputs for which both report the same error
  std::size_t differing = 0;
  std::size_t zeros = 0;  ///< those of them that are zeros of another sign
  std::size_t differing_expressions = 0;
  std::size_t refused = 0;  ///< expressions that both refuse for these types
};

bool equal(double a, double b)
{
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

/// The old evaluator of a reference.
class old_reference {
 public:
  old_reference(std::string const& text, std::vector<std::string> const& names, kind type)
      : numbers_(names.size()), reals_(names.size())
  {
    std::vector<fl::whole_variable> wholes;
    std::vector<fl::named_value> reals;
    for (std::size_t i = 0; i < names.size(); ++i) {
      wholes.push_back({names[i], type == kind::int64, &numbers_[i]});
      reals.push_back({names[i], &reals_[i]});
    }
    whole_ = fl::whole_expression::parse(text, wholes);
    if (whole_) return;
    real_ = std::make_unique<fl::expression>(text, reals);
    (void)real_->evaluate();
  }

  [[nodiscard]] bool is_integer() const { return whole_.has_value(); }
  void set(std::size_t variable, fl::number const& value)
  {
    numbers_[variable] = value;
    reals_[variable] = value.real;
  }
  fl::number evaluate()
  {
    return whole_ ? fl::whole_number(whole_->evaluate()) : fl::number{.real = real_->evaluate()};
  }

 private:
  std::vector<fl::number> numbers_;
  std::vector<double> reals_;
  std::optional<fl::whole_expression> whole_;
  std::unique_ptr<fl::expression> real_;
};

/// The new evaluator, in blocks.
class new_reference {
 public:
  new_reference(std::string const& text, std::vector<std::string> const& names, kind type)
      : reals_(names.size(), std::vector<double>(k_block)),
        wholes_(names.size(), std::vector<fl::int128>(k_block)),
        program_(language::expression_syntax(text, language::expression_use::reference),
                 variables(names, type), k_block)
  {
  }

  void set(std::size_t variable, std::size_t place, fl::number const& value)
  {
    reals_[variable][place] = value.real;
    wholes_[variable][place] = value.whole;
  }
  language::expression_program& program() { return program_; }

 private:
  std::vector<language::expression_variable> variables(std::vector<std::string> const& names,
                                                       kind type) const
  {
    std::vector<language::expression_variable> list;
    for (std::size_t i = 0; i < names.size(); ++i)
      list.push_back({names[i], type == kind::int64, reals_[i].data(), wholes_[i].data()});
    return list;
  }

  std::vector<std::vector<double>> reals_;
  std::vector<std::vector<fl::int128>> wholes_;
  language::expression_program program_;
};

template <typename Evaluator>
std::optional<Evaluator> prepare(std::string const& text, std::vector<std::string> const& names,
                                 kind type)
try {
  return std::optional<Evaluator>(std::in_place, text, names, type);
} catch (std::runtime_error const&) {
  return std::nullopt;
}

struct difference {
  std::size_t count = 0;
  std::size_t zeros = 0;
  std::string first = {};
};

std::string describe(std::vector<std::string> const& names, kind type, std::size_t index)
{
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto const value = input(type, i, index);
    text += type == kind::int64
                ? fmt::format("{}={} ", names[i], static_cast<std::int64_t>(value.whole))
                : fmt::format("{}={:a} ", names[i], value.real);
  }
  return text;
}

bool agree(fl::number const& before, bool was_integer, language::expression_program const& after,
           std::size_t place)
{
  if (!after.is_integer()) return equal(before.real, after.reals()[place]);
  if (was_integer) return before.whole == after.wholes()[place];
  return equal(before.real, static_cast<double>(after.wholes()[place]));
}

/// The block of inputs that begins with `start`.
void compare_block(old_reference& before, new_reference& after,
                   std::vector<std::string> const& names, kind type, std::size_t start,
                   std::size_t count, difference& found)
{
  std::vector<fl::number> expected(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < names.size(); ++k) {
      auto const value = input(type, k, start + i);
      before.set(k, value);
      after.set(k, i, value);
    }
    expected[i] = before.evaluate();
  }
  after.program().evaluate(count);
  auto const& program = after.program();
  for (std::size_t i = 0; i < count; ++i) {
    if (agree(expected[i], before.is_integer(), program, i)) continue;
    auto const actual =
        program.is_integer() ? static_cast<double>(program.wholes()[i]) : program.reals()[i];
    if (expected[i].real == 0 && actual == 0) ++found.zeros;
    if (found.count++ != 0) continue;
    found.first = fmt::format("{}: old {:a}, new {:a}", describe(names, type, start + i),
                              expected[i].real, actual);
  }
}

void compare_reference(std::string const& where, std::string const& text, kind type,
                       std::size_t inputs, counts& total)
{
  auto const names = language::expression_syntax(text, language::expression_use::reference).names();
  auto before = prepare<old_reference>(text, names, type);
  auto after = prepare<new_reference>(text, names, type);
  auto const* const type_name = k_kind_names.at(static_cast<std::size_t>(type));
  ++total.expressions;
  if (!before && !after) {
    ++total.refused;
    return;
  }
  difference found;
  if (!before || !after) {
    found = {inputs, 0, before ? "only the new one refuses it" : "only the old one refuses it"};
  } else {
    for (std::size_t start = 0; start < inputs; start += k_block)
      compare_block(*before, *after, names, type, start, std::min(k_block, inputs - start), found);
    total.inputs += inputs;
  }
  if (found.count == 0) return;
  ++total.differing_expressions;
  total.differing += found.count;
  total.zeros += found.zeros;
  fmt::print("{} \"{}\" of {}: {} differ, {} by the sign of zero; {}\n", where, text, type_name,
             found.count, found.zeros, found.first);
}

std::string evaluate_formula(auto const& formula, std::int64_t const* values)
{
  try {
    return std::to_string(formula.evaluate(values));
  } catch (std::runtime_error const& error) {
    return error.what();
  }
}

void compare_formula(std::string const& where, std::string const& text, std::size_t inputs,
                     counts& total)
{
  auto const names = language::expression_syntax(text, language::expression_use::formula).names();
  fl::formula_symbols old_symbols;
  language::formula_symbols new_symbols;
  for (auto const& name : names) {
    auto const index = static_cast<std::int64_t>(old_symbols.size());
    old_symbols[name].value = index;
    new_symbols[name].value = index;
  }
  fl::formula const before(text, old_symbols);
  language::formula const after(text, new_symbols);
  std::vector<std::int64_t> values(names.size());
  difference found;
  for (std::size_t i = 0; i < inputs; ++i) {
    for (std::size_t k = 0; k < names.size(); ++k)
      values[static_cast<std::size_t>(old_symbols[names[k]].value)] =
          static_cast<std::int64_t>(input(kind::int64, k, i).whole);
    auto const expected = evaluate_formula(before, values.data());
    auto const actual = evaluate_formula(after, values.data());
    if (expected.find(' ') != std::string::npos && expected == actual) ++total.errors;
    if (expected != actual && found.count++ == 0)
      found.first =
          fmt::format("{}: old {}, new {}", describe(names, kind::int64, i), expected, actual);
  }
  ++total.expressions;
  total.inputs += inputs;
  if (before.uses() != after.uses() || before.is_name() != after.is_name() ||
      before.solve(12) != after.solve(12))
    found = {inputs, 0, "the names that it uses differ"};
  if (found.count == 0) return;
  ++total.differing_expressions;
  total.differing += found.count;
  fmt::print("{} \"{}\": {} differ; {}\n", where, text, found.count, found.first);
}

/// The formulas of a plan: every string at a place where a formula may be.
void collect_formulas(nlohmann::json const& json, std::string const& key,
                      std::set<std::string>& formulas)
{
  static std::set<std::string> const places{"count",  "shape", "grid",  "block",
                                            "shared", "value", "length"};
  if (json.is_string() && places.contains(key)) formulas.insert(json.get<std::string>());
  if (json.is_array())
    for (auto const& item : json) collect_formulas(item, key, formulas);
  if (json.is_object())
    for (auto const& [name, item] : json.items())
      collect_formulas(item, key == "let" || key == "depth" ? "value" : name, formulas);
}

void print(char const* what, counts const& total)
{
  fmt::print(
      "{}: {} expressions, {} inputs, {} differ in {} expressions, {} by the sign "
      "of zero; {} inputs with equal errors; {} expressions refused by both\n",
      what, total.expressions, total.inputs, total.differing, total.differing_expressions,
      total.zeros, total.errors, total.refused);
}

}  // namespace

int main(int count, char** arguments)
{
  std::size_t inputs = 1'000'000;
  std::map<std::string, std::string> references;  // by text: where the first one is
  std::map<std::string, std::string> formulas;
  for (int i = 1; i < count; ++i) {
    if (std::strcmp(arguments[i], "--inputs") == 0 && i + 1 < count) {
      inputs = std::stoul(arguments[++i]);
      continue;
    }
    for (auto const& file : std::filesystem::recursive_directory_iterator(arguments[i])) {
      if (file.path().extension() != ".json") continue;
      auto const where = file.path().filename().string();
      auto const json = nlohmann::json::parse(std::ifstream(file.path()), nullptr, false);
      if (!json.is_object()) continue;
      if (json.contains("launches")) {
        std::set<std::string> found;
        for (auto const* part : {"arguments", "let", "launches", "depth"})
          if (json.contains(part)) collect_formulas(json[part], part, found);
        for (auto const& text : found) formulas.emplace(text, where);
      }
      if (!json.contains("summary")) continue;  // of a contract
      if (!json.contains("hooks") && !json.contains("reference")) continue;
      for (auto const& hook : transform_reference::read(file.path()).hooks)
        for (auto const& result : hook.result)
          references.emplace(result.text, where + ": " + hook.hook);
    }
  }
  counts of_references;
  counts of_formulas;
  for (auto const& [text, where] : references)
    for (auto const type : k_kinds) compare_reference(where, text, type, inputs, of_references);
  for (auto const& [text, where] : formulas) compare_formula(where, text, inputs, of_formulas);
  print("references", of_references);
  print("formulas", of_formulas);
  return of_references.differing + of_formulas.differing == 0 ? 0 : 1;
}
