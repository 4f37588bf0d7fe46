// SPDX-License-Identifier: Apache-2.0
#include "plan/parse_formula.hpp"

#include <array>
#include <optional>
#include <string>

#include "plan/formula_words.hpp"
#include "util/limits.hpp"
#include "util/text/format.hpp"
#include "util/text/nearest.hpp"
#include "util/text/printable.hpp"

namespace fatlink::detail {
namespace {

using opcode = formula::operation;

static_assert(k_formula_stack >= 4 * (limits::k_expression_depth + 1));

struct operator_word {
  char const* word;
  opcode code;
};

constexpr std::array k_comparisons{
    operator_word{"<", opcode::less},    operator_word{"<=", opcode::less_equal},
    operator_word{">", opcode::greater}, operator_word{">=", opcode::greater_equal},
    operator_word{"==", opcode::equal},  operator_word{"!=", opcode::not_equal},
};
constexpr std::array k_sums{operator_word{"+", opcode::add}, operator_word{"-", opcode::subtract}};
constexpr std::array k_products{operator_word{"*", opcode::multiply},
                                operator_word{"/", opcode::divide},
                                operator_word{"%", opcode::remainder}};

/// "n", "sizeof(in)".
std::string key_of(std::string_view call, std::string_view name)
{
  return call.empty() ? std::string(name) : detail::format("{}({})", call, name);
}

/// The names that symbols have, or take in `call`.
std::vector<std::string> list_names(formula_symbols const& symbols, std::string_view call)
{
  std::vector<std::string> names;
  for (auto const& [key, meaning] : symbols) {
    auto const open = key.find('(');
    if (open == key.npos && call.empty())
      names.push_back(key);
    else if (open == call.size() && key.starts_with(call))
      names.push_back(key.substr(open + 1, key.size() - open - 2));
  }
  return names;
}

[[noreturn]] void fail_unknown(std::string_view call, std::string_view name,
                               formula_symbols const& symbols)
{
  auto const similar = nearest(list_names(symbols, call), name);
  auto const* const hint = call == "occupancy" ? "name the kernel of a launch of this plan"
                           : call == "sizeof"  ? "name an argument or a type"
                                              : "use a size, a name in \"let\", multiprocessors or "
                                                "shared_memory";
  throw formula_error(
      detail::format("unknown name {}", printable_line(key_of(call, name))),
      similar.empty() ? hint : detail::format("did you mean {}?", key_of(call, similar)));
}

class formula_parser {
 public:
  formula_parser(std::string_view text, formula_symbols const& symbols)
      : words_(text), symbols_(symbols)
  {
  }

  std::vector<formula::instruction> parse()
  {
    parse_formula();
    words_.expect_end();
    return std::move(program_);
  }

 private:
  /// The operation that is done last: that of the whole, if it is a division.
  using root = opcode;

  std::size_t emit(opcode code, std::int64_t value, std::size_t place)
  {
    program_.push_back({code, static_cast<std::uint32_t>(place), value});
    return program_.size() - 1;
  }
  void jump_here(std::size_t jump)
  {
    program_[jump].value = static_cast<std::int64_t>(program_.size());
  }

  root parse_formula()
  {
    nesting_level const level(depth_);
    auto const code = parse_comparison();
    auto const place = words_.place();
    if (!words_.take_if("?")) return code;
    auto const to_other = emit(opcode::jump_if_zero, 0, place);
    parse_formula();
    words_.expect(":");
    auto const to_end = emit(opcode::jump, 0, place);
    jump_here(to_other);
    parse_formula();
    jump_here(to_end);
    return opcode::jump;
  }

  root parse_comparison()
  {
    auto const code = parse_sum();
    for (auto const& comparison : k_comparisons)
      if (auto const place = words_.place(); words_.take_if(comparison.word)) {
        parse_sum();
        emit(comparison.code, 0, place);
        return comparison.code;
      }
    return code;
  }

  root parse_sum() { return parse_chain(k_sums, &formula_parser::parse_product); }
  root parse_product() { return parse_chain(k_products, &formula_parser::parse_factor); }

  template <typename Operators>
  root parse_chain(Operators const& operators, root (formula_parser::*parse_side)())
  {
    auto code = (this->*parse_side)();
    while (auto const next = take_operator(operators)) {
      (this->*parse_side)();
      emit(next->code, 0, next->place);
      code = next->code;
    }
    return code;
  }

  template <typename Operators>
  std::optional<formula::instruction> take_operator(Operators const& operators)
  {
    auto const place = static_cast<std::uint32_t>(words_.place());
    for (auto const& candidate : operators)
      if (words_.take_if(candidate.word))
        return formula::instruction{.code = candidate.code, .place = place};
    return std::nullopt;
  }

  root parse_factor()
  {
    std::vector<std::size_t> signs;
    for (auto place = words_.place(); words_.take_if("-"); place = words_.place())
      signs.push_back(place);
    auto const code = parse_operand();
    for (auto sign = signs.rbegin(); sign != signs.rend(); ++sign) emit(opcode::negate, 0, *sign);
    return signs.empty() ? code : opcode::negate;
  }

  root parse_operand()
  {
    auto const place = words_.place();
    if (words_.current_kind() == formula_words::kind::number) {
      emit(opcode::number, words_.take_number(), place);
      return opcode::number;
    }
    if (words_.take_if("(")) {
      auto const code = parse_formula();
      words_.expect(")");
      return code;
    }
    auto const name = words_.take_name("a number, a name or '('");
    if (!words_.is("(")) return emit_symbol({}, name, place);
    words_.take();
    auto const code = parse_call(name, place);
    words_.expect(")");
    return code;
  }

  root parse_call(std::string_view name, std::size_t place)
  {
    if (name == "min") return parse_extreme(opcode::minimum, place);
    if (name == "max") return parse_extreme(opcode::maximum, place);
    if (name == "ceil") return parse_ceiling(place);
    if (name == "sizeof")
      return emit_symbol(name, words_.take_name("an argument or a type"), place);
    if (name == "occupancy") return emit_symbol(name, words_.take_name("a kernel"), place);
    static std::vector<std::string> const known{"min", "max", "ceil", "sizeof", "occupancy"};
    auto const similar = nearest(known, name);
    throw formula_error(
        detail::format("unknown function {} at character {}", printable_line(name), place),
        similar.empty() ? "the functions are min, max, ceil, sizeof and occupancy"
                        : detail::format("did you mean {}?", similar));
  }

  root parse_extreme(opcode code, std::size_t place)
  {
    parse_formula();
    while (words_.take_if(",")) {
      parse_formula();
      emit(code, 0, place);
    }
    return code;
  }

  root parse_ceiling(std::size_t place)
  {
    if (parse_formula() != opcode::divide)
      throw formula_error(detail::format("ceil at character {} has no division", place),
                          "write it as ceil(a / b): it rounds the division up");
    program_.back().code = opcode::ceiling_divide;
    return opcode::ceiling_divide;
  }

  root emit_symbol(std::string_view call, std::string_view name, std::size_t place)
  {
    auto const key = key_of(call, name);
    auto const symbol = symbols_.find(key);
    if (symbol == symbols_.end()) fail_unknown(call, name, symbols_);
    auto const code = symbol->second.is_constant ? opcode::number : opcode::load;
    emit(code, symbol->second.value, place);
    return code;
  }

  formula_words words_;
  formula_symbols const& symbols_;
  std::vector<formula::instruction> program_ = {};
  unsigned depth_ = 0;
};

}  // namespace

std::vector<formula::instruction> parse_formula(std::string_view text,
                                                formula_symbols const& symbols)
{
  return formula_parser(text, symbols).parse();
}

}  // namespace fatlink::detail
