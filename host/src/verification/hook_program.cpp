// SPDX-License-Identifier: Apache-2.0
#include "verification/hook_program.hpp"

#include <algorithm>
#include <cmath>

#include "expression/words.hpp"
#include "fatlink/error.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

[[noreturn]] void refuse(stated_hook const& stated, std::string const& cause, std::string hint)
{
  auto const& file = stated.owner->file;
  throw file_error(stage::verification,
                   {.message = detail::format("{}: hook {}: {}", file, stated.hook->hook, cause),
                    .input = file,
                    .code = error_code::invalid_sidecar,
                    .hint = std::move(hint)});
}

std::string list_fields(components const& parts)
{
  std::string list;
  for (auto const& part : parts) list += (list.empty() ? "" : ", ") + part.name;
  return list;
}

/// The component that the variable `name` is: of the operand, its field after the first dot.
std::size_t find_part(stated_hook const& stated, components const& parts, std::string const& name)
{
  auto const dot = name.find('.');
  auto const field = dot == std::string::npos ? std::string() : name.substr(dot + 1);
  auto const place = std::ranges::find(parts, field, &component::name);
  if (place != parts.end()) return static_cast<std::size_t>(place - parts.begin());
  auto const is_number = parts.size() == 1 && parts.front().name.empty();
  refuse(stated,
         field.empty() ? detail::format("{} is a struct or a complex number", name)
                       : detail::format("{} does not exist", name),
         is_number ? detail::format("{} is one number: write {}", name.substr(0, dot),
                                    name.substr(0, dot))
                   : detail::format("write {} and one of the fields: {}", name.substr(0, dot),
                                    list_fields(parts)));
}

/// Which of the expressions is for the number `name` of the result.
std::size_t find_expression(stated_hook const& stated, std::string const& name)
{
  auto const& list = stated.hook->result;
  auto const place = std::ranges::find(list, name, &result_expression::field);
  if (place == list.end())
    refuse(stated,
           name.empty() ? "states fields for a result that is one number"
                        : detail::format("states no expression for {} of the result", name),
           R"(state "result" with the fields of the output's type)");
  return static_cast<std::size_t>(place - list.begin());
}

void check_fields(stated_hook const& stated, components const& result)
{
  for (auto const& stated_field : stated.hook->result)
    if (std::ranges::find(result, stated_field.field, &component::name) == result.end())
      refuse(stated,
             stated_field.field.empty()
                 ? "states one expression for a result of several numbers"
                 : detail::format("states an expression for {}, which the result does not have",
                                  stated_field.field),
             detail::format("the fields are: {}", list_fields(result)));
}

/// @throws file_error `action` finds an error in the expression for number `index` of the result.
template <typename Action>
auto with_place(stated_hook const& stated, std::size_t index, Action const& action)
try {
  return action();
} catch (expression_error const& error) {
  refuse(stated, detail::format("\"{}\": {}", stated.hook->result[index].text, error.what()),
         error.hint_with("write an expression in the parameters"));
}

std::vector<expression_syntax> parse_results(stated_hook const& stated)
{
  std::vector<expression_syntax> parsed;
  for (std::size_t i = 0; i < stated.hook->result.size(); ++i)
    parsed.push_back(with_place(stated, i, [&] {
      return expression_syntax(stated.hook->result[i].text, expression_use::reference);
    }));
  return parsed;
}

/// Whether the expression adds the number `part` of both parameters.
bool adds_part(expression_syntax const& parsed, std::vector<std::string> const& parameters,
               std::string const& part)
{
  auto const joined = parsed.joined();
  if (!joined || joined->code != expression_code::add || parameters.size() != 2) return false;
  auto const suffix = part.empty() ? part : "." + part;
  auto const a = parameters[0] + suffix;
  auto const b = parameters[1] + suffix;
  return (joined->left == a && joined->right == b) || (joined->left == b && joined->right == a);
}

}  // namespace

hook_program::hook_program(stated_hook const& stated, hook_program_types const& types)
    : tolerance_(stated.hook->tolerance)
{
  if (types.operands.size() != stated.hook->parameters.size())
    refuse(stated,
           detail::format("has {} parameter{}, and the plan's \"computes\" passes {}",
                          stated.hook->parameters.size(),
                          stated.hook->parameters.size() == 1 ? "" : "s", types.operands.size()),
           "name one parameter for each operand of \"computes\"");
  auto const parsed = parse_results(stated);
  add_variables(stated, types, parsed);
  add_evaluators(stated, types, parsed);
}

void hook_program::add_variables(stated_hook const& stated, hook_program_types const& types,
                                 std::vector<expression_syntax> const& parsed)
{
  auto const& parameters = stated.hook->parameters;
  for (auto const& result : parsed)
    for (auto const& name : result.names()) {
      auto const place = std::ranges::find(parameters, base_of(name));
      if (place == parameters.end() || std::ranges::find(names_, name) != names_.end()) continue;
      auto const operand = static_cast<std::size_t>(place - parameters.begin());
      auto const& parts = types.operands[operand];
      auto const index = find_part(stated, parts, name);
      if (parts[index].kind == scalar_kind::bytes)
        refuse(stated, detail::format("{} is a byte without meaning", name),
               "state the type of the elements");
      names_.push_back(name);
      are_integers_.push_back(is_integer(parts[index].kind));
      variables_.push_back({.operand = operand, .index = index});
    }
  numbers_.resize(names_.size());
  auto const& own = stated.owner->types;
  if (own.state) {
    auto const bytes =
        types.state.empty() ? std::span<std::byte const>(own.default_state) : types.state;
    if (bytes.size() < own.state->size)
      refuse(stated,
             detail::format("the state has {} bytes, less than {}, the size of \"state\"",
                            bytes.size(), own.state->size),
             "pass a state of the struct that the sidecar states");
    for (auto const& part : components_of(*own.state)) {
      names_.push_back("state." + part.name);
      are_integers_.push_back(is_integer(part.kind));
      numbers_.push_back(load(part.kind, bytes.data() + part.offset));
    }
  }
}

void hook_program::add_evaluators(stated_hook const& stated, hook_program_types const& types,
                                  std::vector<expression_syntax> const& parsed)
{
  std::vector<expression_variable> variables;
  for (std::size_t i = 0; i < names_.size(); ++i)
    variables.push_back({names_[i], are_integers_[i], &numbers_[i].real, &numbers_[i].whole});
  if (types.result) {
    result_ = *types.result;
    check_fields(stated, result_);
  } else {
    for (auto const& result : stated.hook->result)
      result_.push_back({.name = result.field, .kind = types.real});
  }
  adds_ = true;
  for (auto& part : result_) {
    auto const index = find_expression(stated, part.name);
    evaluator prepared{
        with_place(stated, index, [&] { return expression_program(parsed[index], variables); })};
    if (!types.result && prepared.program.is_integer()) part.kind = scalar_kind::int64;
    if (tolerance_.operands > 0) prepared.floats = floats_in(parsed[index]);
    evaluators_.push_back(std::move(prepared));
    adds_ = adds_ && adds_part(parsed[index], stated.hook->parameters, part.name);
  }
}

std::vector<std::size_t> hook_program::floats_in(expression_syntax const& parsed) const
{
  std::vector<std::size_t> list;
  for (auto const& name : parsed.names()) {
    auto const place = static_cast<std::size_t>(std::ranges::find(names_, name) - names_.begin());
    if (place < variables_.size() && !are_integers_[place]) list.push_back(place);
  }
  return list;
}

double hook_program::largest_operand(std::size_t index, std::span<double const* const> bounds) const
{
  double largest = 0;
  for (auto const place : evaluators_[index].floats) {
    auto const& [operand, part] = variables_[place];
    auto const magnitude = std::abs(numbers_[place].real) + bounds[operand][part];
    if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
  }
  return largest;
}

void hook_program::evaluate(std::span<number const* const> operands, number* result)
{
  for (std::size_t i = 0; i < variables_.size(); ++i)
    numbers_[i] = operands[variables_[i].operand][variables_[i].index];
  for (std::size_t i = 0; i < result_.size(); ++i) {
    auto const kind = result_[i].kind;
    auto& program = evaluators_[i].program;
    program.evaluate();
    if (program.is_integer()) {
      auto const value = *program.wholes();
      result[i] = whole_number(is_integer(kind) ? wrapped(kind, value) : value);
    } else {
      auto const value = *program.reals();
      result[i] = is_integer(kind) ? whole_number(truncated(kind, value)) : number{.real = value};
    }
  }
}

bool hook_program::is_true(number const* result) const noexcept
{
  return is_integer(result_.front().kind) ? result->whole != 0 : result->real != 0;
}

double magnitude_of(components const& parts, std::size_t index, number const* value) noexcept
{
  auto const partner = parts[index].partner;
  if (partner == 0) return std::abs(value[index].real);
  auto const other = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(index) + partner);
  return std::hypot(value[index].real, value[other].real);
}

double tolerance_at(hook_tolerance const& tolerance, components const& parts, std::size_t index,
                    number const* value, double largest_operand) noexcept
{
  auto const magnitude = magnitude_of(parts, index, value);
  if (!std::isfinite(magnitude)) return 0;  // NaN and infinity are compared without a bound
  auto const kind = parts[index].kind;
  auto const spacing = is_integer(kind) ? 1.0 : format_of(kind).spacing_at(magnitude);
  return std::max({tolerance.ulp * spacing, tolerance.absolute, tolerance.relative * magnitude,
                   tolerance.operands * largest_operand});
}

}  // namespace fatlink::detail
