// SPDX-License-Identifier: Apache-2.0
#include "expression/formula.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "expression/syntax.hpp"
#include "util/limits.hpp"
#include "util/text/format.hpp"
#include "util/text/nearest.hpp"

namespace fatlink::detail {
namespace {

using code = expression_code;
using instruction = formula::instruction;

/// Values that the instructions of a formula have on the stack at a time, at most: four for each
/// level of nesting (of a comparison, a sum, a product and a function), and the innermost.
constexpr std::size_t k_stack = 4 * (limits::k_expression_depth + 1) + 4;

[[noreturn]] void fail_formula(std::string const& cause, instruction const& at, char const* hint)
{
  throw expression_error(detail::format("{} (at character {})", cause, at.place), hint);
}

[[noreturn]] void fail_overflow(std::int64_t a, char const* sign, std::int64_t b,
                                instruction const& at)
{
  fail_formula(detail::format("{} {} {} overflows 64 bits", a, sign, b), at,
               "use smaller sizes, or divide before numbers are multiplied");
}

[[noreturn]] void fail_division(std::int64_t a, std::int64_t b, instruction const& at)
{
  auto const* const sign = at.code == code::remainder ? "%" : "/";
  if (b == 0)
    fail_formula(detail::format("division by zero: {} {} 0", a, sign), at,
                 "use max(1, …) as the divisor, or a condition: b == 0 ? 0 : a / b");
  fail_formula(detail::format("division of a negative number: {} {} {}", a, sign, b), at,
               "divide only numbers that are not negative");
}

std::int64_t divide(std::int64_t a, std::int64_t b, instruction const& at)
{
  if (a < 0 || b <= 0) fail_division(a, b, at);
  if (at.code == code::remainder) return a % b;
  return a / b + (at.code == code::call && a % b != 0 ? 1 : 0);
}

std::int64_t add(std::int64_t a, std::int64_t b, instruction const& at)
{
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) fail_overflow(a, "+", b, at);
  return result;
}

std::int64_t subtract(std::int64_t a, std::int64_t b, instruction const& at)
{
  std::int64_t result = 0;
  if (__builtin_sub_overflow(a, b, &result)) fail_overflow(a, "-", b, at);
  return result;
}

std::int64_t multiply(std::int64_t a, std::int64_t b, instruction const& at)
{
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) fail_overflow(a, "*", b, at);
  return result;
}

/// The result of an operation with two operands.
std::int64_t combine(std::int64_t a, std::int64_t b, instruction const& at)
{
  switch (at.code) {
    case code::add:
      return add(a, b, at);
    case code::subtract:
      return subtract(a, b, at);
    case code::multiply:
      return multiply(a, b, at);
    case code::divide:
    case code::call:
    case code::remainder:
      return divide(a, b, at);
    case code::less:
      return a < b ? 1 : 0;
    case code::less_equal:
      return a <= b ? 1 : 0;
    case code::greater:
      return a > b ? 1 : 0;
    case code::greater_equal:
      return a >= b ? 1 : 0;
    case code::equal:
      return a == b ? 1 : 0;
    case code::not_equal:
      return a != b ? 1 : 0;
    case code::minimum:
      return std::min(a, b);
    case code::maximum:
      return std::max(a, b);
    case code::bit_and:
      return a & b;
    case code::bit_or:
      return a | b;
    case code::bit_xor:
      return a ^ b;
    default:
      return 0;  // of one operand or none
  }
}

/// The names that symbols have, or take in `call`, "sizeof(".
std::vector<std::string> list_names(formula_symbols const& symbols, std::string_view call)
{
  std::vector<std::string> names;
  for (auto const& [key, meaning] : symbols)
    if (key.find('(') + 1 == call.size() && key.starts_with(call))
      names.push_back(key.substr(call.size(), key.size() - call.size() - (call.empty() ? 0 : 1)));
  return names;
}

/// @throws expression_error `name`, "n" or "sizeof(in)", is not in `symbols`.
[[noreturn]] void fail_unknown(std::string const& name, formula_symbols const& symbols)
{
  auto const call = name.substr(0, name.find('(') + 1);
  auto const* const hint = call == "occupancy(" ? "name the kernel of a launch of this plan"
                           : call == "sizeof("  ? "name an argument or a type"
                                                : "use a size, a name in \"let\", multiprocessors "
                                                  "or shared_memory";
  auto const* const end = call.empty() ? "" : ")";
  auto const operand = std::string_view(name).substr(
      call.size(), name.size() - call.size() - std::string_view(end).size());
  auto const similar = nearest(list_names(symbols, call), operand);
  throw expression_error(
      detail::format("unknown name {}", printable_line(name)),
      similar.empty() ? hint : detail::format("did you mean {}{}{}?", call, similar, end));
}

class formula_compiler {
 public:
  formula_compiler(std::string_view text, formula_symbols const& symbols)
      : text_(text), syntax_(text, expression_use::formula), symbols_(symbols)
  {
  }

  std::vector<instruction> compile()
  {
    auto const& nodes = syntax_.nodes();
    for (std::size_t i = 0; i < nodes.size(); ++i)
      compile(nodes[i], i == 0 ? code::number : nodes[i - 1].code);
    return std::move(program_);
  }

 private:
  /// `last`: what is done before it.
  void compile(syntax_node const& node, code last)
  {
    switch (node.code) {
      case code::number:
        return emit_number(node);
      case code::name:
        return emit_name(node);
      case code::call:
        return round_up(node, last);
      case code::power:
        throw expression_error(
            detail::format("'^' at character {} is not an operator of integers", node.place),
            "multiply: n * n");
      case code::after_condition:
      case code::after_and:
        return open(code::after_condition, node);
      case code::after_choice:
        return close_and_open(node);
      case code::after_or:
        open(code::after_condition, node);
        emit(code::number, node, 1);
        return close_and_open(node);
      case code::logical_and:
        emit_truth(node);
        close_and_open(node);
        emit(code::number, node, 0);
        return close();
      case code::logical_or:
        emit_truth(node);
        return close();
      case code::choose:
        return close();
      default:
        emit(node.code, node, 0);
    }
  }

  void emit(code what, syntax_node const& node, std::int64_t value)
  {
    program_.push_back({what, node.place, value});
  }

  void emit_number(syntax_node const& node)
  {
    auto const rest = text_.substr(node.place - 1);
    auto const word = expression_words(rest).take();
    auto const has_digits_only = word.find_first_not_of("0123456789") == word.npos;
    if (!has_digits_only) fail_fraction(word, node.place);
    if (!node.is_whole || node.whole > std::numeric_limits<std::int64_t>::max()) fail_large(word);
    emit(code::number, node, static_cast<std::int64_t>(node.whole));
  }

  void emit_name(syntax_node const& node)
  {
    auto const& name = syntax_.names()[node.index];
    auto const symbol = symbols_.find(name);
    if (symbol == symbols_.end()) fail_unknown(name, symbols_);
    auto const [is_constant, value] = symbol->second;
    emit(is_constant ? code::number : code::name, node, value);
  }

  /// The only function of formulas that is a call is ceil.
  void round_up(syntax_node const& node, code last)
  {
    if (last != code::divide)
      throw expression_error(detail::format("ceil at character {} has no division", node.place),
                             "write it as ceil(a / b): it rounds the division up");
    program_.back().code = code::call;
  }

  void emit_truth(syntax_node const& node)
  {
    emit(code::number, node, 0);
    emit(code::not_equal, node, 0);
  }

  /// A jump to where close() is called.
  void open(code jump, syntax_node const& node)
  {
    jumps_.push_back(program_.size());
    emit(jump, node, 0);
  }
  void close()
  {
    program_[jumps_.back()].value = static_cast<std::int64_t>(program_.size());
    jumps_.pop_back();
  }
  /// Closes a jump behind another one.
  void close_and_open(syntax_node const& node)
  {
    auto const first = jumps_.back();
    jumps_.back() = program_.size();
    emit(code::after_choice, node, 0);
    program_[first].value = static_cast<std::int64_t>(program_.size());
  }

  std::string_view text_;
  expression_syntax syntax_;
  formula_symbols const& symbols_;
  std::vector<instruction> program_ = {};
  std::vector<std::size_t> jumps_ = {};
};

std::vector<std::size_t> list_uses(std::vector<instruction> const& program)
{
  std::vector<std::size_t> indices;
  for (auto const& step : program)
    if (step.code == code::name) indices.push_back(static_cast<std::size_t>(step.value));
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  return indices;
}

}  // namespace

formula::formula(std::string text, formula_symbols const& symbols)
    : text_(std::move(text)),
      program_(formula_compiler(text_, symbols).compile()),
      uses_(list_uses(program_))
{
}

bool formula::is_name() const noexcept
{
  return program_.size() == 1 && program_[0].code == code::name;
}

std::optional<std::int64_t> formula::solve(std::int64_t result) const noexcept
{
  if (is_name()) return result;
  if (program_.size() != 3) return std::nullopt;
  auto const is_reversed = program_[0].code == code::number && program_[1].code == code::name;
  auto const is_plain = program_[0].code == code::name && program_[1].code == code::number;
  if (!is_plain && !is_reversed) return std::nullopt;
  auto const number = program_[is_plain ? 1 : 0].value;
  std::int64_t value = 0;
  switch (program_[2].code) {
    case code::add:
      if (__builtin_sub_overflow(result, number, &value)) return std::nullopt;
      return value;
    case code::subtract:
      if (is_reversed || __builtin_add_overflow(result, number, &value)) return std::nullopt;
      return value;
    case code::multiply:
      if (number <= 0 || result % number != 0) return std::nullopt;
      return result / number;
    default:
      return std::nullopt;
  }
}

std::int64_t formula::run(std::int64_t const* values) const
{
  std::array<std::int64_t, k_stack> stack;  // NOLINT: not set, because that takes longer
  auto* top = stack.data();                 // above the last value
  for (std::size_t next = 0; next < program_.size();) {
    auto const& step = program_[next++];
    switch (step.code) {
      case code::number:
        *top++ = step.value;
        break;
      case code::name:
        *top++ = values[step.value];
        break;
      case code::negate:
        top[-1] = subtract(0, top[-1], step);
        break;
      case code::logical_not:
        top[-1] = top[-1] == 0 ? 1 : 0;
        break;
      case code::absolute:
        if (top[-1] < 0) top[-1] = subtract(0, top[-1], step);
        break;
      case code::after_choice:
        next = static_cast<std::size_t>(step.value);
        break;
      case code::after_condition:
        if (*--top == 0) next = static_cast<std::size_t>(step.value);
        break;
      default:
        --top;
        top[-1] = combine(top[-1], top[0], step);
    }
  }
  return stack[0];
}

}  // namespace fatlink::detail
