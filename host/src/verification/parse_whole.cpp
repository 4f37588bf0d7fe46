// SPDX-License-Identifier: Apache-2.0
// The parser of whole_expression: a recursive descent that writes postfix code.
#include "verification/whole_expression.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "util/limits.hpp"

namespace fatlink::detail {
namespace {

constexpr unsigned k_most_nesting = 256;

bool is_letter(char c) noexcept
{
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) noexcept
{
  return c >= '0' && c <= '9';
}

/// The name at the start of `text`; empty if there is none.
std::string_view name_at(std::string_view text) noexcept
{
  if (text.empty() || !is_letter(text.front())) return {};
  auto const end = std::ranges::find_if_not(
      text, [](char c) { return is_letter(c) || is_digit(c) || c == '.'; });
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

std::string_view without_spaces(std::string_view text) noexcept
{
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text;
}

}  // namespace

/// Thrown within parse().
struct not_whole {};

/// Recursive descent; every function returns whether the value that its code leaves is an integer.
class whole_parser {
 public:
  whole_parser(std::string_view text, std::span<whole_variable const> variables)
      : rest_(text), variables_(variables)
  {
  }

  std::vector<whole_expression::instruction> parse()
  {
    auto const is_integer = read_choice();
    if (!is_integer || !without_spaces(rest_).empty() || (divides_ && has_real_)) throw not_whole{};
    return std::move(code_);
  }

 private:
  using step = whole_expression::step;
  struct binary {
    std::string_view token;
    step whole;
    step real;  ///< none: of integers only
  };
  // From the loosest level to the tightest; a token before those that it begins with.
  static constexpr std::array k_or{binary{"||", step::logical_or, step::none}};
  static constexpr std::array k_and{binary{"&&", step::logical_and, step::none}};
  static constexpr std::array k_compare{binary{"<=", step::less_equal, step::less_equal_real},
                                        binary{">=", step::greater_equal, step::greater_equal_real},
                                        binary{"==", step::equal, step::equal_real},
                                        binary{"!=", step::not_equal, step::not_equal_real},
                                        binary{"<", step::less, step::less_real},
                                        binary{">", step::greater, step::greater_real}};
  static constexpr std::array k_sum{binary{"+", step::add, step::add_real},
                                    binary{"-", step::subtract, step::subtract_real}};
  static constexpr std::array k_product{binary{"*", step::multiply, step::multiply_real},
                                        binary{"/", step::divide, step::divide_real},
                                        binary{"%", step::modulo, step::none}};
  static constexpr std::array<std::span<binary const>, 5> k_levels{k_or, k_and, k_compare, k_sum,
                                                                   k_product};
  static constexpr std::array k_functions{binary{"min", step::least, step::least_real},
                                          binary{"max", step::greatest, step::greatest_real},
                                          binary{"bit_and", step::bit_and, step::none},
                                          binary{"bit_or", step::bit_or, step::none},
                                          binary{"bit_xor", step::bit_xor, step::none}};

  bool accept(std::string_view token)
  {
    auto const text = without_spaces(rest_);
    if (!text.starts_with(token)) return false;
    rest_ = text.substr(token.size());
    return true;
  }
  void expect(std::string_view token)
  {
    if (!accept(token)) throw not_whole{};
  }
  void emit(step what)
  {
    if (what == step::none) throw not_whole{};
    code_.push_back({.what = what});
  }

  /// Makes both operands floats if one is; the code of the left one ends at `middle`.
  bool unify(bool left, bool right, std::size_t middle)
  {
    if (left == right) return left;
    auto const place = left ? middle : code_.size();
    code_.insert(code_.begin() + static_cast<std::ptrdiff_t>(place), {.what = step::to_real});
    return false;
  }

  bool join(bool left, bool right, std::size_t middle, binary const& operation)
  {
    auto const is_integer = unify(left, right, middle);
    divides_ = divides_ || (is_integer && operation.whole == step::divide);
    emit(is_integer ? operation.whole : operation.real);
    return is_integer || operation.whole >= step::less;
  }

  bool read_choice()
  {
    if (++depth_ > k_most_nesting) throw not_whole{};
    auto is_integer = read_level(0);
    if (accept("?")) {
      if (!is_integer) throw not_whole{};
      auto const yes = read_choice();
      auto const middle = code_.size();
      expect(":");
      is_integer = unify(yes, read_choice(), middle);
      emit(step::choose);
    }
    --depth_;
    return is_integer;
  }

  bool read_level(std::size_t level)
  {
    if (level == k_levels.size()) return read_unary();
    auto is_integer = read_level(level + 1);
    for (;;) {
      auto const middle = code_.size();
      auto const operations = k_levels.at(level);
      auto const operation = std::ranges::find_if(
          operations, [&](binary const& candidate) { return accept(candidate.token); });
      if (operation == operations.end()) return is_integer;
      is_integer = join(is_integer, read_level(level + 1), middle, *operation);
    }
  }

  bool read_unary()
  {
    std::vector<char> signs;
    while (true) {
      if (accept("-"))
        signs.push_back('-');
      else if (!without_spaces(rest_).starts_with("!=") && accept("!"))
        signs.push_back('!');
      else if (!accept("+"))
        break;
    }
    auto is_integer = read_primary();
    for (; !signs.empty(); signs.pop_back()) {
      if (signs.back() == '-')
        emit(is_integer ? step::negate : step::negate_real);
      else
        emit(is_integer ? step::logical_not : step::none);
    }
    return is_integer;
  }

  bool read_primary()
  {
    if (accept("(")) {
      auto const is_integer = read_choice();
      expect(")");
      return is_integer;
    }
    rest_ = without_spaces(rest_);
    auto const name = name_at(rest_);
    if (name.empty()) return read_number();
    rest_.remove_prefix(name.size());
    auto const variable = std::ranges::find(variables_, name, &whole_variable::name);
    if (variable == variables_.end()) return read_call(name);
    has_real_ = has_real_ || !variable->is_integer;
    code_.push_back({.what = step::load, .variable = variable->value});
    return variable->is_integer;
  }

  bool read_call(std::string_view name)
  {
    auto const function = std::ranges::find(k_functions, name, &binary::token);
    if (name != "abs" && function == k_functions.end()) throw not_whole{};
    expect("(");
    auto is_integer = read_choice();
    if (name == "abs") {
      emit(is_integer ? step::absolute : step::absolute_real);
    } else {
      do {
        auto const middle = code_.size();
        expect(",");
        is_integer = unify(is_integer, read_choice(), middle);
        emit(is_integer ? function->whole : function->real);
      } while (without_spaces(rest_).starts_with(','));
    }
    expect(")");
    return is_integer;
  }

  bool read_number()
  {
    auto const* const end = rest_.data() + rest_.size();
    double real = 0;
    auto const parsed = std::from_chars(rest_.data(), end, real);
    if (parsed.ec != std::errc{}) throw not_whole{};
    auto const text = rest_.substr(0, static_cast<std::size_t>(parsed.ptr - rest_.data()));
    rest_.remove_prefix(text.size());
    auto const is_integer = std::ranges::all_of(text, is_digit);
    number value{.real = real};
    if (is_integer) {
      std::uint64_t whole = 0;
      if (std::from_chars(text.data(), text.data() + text.size(), whole).ec != std::errc{})
        throw not_whole{};
      value = whole_number(whole);
    } else if (!is_digit(text.front())) {
      throw not_whole{};  // inf, nan
    }
    has_real_ = has_real_ || !is_integer;
    code_.push_back({.what = step::push, .value = value});
    return is_integer;
  }

  std::string_view rest_;
  std::span<whole_variable const> variables_;
  std::vector<whole_expression::instruction> code_;
  unsigned depth_ = 0;
  bool has_real_ = false;
  bool divides_ = false;
};

std::optional<whole_expression> whole_expression::parse(std::string_view text,
                                                        std::span<whole_variable const> variables)
try {
  if (text.size() > limits::k_expression_bytes) return std::nullopt;
  whole_expression parsed;
  parsed.code_ = whole_parser(text, variables).parse();
  parsed.stack_.reserve(parsed.code_.size());
  return parsed;
} catch (not_whole) {
  return std::nullopt;
}

std::optional<joined_operands> parse_joined(std::string_view text)
{
  text = without_spaces(text);
  auto const left = name_at(text);
  text = without_spaces(text.substr(left.size()));
  if (left.empty() || text.empty()) return std::nullopt;
  auto const operation = text.front();
  text = without_spaces(text.substr(1));
  auto const right = name_at(text);
  auto const rest = without_spaces(text.substr(right.size()));
  if (right.empty() || !rest.empty() ||
      std::string_view("+*<>").find(operation) == std::string_view::npos)
    return std::nullopt;
  return joined_operands{.left = left, .operation = operation, .right = right};
}

}  // namespace fatlink::detail
