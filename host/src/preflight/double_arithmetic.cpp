// SPDX-License-Identifier: Apache-2.0
#include "preflight/rules.hpp"

// Float functions that convert a float to double and compute with the result, as code does that has
// a double literal (0.5 for 0.5F). Conversions of integers do not count, which CUDA's own sinf has,
// nor a double that is only stored, as an argument of printf.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/lexer.hpp"
#include "ptx/parser.hpp"
#include "ptx/syntax.hpp"
#include "util/text/format.hpp"

namespace fatlink::ptx {
namespace {

/// The first instruction of a function that computes in double with what was a float.
struct double_arithmetic {
  std::string function = {};     ///< its name
  std::string instruction = {};  ///< "mul.f64"
  unsigned line = 0;             ///< of the PTX, from 1
  std::string place = {};        ///< in the source: "half.cu:3"; empty: unknown
};

using syntax::instruction;
using syntax::operand;
using syntax::operand_kind;

/// The registers of one function that hold doubles which were floats. Reads the instructions once,
/// in the order of the text, in which compilers define registers before they use them.
class widened_registers {
 public:
  explicit widened_registers(std::size_t count) : is_widened_(count, false) {}

  /// Whether `step` computes with one of the registers; records the registers that it makes.
  bool is_used_by(instruction const& step)
  {
    if (step.operands.empty() || !has(step, "f64")) return false;
    auto const& result = step.operands.front();
    if (step.name == "cvt") {
      if (step.modifiers.back() == "f32") mark(result);  // cvt.f64.f32
      return false;
    }
    auto const reads_one = std::any_of(step.operands.begin() + 1, step.operands.end(),
                                       [&](operand const& source) { return holds_one(source); });
    if (!reads_one) return false;
    if (step.name == "mov") mark(result);
    if (step.name == "st") return has(step, "param");  // an argument of a function on doubles
    return step.name != "mov" && step.name != "ld";
  }

 private:
  static bool has(instruction const& step, std::string_view modifier)
  {
    return std::find(step.modifiers.begin(), step.modifiers.end(), modifier) !=
           step.modifiers.end();
  }
  void mark(operand const& result)
  {
    if (result.kind == operand_kind::register_ && result.index < is_widened_.size())
      is_widened_[result.index] = true;
  }
  [[nodiscard]] bool holds_one(operand const& source) const
  {
    return source.kind == operand_kind::register_ && source.index < is_widened_.size() &&
           is_widened_[source.index];
  }

  std::vector<bool> is_widened_;  ///< by the index of the register
};

std::string spell(instruction const& step)
{
  std::string text(step.name);
  for (auto const modifier : step.modifiers) (text += '.') += modifier;
  return text;
}

std::optional<double_arithmetic> find_in(syntax::function const& function,
                                         syntax::module const& module)
{
  widened_registers registers(function.registers.size());
  for (auto const& step : function.instructions)
    if (registers.is_used_by(step))
      return double_arithmetic{.function = function.name,
                               .instruction = spell(step),
                               .line = step.line,
                               .place = location_text(step.location, module.files)};
  return std::nullopt;
}

/// One element for each function of `module` with a body that does so, in order.
std::vector<double_arithmetic> find_double_arithmetic(syntax::module const& module)
{
  std::vector<double_arithmetic> uses;
  for (auto const& function : module.functions)
    if (auto use = find_in(function, module)) uses.push_back(std::move(*use));
  return uses;
}

}  // namespace
}  // namespace fatlink::ptx

namespace fatlink::detail {
namespace {

constexpr std::uint64_t k_most_text = std::uint64_t{16} << 20;

/// A parameter that is a float, or that nothing accesses: PTX declares both as b32.
bool may_be_float(ptx_parameter const& parameter)
{
  auto const is_float = parameter.accessed_as == "f32" || parameter.type == "f32";
  return parameter.count == 0 &&
         (is_float || (parameter.type == "b32" && parameter.accessed_as.empty()));
}

bool is_float(ptx_parameter const& parameter)
{
  return may_be_float(parameter) && !parameter.accessed_as.empty();
}

bool is_double(ptx_parameter const& parameter)
{
  return parameter.accessed_as == "f64" || parameter.type == "f64";
}

/// Takes or returns a float, and no double.
bool is_float_function(ptx_function const& function)
{
  auto values = function.parameters;
  values.insert(values.end(), function.results.begin(), function.results.end());
  if (std::ranges::any_of(values, is_double)) return false;
  auto const may_all_be = function.results.size() == 1 && !function.parameters.empty() &&
                          std::ranges::all_of(values, may_be_float);
  return may_all_be || std::ranges::any_of(values, is_float);
}

std::vector<std::string> float_functions(ptx_interface const& interface)
{
  std::vector<std::string> names;
  for (auto const* functions : {&interface.definitions, &interface.weak})
    for (auto const& function : *functions)
      if (is_float_function(function)) names.push_back(function.name);
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<ptx::double_arithmetic> read_uses(fatbin_entry const& entry, std::string const& name)
try {
  return ptx::find_double_arithmetic(ptx::parse_module(read_ptx(entry, name), name));
} catch (ptx::syntax_error const&) {
  return {};  // a link reports it
}

finding make_warning(ptx::double_arithmetic const& use, std::string const& file)
{
  auto const place = use.place.empty() ? detail::format("line {} of the PTX", use.line) : use.place;
  return {
      .id = finding_id::double_arithmetic,
      .severity = severity::warning,
      .files = {file},
      .symbol = use.function,
      .message = detail::format("{}: {} is a function on float that computes in double ({}, {})",
                                file, use.function, use.instruction, place),
      .hint =
          "write float literals (0.5F; in Python numpy.float32(0.5)) and call float functions "
          "(sinf); double takes 2 to 64 times the time of float, by GPU"};
}

}  // namespace

std::vector<finding> find_double_arithmetic(fatbin const& module)
{
  std::vector<finding> findings;
  std::set<std::string> known;
  for (auto const& entry : module.entries()) {
    if (entry.kind != entry_kind::ptx || !shows_interface(entry) ||
        entry.uncompressed_size > k_most_text)
      continue;
    auto const names = float_functions(module.interface(entry));
    if (names.empty()) continue;
    for (auto const& use : read_uses(entry, module.name()))
      if (std::binary_search(names.begin(), names.end(), use.function) &&
          known.insert(use.function).second)
        findings.push_back(make_warning(use, module.name()));
  }
  return findings;
}

}  // namespace fatlink::detail
