// SPDX-License-Identifier: Apache-2.0
#include "expression/program.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "expression/words.hpp"
#include "util/text/format.hpp"
#include "util/text/nearest.hpp"

namespace fatlink::detail {
namespace {

using code = expression_code;

// Two codes more, which no text has.
constexpr auto k_to_real = code::number;  // of an integer
constexpr auto k_is_true = code::name;    // of a double

/// r[i] = f(a[i], …). A result shares no memory with an operand, so the loop can be vectorised.
template <typename Result, typename Function, typename... Operand>
void each(std::size_t count, Result* __restrict result, Function const& function,
          Operand const*... operands)
{
  for (std::size_t i = 0; i < count; ++i) result[i] = function(operands[i]...);
}

bool compares(code what) noexcept
{
  return what >= code::less && what <= code::not_equal;
}

/// Operations that have integers as operands and result only.
bool is_of_integers(code what) noexcept
{
  return what == code::remainder || (what >= code::bit_and && what <= code::bit_xor);
}

/// Operations that give 1 or 0.
bool is_logical(code what) noexcept
{
  return compares(what) || what == code::logical_and || what == code::logical_or ||
         what == code::logical_not;
}

// NaN if one operand is, as in the arithmetic of a transform.
double nan_minimum(double a, double b)
{
  return std::isnan(a) || a < b ? a : b;
}
double nan_maximum(double a, double b)
{
  return std::isnan(a) || a > b ? a : b;
}

/// Modulo 2^128, as unsigned arithmetic is.
template <typename Operation>
int128 modular(int128 a, int128 b, Operation const& operation)
{
  return static_cast<int128>(operation(static_cast<uint128>(a), static_cast<uint128>(b)));
}
int128 negated(int128 a)
{
  return modular(0, a, std::minus<>());
}
int128 quotient(int128 a, int128 b)
{
  if (b == 0) return 0;
  return b == -1 ? negated(a) : a / b;
}
int128 remainder_of(int128 a, int128 b)
{
  return b == 0 || b == -1 ? 0 : a % b;
}

}  // namespace

void expression_program::combine_reals(instruction const& next, std::size_t count)
{
  auto* const result = own_reals_[next.result].get();
  auto const* const a = reals_[next.a];
  auto const* const b = reals_[next.b];
  switch (next.code) {
    case code::add:
      return each(count, result, std::plus<>(), a, b);
    case code::subtract:
      return each(count, result, std::minus<>(), a, b);
    case code::multiply:
      return each(count, result, std::multiplies<>(), a, b);
    case code::divide:
      return each(count, result, std::divides<>(), a, b);
    case code::minimum:
      return each(
          count, result, [](double x, double y) { return nan_minimum(x, y); }, a, b);
    case code::maximum:
      return each(
          count, result, [](double x, double y) { return nan_maximum(x, y); }, a, b);
    case code::power:
      return each(
          count, result, [](double x, double y) { return std::pow(x, y); }, a, b);
    case code::negate:
      return each(count, result, std::negate<>(), a);
    case code::absolute:
      return each(
          count, result, [](double x) { return std::abs(x); }, a);
    default:
      return;
  }
}

void expression_program::compare_reals(instruction const& next, std::size_t count)
{
  auto* const result = own_wholes_[next.result].get();
  auto const* const a = reals_[next.a];
  auto const* const b = reals_[next.b];
  switch (next.code) {
    case code::less:
      return each(count, result, std::less<>(), a, b);
    case code::less_equal:
      return each(count, result, std::less_equal<>(), a, b);
    case code::greater:
      return each(count, result, std::greater<>(), a, b);
    case code::greater_equal:
      return each(count, result, std::greater_equal<>(), a, b);
    case code::equal:
      return each(
          count, result, [](double x, double y) { return x == y; }, a, b);
    case code::not_equal:
      return each(
          count, result, [](double x, double y) { return x != y; }, a, b);
    case k_is_true:
      return each(
          count, result, [](double x) { return x != 0; }, a);
    default:
      return;
  }
}

void expression_program::combine_wholes(instruction const& next, std::size_t count)
{
  auto* const result = own_wholes_[next.result].get();
  auto const* const a = wholes_[next.a];
  auto const* const b = wholes_[next.b];
  auto const combine = [&](auto const& operation) { each(count, result, operation, a, b); };
  switch (next.code) {
    case code::add:
      return combine([](int128 x, int128 y) { return modular(x, y, std::plus<>()); });
    case code::subtract:
      return combine([](int128 x, int128 y) { return modular(x, y, std::minus<>()); });
    case code::multiply:
      return combine([](int128 x, int128 y) { return modular(x, y, std::multiplies<>()); });
    case code::divide:
      return combine(quotient);
    case code::remainder:
      return combine(remainder_of);
    case code::minimum:
      return combine([](int128 x, int128 y) { return std::min(x, y); });
    case code::maximum:
      return combine([](int128 x, int128 y) { return std::max(x, y); });
    case code::bit_and:
      return combine(std::bit_and<>());
    case code::bit_or:
      return combine(std::bit_or<>());
    case code::bit_xor:
      return combine(std::bit_xor<>());
    case code::less:
      return combine(std::less<>());
    case code::less_equal:
      return combine(std::less_equal<>());
    case code::greater:
      return combine(std::greater<>());
    case code::greater_equal:
      return combine(std::greater_equal<>());
    case code::equal:
      return combine(std::equal_to<>());
    case code::not_equal:
      return combine(std::not_equal_to<>());
    case code::logical_and:
      return combine([](int128 x, int128 y) { return x != 0 && y != 0; });
    case code::logical_or:
      return combine([](int128 x, int128 y) { return x != 0 || y != 0; });
    case code::negate:
      return each(count, result, negated, a);
    case code::absolute:
      return each(
          count, result, [](int128 x) { return x < 0 ? negated(x) : x; }, a);
    case code::logical_not:
      return each(
          count, result, [](int128 x) { return x == 0; }, a);
    default:
      return;
  }
}

void expression_program::call(instruction const& next, std::size_t count)
{
  auto* const result = own_reals_[next.result].get();
  auto const& function = *next.function;
  if (function.of_one != nullptr)
    each(count, result, function.of_one, reals_[next.a]);
  else if (function.of_two != nullptr)
    each(count, result, function.of_two, reals_[next.a], reals_[next.b]);
  else
    each(count, result, function.of_three, reals_[next.a], reals_[next.b], reals_[next.c]);
}

void expression_program::execute(instruction const& next, std::size_t count)
{
  auto const choose = [](int128 condition, auto yes, auto no) { return condition != 0 ? yes : no; };
  if (next.code == code::call) return call(next, count);
  if (next.code == k_to_real)
    return each(
        count, own_reals_[next.result].get(), [](int128 x) { return static_cast<double>(x); },
        wholes_[next.a]);
  if (next.code == code::choose && next.takes_reals)
    return each(count, own_reals_[next.result].get(), choose, wholes_[next.a], reals_[next.b],
                reals_[next.c]);
  if (next.code == code::choose)
    return each(count, own_wholes_[next.result].get(), choose, wholes_[next.a], wholes_[next.b],
                wholes_[next.c]);
  if (!next.takes_reals) return combine_wholes(next, count);
  if (compares(next.code) || next.code == k_is_true) return compare_reals(next, count);
  combine_reals(next, count);
}

/// Finds the types of all parts of an expression, then writes the instructions.
class program_compiler {
 public:
  program_compiler(expression_syntax const& syntax, std::span<expression_variable const> variables,
                   std::size_t capacity, expression_program& result)
      : syntax_(syntax),
        nodes_(syntax.nodes()),
        variables_(variables),
        capacity_(capacity),
        result_(result),
        parts_(nodes_.size())
  {
    for (auto const& variable : variables) {
      result_.reals_.push_back(variable.reals);
      result_.wholes_.push_back(variable.wholes);
    }
  }

  void compile()
  {
    find_names();
    for (std::size_t i = 0; i < nodes_.size(); ++i) find_operands(i);
    for (std::size_t i = 0; i < nodes_.size(); ++i) find_type(i);
    for (auto i = nodes_.size(); i-- > 0;) find_need(i);
    for (std::size_t i = 0; i < nodes_.size(); ++i) parts_[i].value = write(i);
    auto const& last = parts_.back();
    result_.is_integer_ = last.is_integer;
    result_.result_ = last.value.place;
  }

 private:
  /// Where the value of a part is.
  struct located {
    bool is_real = false;
    bool is_constant = false;
    std::uint32_t place = 0;
  };
  struct part {
    std::array<std::uint32_t, 3> operands = {};
    bool is_integer = true;
    bool needs_real = false;  ///< what uses it takes doubles
    located value = {};
  };
  /// Registers of one type that are free again.
  struct free_places {
    std::vector<std::uint32_t> constants = {};
    std::vector<std::uint32_t> others = {};
  };

  void find_names()
  {
    for (auto const& name : syntax_.names()) {
      auto const place = std::ranges::find(variables_, name, &expression_variable::name);
      if (place == variables_.end()) fail_unknown(name);
      places_.push_back(static_cast<std::uint32_t>(place - variables_.begin()));
    }
    has_reals_ = std::ranges::any_of(nodes_, [&](syntax_node const& node) {
      return (node.code == code::number && !node.is_whole) || node.code == code::call ||
             node.code == code::power || (node.code == code::name && !variable_of(node).is_integer);
    });
  }

  [[noreturn]] void fail_unknown(std::string const& name) const
  {
    std::vector<std::string> known;
    for (auto const& variable : variables_) known.push_back(variable.name);
    auto const node = std::ranges::find_if(nodes_, [&](syntax_node const& each) {
      return each.code == code::name && syntax_.names()[each.index] == name;
    });
    auto const similar = nearest(known, name);
    throw expression_error(
        detail::format("unknown name {} at character {}", printable_line(name), node->place),
        similar.empty() ? similar : detail::format("did you mean {}?", similar));
  }

  [[nodiscard]] expression_variable const& variable_of(syntax_node const& node) const
  {
    return variables_[places_[node.index]];
  }

  static bool is_between(syntax_node const& node) noexcept
  {
    return node.code >= code::after_condition;
  }

  void find_operands(std::size_t index)
  {
    auto const& node = nodes_[index];
    if (is_between(node)) return;
    auto const count = operand_count(node);
    std::copy_n(stack_.end() - count, count, parts_[index].operands.begin());
    stack_.resize(stack_.size() - count);
    stack_.push_back(static_cast<std::uint32_t>(index));
  }

  [[nodiscard]] part& operand(std::size_t index, std::size_t number)
  {
    return parts_[parts_[index].operands.at(number)];
  }

  void find_type(std::size_t index)
  {
    auto const& node = nodes_[index];
    auto& own = parts_[index];
    auto const is_integer = [&](std::size_t number) { return operand(index, number).is_integer; };
    if (node.code == code::number) {
      own.is_integer = node.is_whole;
    } else if (node.code == code::name) {
      own.is_integer = variable_of(node).is_integer;
    } else if (node.code == code::call || node.code == code::power) {
      own.is_integer = false;
    } else if (node.code == code::choose) {
      own.is_integer = is_integer(1) && is_integer(2);
    } else if (!is_between(node) && !is_logical(node.code)) {
      own.is_integer = is_integer(0) && (operand_count(node) == 1 || is_integer(1)) &&
                       (node.code != code::divide || !has_reals_);
      if (!own.is_integer && is_of_integers(node.code)) fail_doubles(node);
    }
  }

  [[noreturn]] static void fail_doubles(syntax_node const& node)
  {
    auto const name = node.code == code::remainder ? "%"
                      : node.code == code::bit_and ? "bit_and"
                      : node.code == code::bit_or  ? "bit_or"
                                                   : "bit_xor";
    throw expression_error(
        detail::format("{} at character {} takes integers, not floating-point numbers", name,
                       node.place),
        node.code == code::remainder ? "write fmod(a, b)" : "use it for names of integer types");
  }

  /// Whether the part computes doubles: because its type is double, or because they are needed.
  [[nodiscard]] bool computes_reals(std::size_t index) const
  {
    auto const what = nodes_[index].code;
    auto const& own = parts_[index];
    return !own.is_integer || (own.needs_real && !is_logical(what) && !is_of_integers(what));
  }

  /// Whether a comparison is one of doubles.
  [[nodiscard]] bool compares_reals(std::size_t index)
  {
    return compares(nodes_[index].code) &&
           !(operand(index, 0).is_integer && operand(index, 1).is_integer);
  }

  /// Sets needs_real of the operands.
  void find_need(std::size_t index)
  {
    auto const& node = nodes_[index];
    auto const takes_reals =
        compares_reals(index) ||
        (!is_logical(node.code) && !is_of_integers(node.code) && computes_reals(index));
    for (unsigned i = node.code == code::choose ? 1 : 0; i < operand_count(node); ++i)
      operand(index, i).needs_real = takes_reals;
  }

  located write(std::size_t index)
  {
    auto result = write_own(index);
    if (parts_[index].needs_real && !result.is_real && !is_between(nodes_[index]))
      result = emit({.code = k_to_real}, true, {result}, 1);
    return result;
  }

  located write_own(std::size_t index)
  {
    auto const& node = nodes_[index];
    auto const is_real = computes_reals(index);
    if (is_between(node)) return {};
    if (node.code == code::number) return write_number(node, is_real);
    if (node.code == code::name) return {.is_real = is_real, .place = places_[node.index]};
    auto const count = operand_count(node);
    std::array<located, 3> operands;
    for (unsigned i = 0; i < count; ++i) operands.at(i) = operand(index, i).value;
    auto const takes_truths = is_logical(node.code) && !compares(node.code);
    for (unsigned i = 0; i < (node.code == code::choose ? 1 : takes_truths ? count : 0); ++i)
      operands.at(i) = as_truth(operands.at(i));
    if (is_square(index)) {
      operands[1] = operands[0];
      return emit({.code = code::multiply, .takes_reals = true}, true, operands, count);
    }
    return emit({.code = node.code,
                 .takes_reals = is_real || compares_reals(index),
                 .function = node.function},
                is_real, operands, count);
  }

  located as_truth(located const& operand)
  {
    if (!operand.is_real) return operand;
    return emit({.code = k_is_true, .takes_reals = true}, false, {operand}, 1);
  }

  /// x ^ 2, which a product gives correctly rounded.
  [[nodiscard]] bool is_square(std::size_t index)
  {
    if (nodes_[index].code != code::power) return false;
    auto const& exponent = nodes_[parts_[index].operands[1]];
    return exponent.code == code::number && exponent.is_whole && exponent.whole == 2;
  }

  located write_number(syntax_node const& node, bool is_real)
  {
    located const result{
        .is_real = is_real, .is_constant = true, .place = take_place(is_real, true)};
    auto const own = result.place - variables_.size();
    if (is_real)
      std::fill_n(result_.own_reals_[own].get(), capacity_, node.real);
    else
      std::fill_n(result_.own_wholes_[own].get(), capacity_, static_cast<int128>(node.whole));
    return result;
  }

  /// A register that no value is in.
  std::uint32_t take_place(bool is_real, bool is_constant)
  {
    auto& free = is_real ? free_reals_ : free_wholes_;
    auto& places = is_constant ? free.constants : free.others;
    if (!places.empty()) {
      auto const place = places.back();
      places.pop_back();
      return place;
    }
    if (is_real) {
      result_.own_reals_.push_back(std::make_unique<double[]>(capacity_));
      result_.reals_.push_back(result_.own_reals_.back().get());
      return static_cast<std::uint32_t>(result_.reals_.size() - 1);
    }
    result_.own_wholes_.push_back(std::make_unique<int128[]>(capacity_));
    result_.wholes_.push_back(result_.own_wholes_.back().get());
    return static_cast<std::uint32_t>(result_.wholes_.size() - 1);
  }

  /// An operation of constants is executed now, once; its operands are then needed no more.
  located emit(expression_program::instruction next, bool is_real,
               std::array<located, 3> const& operands, unsigned count)
  {
    auto const used = std::span(operands).first(count);
    auto const is_constant = std::ranges::all_of(used, &located::is_constant);
    located const result{
        .is_real = is_real, .is_constant = is_constant, .place = take_place(is_real, is_constant)};
    next.result = static_cast<std::uint32_t>(result.place - variables_.size());
    next.a = operands[0].place;
    next.b = operands[1].place;
    next.c = operands[2].place;
    if (is_constant)
      result_.execute(next, capacity_);
    else
      result_.program_.push_back(next);
    for (auto const& operand : used)
      if (operand.is_constant == is_constant) release(operand);
    return result;
  }

  void release(located const& operand)
  {
    if (operand.place < variables_.size()) return;
    auto& free = operand.is_real ? free_reals_ : free_wholes_;
    auto& places = operand.is_constant ? free.constants : free.others;
    if (std::ranges::find(places, operand.place) == places.end()) places.push_back(operand.place);
  }

  expression_syntax const& syntax_;
  std::vector<syntax_node> const& nodes_;
  std::span<expression_variable const> variables_;
  std::size_t capacity_;
  expression_program& result_;
  std::vector<part> parts_;
  std::vector<std::uint32_t> places_ = {};  ///< of each name its variable
  std::vector<std::uint32_t> stack_ = {};
  bool has_reals_ = false;
  free_places free_reals_ = {};
  free_places free_wholes_ = {};
};

expression_program::expression_program(expression_syntax const& syntax,
                                       std::span<expression_variable const> variables,
                                       std::size_t capacity)
{
  program_compiler(syntax, variables, capacity, *this).compile();
}

}  // namespace fatlink::detail
