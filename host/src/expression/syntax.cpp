// SPDX-License-Identifier: Apache-2.0
#include "expression/syntax.hpp"

#include <algorithm>
#include <charconv>
#include <numbers>
#include <span>

#include "expression/words.hpp"
#include "util/text/format.hpp"
#include "util/text/nearest.hpp"

namespace fatlink::detail {
namespace {

using code = expression_code;

struct operator_word {
  std::string_view word;
  code what;
  code between = code::number;  ///< what is put after the left operand, if anything
};

constexpr std::array k_ors{operator_word{"||", code::logical_or, code::after_or}};
constexpr std::array k_ands{operator_word{"&&", code::logical_and, code::after_and}};
constexpr std::array k_comparisons{
    operator_word{"<", code::less},    operator_word{"<=", code::less_equal},
    operator_word{">", code::greater}, operator_word{">=", code::greater_equal},
    operator_word{"==", code::equal},  operator_word{"!=", code::not_equal},
};
constexpr std::array k_sums{operator_word{"+", code::add}, operator_word{"-", code::subtract}};
constexpr std::array k_products{operator_word{"*", code::multiply},
                                operator_word{"/", code::divide},
                                operator_word{"%", code::remainder}};

[[noreturn]] void fail_unknown_function(std::string_view name, std::size_t place,
                                        expression_use use)
{
  auto known = list_functions(use);
  std::string list;
  for (auto const& each : known) list += (list.empty() ? "" : ", ") + each;
  std::ranges::stable_sort(known, {},
                           &std::string::size);  // of two that are as similar the shorter
  auto const similar = nearest(known, name);
  throw expression_error(
      detail::format("unknown function {} at character {}", printable_line(name), place),
      similar.empty() ? "the functions are " + list : detail::format("did you mean {}?", similar));
}

[[noreturn]] void fail_count(expression_function const& function, std::size_t place,
                             unsigned expected, unsigned count)
{
  throw expression_error(
      detail::format("{} at character {} takes {} argument{}, not {}", function.name, place,
                     expected, expected == 1 ? "" : "s", count),
      "docs/expressions.md lists the functions with their arguments");
}

/// Of a function with a fixed number of arguments; 0 of others.
unsigned argument_count(expression_function const& function) noexcept
{
  if (function.of_three != nullptr) return 3;
  if (function.of_two != nullptr) return 2;
  return function.of_one != nullptr || function.code == code::absolute ? 1 : 0;
}

/// @throws expression_error `word` is no number.
syntax_node number_of(std::string_view word, std::size_t place)
{
  auto const* const end = word.data() + word.size();
  syntax_node node{.place = static_cast<std::uint32_t>(place)};
  auto const real = std::from_chars(word.data(), end, node.real);
  if (real.ec != std::errc{} || real.ptr != end)
    throw expression_error(
        real.ec == std::errc::result_out_of_range
            ? detail::format("{} at character {} is out of the range of double",
                             printable_line(word), place)
            : detail::format("'{}' at character {} is not a number", printable_line(word), place),
        "write a number such as 1024, 0.5 or 1e-3");
  auto const whole = std::from_chars(word.data(), end, node.whole);
  node.is_whole = whole.ec == std::errc{} && whole.ptr == end;
  return node;
}

}  // namespace

/// Recursive descent.
class syntax_parser {
 public:
  syntax_parser(std::string_view text, expression_use use, expression_syntax& result)
      : words_(text), use_(use), result_(result)
  {
  }

  void parse()
  {
    parse_expression();
    words_.expect_end();
  }

 private:
  void emit(code what, std::size_t place)
  {
    result_.nodes_.push_back({.code = what, .place = static_cast<std::uint32_t>(place)});
  }

  void parse_expression()
  {
    nesting_level const level(depth_);
    parse_or();
    auto const place = words_.place();
    if (!words_.take_if("?")) return;
    emit(code::after_condition, place);
    parse_expression();
    words_.expect(":");
    emit(code::after_choice, place);
    parse_expression();
    emit(code::choose, place);
  }

  void parse_or() { parse_chain(k_ors, &syntax_parser::parse_and); }
  void parse_and() { parse_chain(k_ands, &syntax_parser::parse_comparison); }

  void parse_comparison()
  {
    parse_sum();
    take_operation(k_comparisons, &syntax_parser::parse_sum);
  }

  void parse_sum() { parse_chain(k_sums, &syntax_parser::parse_product); }
  void parse_product() { parse_chain(k_products, &syntax_parser::parse_unary); }

  void parse_chain(std::span<operator_word const> operators, void (syntax_parser::*parse_side)())
  {
    (this->*parse_side)();
    while (take_operation(operators, parse_side)) {
    }
  }

  /// An operator and what is to its right; false if there is none.
  bool take_operation(std::span<operator_word const> operators, void (syntax_parser::*parse_side)())
  {
    auto const place = words_.place();
    auto const next = std::ranges::find_if(
        operators, [&](operator_word const& candidate) { return words_.is(candidate.word); });
    if (next == operators.end()) return false;
    words_.take();
    if (next->between != code::number) emit(next->between, place);
    (this->*parse_side)();
    emit(next->what, place);
    return true;
  }

  void parse_unary()
  {
    std::vector<syntax_node> signs;
    for (; words_.is("-") || words_.is("!") || words_.is("+"); words_.take())
      if (!words_.is("+"))
        signs.push_back({.code = words_.is("-") ? code::negate : code::logical_not,
                         .place = static_cast<std::uint32_t>(words_.place())});
    parse_power();
    result_.nodes_.insert(result_.nodes_.end(), signs.rbegin(), signs.rend());
  }

  void parse_power()
  {
    parse_operand();
    auto const place = words_.place();
    if (!words_.take_if("^")) return;
    nesting_level const level(depth_);
    parse_unary();
    emit(code::power, place);
  }

  void parse_operand()
  {
    auto const place = words_.place();
    if (words_.current_kind() == expression_words::kind::number) {
      result_.nodes_.push_back(number_of(words_.take(), place));
      return;
    }
    if (words_.take_if("(")) {
      parse_expression();
      words_.expect(")");
      return;
    }
    auto const name = words_.take_name("a number, a name or '('");
    if (!words_.take_if("(")) return emit_name(std::string(name), place);
    parse_call(name, place);
    words_.expect(")");
  }

  void emit_name(std::string name, std::size_t place)
  {
    if (name == "pi" && use_ == expression_use::reference) {
      result_.nodes_.push_back({.is_whole = false,
                                .place = static_cast<std::uint32_t>(place),
                                .real = std::numbers::pi});
      return;
    }
    auto& names = result_.names_;
    auto const index = std::ranges::find(names, name) - names.begin();
    if (index == static_cast<std::ptrdiff_t>(names.size())) names.push_back(std::move(name));
    result_.nodes_.push_back({.code = code::name,
                              .place = static_cast<std::uint32_t>(place),
                              .index = static_cast<std::uint32_t>(index)});
  }

  void parse_call(std::string_view name, std::size_t place)
  {
    auto const* const function = find_function(name, use_);
    if (function == nullptr) fail_unknown_function(name, place, use_);
    if (function->code == code::name) {
      auto const* const what = name == "sizeof" ? "an argument or a type" : "a kernel";
      return emit_name(detail::format("{}({})", name, words_.take_name(what)), place);
    }
    auto const count = parse_arguments(*function, place);
    auto const expected = argument_count(*function);
    if (expected != 0 && count != expected) fail_count(*function, place, expected, count);
    if (expected != 0)
      result_.nodes_.push_back({.code = function->code,
                                .place = static_cast<std::uint32_t>(place),
                                .function = function});
    if (name == "avg") {
      result_.nodes_.push_back({.is_whole = false, .real = static_cast<double>(count)});
      emit(code::divide, place);
    }
  }

  /// With what a function of any number of arguments does between two of them.
  unsigned parse_arguments(expression_function const& function, std::size_t place)
  {
    parse_expression();
    unsigned count = 1;
    for (; words_.take_if(","); ++count) {
      parse_expression();
      if (argument_count(function) == 0) emit(function.code, place);
    }
    return count;
  }

  expression_words words_;
  expression_use use_;
  expression_syntax& result_;
  unsigned depth_ = 0;
};

expression_syntax::expression_syntax(std::string_view text, expression_use use)
{
  syntax_parser(text, use, *this).parse();
}

std::optional<joined_names> expression_syntax::joined() const noexcept
{
  if (nodes_.size() != 3 || nodes_[0].code != code::name || nodes_[1].code != code::name ||
      operand_count(nodes_[2]) != 2)
    return std::nullopt;
  return joined_names{names_[nodes_[0].index], nodes_[2].code, names_[nodes_[1].index]};
}

std::string_view base_of(std::string_view name) noexcept
{
  return name.substr(0, name.find('.'));
}

unsigned operand_count(syntax_node const& node) noexcept
{
  switch (node.code) {
    case code::number:
    case code::name:
    case code::after_condition:
    case code::after_choice:
    case code::after_and:
    case code::after_or:
      return 0;
    case code::negate:
    case code::logical_not:
    case code::absolute:
      return 1;
    case code::choose:
      return 3;
    case code::call:
      return argument_count(*node.function);
    default:
      return 2;
  }
}

}  // namespace fatlink::detail
