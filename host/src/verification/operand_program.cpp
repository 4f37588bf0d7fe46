// SPDX-License-Identifier: Apache-2.0
#include "verification/operand_program.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "expression/words.hpp"
#include "fatlink/error.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

[[noreturn]] void fail_reference(stated_hook const& stated, std::string const& cause,
                                 std::string hint)
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
  fail_reference(stated,
                 field.empty() ? detail::format("{} is a struct or a complex number", name)
                               : detail::format("{} does not exist", name),
                 is_number ? detail::format("{} is one number: write {}", name.substr(0, dot),
                                            name.substr(0, dot))
                           : detail::format("write {} and one of the fields: {}",
                                            name.substr(0, dot), list_fields(parts)));
}

/// Which of the expressions is for the number `name` of the result.
std::size_t find_expression(stated_hook const& stated, std::string const& name)
{
  auto const& list = stated.hook->result;
  auto const place = std::ranges::find(list, name, &result_expression::field);
  if (place == list.end())
    fail_reference(stated,
                   name.empty() ? "states fields for a result that is one number"
                                : detail::format("states no expression for {} of the result", name),
                   R"(state "result" with the fields of the output's type)");
  return static_cast<std::size_t>(place - list.begin());
}

void check_fields(stated_hook const& stated, components const& result)
{
  for (auto const& stated_field : stated.hook->result)
    if (std::ranges::find(result, stated_field.field, &component::name) == result.end())
      fail_reference(
          stated,
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
  fail_reference(stated,
                 detail::format("\"{}\": {}", stated.hook->result[index].text, error.what()),
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

std::string name_of_part(std::string const& parameter, std::string const& part)
{
  return part.empty() ? parameter : parameter + "." + part;
}

/// Whether the expression adds the number `part` of both parameters.
bool adds_part(expression_syntax const& parsed, std::vector<std::string> const& parameters,
               std::string const& part)
{
  auto const joined = parsed.joined();
  if (!joined || joined->code != expression_code::add) return false;
  auto const a = name_of_part(parameters[0], part);
  auto const b = name_of_part(parameters[1], part);
  return (joined->left == a && joined->right == b) || (joined->left == b && joined->right == a);
}

/// What is known of a value within an expression without evaluating it.
struct known_value {
  bool is_exact = false;  ///< the same in every arithmetic that holds the names' values
  bool is_own = false;    ///< the number of the part itself, of one of the parameters
};

known_value know_node(syntax_node const& node, std::span<known_value const> operands)
{
  using code = expression_code;
  auto const are = [&](bool known_value::*what, std::size_t first = 0) {
    return std::ranges::all_of(operands.subspan(first), what);
  };
  auto const is_exact = are(&known_value::is_exact);
  switch (node.code) {
    case code::number:
      return {.is_exact = node.is_whole || node.real == static_cast<float>(node.real)};
    case code::minimum:
    case code::maximum:
      return {.is_exact = is_exact, .is_own = is_exact && are(&known_value::is_own)};
    case code::choose:
      return {.is_exact = is_exact, .is_own = is_exact && are(&known_value::is_own, 1)};
    case code::negate:
    case code::absolute:
    case code::logical_not:
    case code::logical_and:
    case code::logical_or:
    case code::less:
    case code::less_equal:
    case code::greater:
    case code::greater_equal:
    case code::equal:
    case code::not_equal:
      return {.is_exact = is_exact};
    default:
      return {};
  }
}

/// Whether the expression is the number `part` of one of the parameters, where the names that
/// `is_exact` accepts have the same values in every order of calls.
bool chooses_part(expression_syntax const& parsed, std::vector<std::string> const& parameters,
                  std::string const& part, std::function<bool(std::string const&)> const& is_exact)
{
  std::vector<known_value> values;
  for (auto const& node : parsed.nodes()) {
    if (node.code == expression_code::name) {
      auto const& name = parsed.names()[node.index];
      values.push_back({.is_exact = is_exact(name),
                        .is_own = name == name_of_part(parameters[0], part) ||
                                  name == name_of_part(parameters[1], part)});
      continue;
    }
    auto const count = operand_count(node);
    if (count == 0 && node.code != expression_code::number) continue;  // between two operands
    auto const value = know_node(node, std::span(values).last(count));
    values.resize(values.size() - count);
    values.push_back(value);
  }
  return values.back().is_own;
}

}  // namespace

hook_program::hook_program(stated_hook const& stated, hook_program_types const& types)
    : tolerance_(stated.hook->tolerance), capacity_(types.capacity)
{
  if (types.operands.size() != stated.hook->parameters.size())
    fail_reference(
        stated,
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
      if (place == parameters.end() || has_name(name)) continue;
      auto const operand = static_cast<std::size_t>(place - parameters.begin());
      auto const& parts = types.operands[operand];
      auto const index = find_part(stated, parts, name);
      if (parts[index].kind == scalar_kind::bytes)
        fail_reference(stated, detail::format("{} is a byte without meaning", name),
                       "state the type of the elements");
      add_name(name, is_integer(parts[index].kind), {});
      variables_.push_back({.operand = operand, .index = index, .step = parts.size()});
    }
  auto const& own = stated.owner->types;
  if (own.state) {
    auto const bytes =
        types.state.empty() ? std::span<std::byte const>(own.default_state) : types.state;
    if (bytes.size() < own.state->size)
      fail_reference(stated,
                     detail::format("the state has {} bytes, less than {}, the size of \"state\"",
                                    bytes.size(), own.state->size),
                     "pass a state of the struct that the sidecar states");
    for (auto const& part : components_of(*own.state))
      add_name("state." + part.name, is_integer(part.kind),
               load(part.kind, bytes.data() + part.offset));
  }
}

void hook_program::add_name(std::string name, bool is_integer, number const& value)
{
  auto& added = names_.emplace_back(
      named_values{.name = std::move(name), .is_integer = is_integer, .reals = {}, .wholes = {}});
  added.reals.assign(capacity_, value.real);
  if (is_integer) added.wholes.assign(capacity_, value.whole);
}

bool hook_program::has_name(std::string const& name) const
{
  return std::ranges::find(names_, name, &named_values::name) != names_.end();
}

void hook_program::add_evaluators(stated_hook const& stated, hook_program_types const& types,
                                  std::vector<expression_syntax> const& parsed)
{
  std::vector<expression_variable> variables;
  for (auto const& each : names_)
    variables.push_back({each.name, each.is_integer, each.reals.data(), each.wholes.data()});
  if (types.result) {
    result_ = *types.result;
    check_fields(stated, result_);
  } else {
    for (auto const& result : stated.hook->result)
      result_.push_back({.name = result.field, .kind = types.real});
  }
  for (auto& part : result_) {
    auto const index = find_expression(stated, part.name);
    evaluator prepared{with_place(
        stated, index, [&] { return expression_program(parsed[index], variables, capacity_); })};
    if (!types.result && prepared.program.is_integer()) part.kind = scalar_kind::int64;
    if (tolerance_.operands > 0) prepared.floats = floats_in(parsed[index]);
    evaluators_.push_back(std::move(prepared));
  }
  if (types.result && stated.hook->parameters.size() == 2) find_rules(stated, parsed);
}

/// A choice depends on the numbers that its condition compares. So all numbers count as chosen
/// first, and those whose expression then is no choice are removed until nothing changes.
void hook_program::find_rules(stated_hook const& stated,
                              std::vector<expression_syntax> const& parsed)
{
  auto const& parameters = stated.hook->parameters;
  rules_.assign(result_.size(), fold_rule::choice);
  auto const is_exact = [&](std::string const& name) {
    if (std::ranges::find(parameters, base_of(name)) == parameters.end()) return true;  // the state
    auto const dot = name.find('.');
    auto const part = dot == std::string::npos ? std::string() : name.substr(dot + 1);
    auto const place = std::ranges::find(result_, part, &component::name);
    if (place == result_.end()) return false;
    return is_integer(place->kind) ||
           rules_[static_cast<std::size_t>(place - result_.begin())] == fold_rule::choice;
  };
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (std::size_t i = 0; i < result_.size(); ++i) {
      auto const& part = result_[i].name;
      auto const& expression = parsed[find_expression(stated, part)];
      if (rules_[i] != fold_rule::choice || chooses_part(expression, parameters, part, is_exact))
        continue;
      rules_[i] = adds_part(expression, parameters, part) ? fold_rule::sum : fold_rule::other;
      has_changed = true;
    }
  }
}

std::vector<std::size_t> hook_program::floats_in(expression_syntax const& parsed) const
{
  std::vector<std::size_t> list;
  for (auto const& name : parsed.names()) {
    auto const place = static_cast<std::size_t>(
        std::ranges::find(names_, name, &named_values::name) - names_.begin());
    if (place < variables_.size() && !names_[place].is_integer) list.push_back(place);
  }
  return list;
}

double hook_program::largest_operand(std::size_t index, std::span<double const* const> bounds,
                                     std::size_t element) const
{
  double largest = 0;
  for (auto const place : evaluators_[index].floats) {
    auto const& [operand, part, step] = variables_[place];
    auto const bound = bounds[operand][element * step + part];
    auto const magnitude = std::abs(names_[place].reals[element]) + bound;
    if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
  }
  return largest;
}

void hook_program::evaluate(std::span<number const* const> operands, number* results,
                            std::size_t count)
{
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    auto const& [operand, part, step] = variables_[i];
    auto const* const values = operands[operand] + part;
    auto& [name, is_integer, reals, wholes] = names_[i];
    for (std::size_t j = 0; j < count; ++j) reals[j] = values[j * step].real;
    if (!is_integer) continue;
    for (std::size_t j = 0; j < count; ++j) wholes[j] = values[j * step].whole;
  }
  for (std::size_t i = 0; i < result_.size(); ++i) {
    evaluators_[i].program.evaluate(count);
    write_results(i, results + i, count);
  }
}

/// `results`: number `index` of the first result.
void hook_program::write_results(std::size_t index, number* results, std::size_t count) const
{
  auto const kind = result_[index].kind;
  auto const& program = evaluators_[index].program;
  auto const write = [&](auto const* values, auto const& to_number) {
    for (std::size_t i = 0; i < count; ++i) results[i * result_.size()] = to_number(values[i]);
  };
  if (program.is_integer())
    return write(program.wholes(), [&](int128 value) {
      return whole_number(is_integer(kind) ? wrapped(kind, value) : value);
    });
  if (is_integer(kind))
    return write(program.reals(),
                 [&](double value) { return whole_number(truncated(kind, value)); });
  write(program.reals(), [](double value) { return number{.real = value}; });
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

namespace {

constexpr std::size_t k_most_depth = 64;
constexpr std::size_t k_most_elements = 128;  // of a block: numbers stay in a core's first cache
constexpr std::size_t k_most_numbers = 1024;  // of a block, of one operand

class array_operand final : public operand_program {
 public:
  array_operand(array_view const& array, std::size_t capacity)
      : operand_program(components_of(array.type), capacity), array_(array)
  {
  }

  void evaluate(std::size_t begin, std::size_t count) override
  {
    auto const step = array_.count() == 1 ? 0 : array_.type.size;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      auto const* const place = array_.bytes.data() + begin * step + parts_[i].offset;
      load_block(parts_[i].kind, {place, step}, count, {values_.data() + i, parts_.size()});
    }
  }

 private:
  array_view const& array_;
};

class index_operand final : public operand_program {
 public:
  explicit index_operand(std::size_t capacity)
      : operand_program({{.kind = scalar_kind::uint64}}, capacity)
  {
  }
  void evaluate(std::size_t begin, std::size_t count) override
  {
    for (std::size_t i = 0; i < count; ++i) values_[i] = whole_number(begin + i);
  }
};

class neighbor_operand final : public operand_program {
 public:
  neighbor_operand(std::unique_ptr<operand_program> operand, std::int64_t offset, std::size_t count)
      : operand_program(operand->parts(), operand->capacity()),
        operand_(std::move(operand)),
        offset_(offset),
        count_(count)
  {
  }

  void evaluate(std::size_t begin, std::size_t count) override
  {
    auto const first = neighbor_of(begin);
    auto const last = neighbor_of(begin + count - 1);
    operand_->evaluate(first, last - first + 1);
    for (std::size_t i = 0; i < count; ++i) {
      auto const place = neighbor_of(begin + i) - first;
      std::copy_n(operand_->values(place), parts_.size(), values_.data() + i * parts_.size());
      std::copy_n(operand_->bounds(place), parts_.size(), bounds_.data() + i * parts_.size());
    }
  }

 private:
  [[nodiscard]] std::size_t neighbor_of(std::size_t index) const
  {
    auto const last = static_cast<int128>(count_) - 1;
    return static_cast<std::size_t>(
        std::clamp<int128>(static_cast<int128>(index) + offset_, 0, last));
  }

  std::unique_ptr<operand_program> operand_;
  std::int64_t offset_;
  std::size_t count_;
};

class map_operand final : public operand_program {
 public:
  map_operand(hook_program hook, std::vector<std::unique_ptr<operand_program>> operands,
              std::size_t capacity)
      : operand_program(hook.result(), capacity),
        hook_(std::move(hook)),
        operands_(std::move(operands))
  {
    shifted_.resize(values_.size());
    change_.resize(values_.size());
    for (auto const& operand : operands_) {
      pointers_.push_back(operand->values());
      operand_bounds_.push_back(operand->bounds());
    }
  }

  void evaluate(std::size_t begin, std::size_t count) override
  {
    for (auto const& operand : operands_) operand->evaluate(begin, count);
    hook_.evaluate(pointers_, values_.data(), count);
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = 0; j < parts_.size(); ++j)
        bounds_[i * parts_.size() + j] = tolerance_at(hook_.tolerance(), parts_, j, values(i),
                                                      hook_.largest_operand(j, operand_bounds_, i));
    for (std::size_t i = 0; i < operands_.size(); ++i)
      for (std::size_t j = 0; j < operands_[i]->parts().size(); ++j) add_propagated(i, j, count);
  }

 private:
  /// Adds how far the results move if number `part` of operand `place` moves by its bound.
  void add_propagated(std::size_t place, std::size_t part, std::size_t count)
  {
    auto const& operand = *operands_[place];
    auto const step = operand.parts().size();
    auto const bound_of = [&](std::size_t element) { return operand.bounds(element)[part]; };
    std::size_t first = 0;
    while (first < count && bound_of(first) == 0) ++first;
    if (first == count) return;
    std::ranges::fill(change_, 0);
    copy_.assign(operand.values(), operand.values(count));
    for (auto const sign : {1, -1}) {
      for (auto i = first; i < count; ++i)
        if (bound_of(i) != 0)
          copy_[i * step + part] =
              shifted(operand.parts()[part].kind, operand.values(i)[part], sign * bound_of(i));
      measure_change(place, count);
    }
    for (auto i = first; i < count; ++i)
      if (bound_of(i) != 0)
        for (auto j = i * parts_.size(); j < (i + 1) * parts_.size(); ++j) bounds_[j] += change_[j];
  }

  static number shifted(scalar_kind kind, number const& value, double distance)
  {
    if (!is_integer(kind)) return {.real = value.real + distance};
    auto const steps = std::clamp(std::trunc(distance), -0x1p62, 0x1p62);
    return whole_number(value.whole + static_cast<int128>(steps));
  }

  void measure_change(std::size_t place, std::size_t count)
  {
    auto const* const original = pointers_[place];
    pointers_[place] = copy_.data();
    hook_.evaluate(pointers_, shifted_.data(), count);
    pointers_[place] = original;
    for (std::size_t i = 0; i < count * parts_.size(); ++i) {
      auto const distance = is_integer(parts_[i % parts_.size()].kind)
                                ? static_cast<double>(shifted_[i].whole - values_[i].whole)
                                : shifted_[i].real - values_[i].real;
      // NaN: one of both is outside of the function's domain; the other side counts.
      if (!std::isnan(distance)) change_[i] = std::max(change_[i], std::abs(distance));
    }
  }

  hook_program hook_;
  std::vector<std::unique_ptr<operand_program>> operands_;
  std::vector<number const*> pointers_;
  std::vector<double const*> operand_bounds_;
  std::vector<number> shifted_;  ///< results of moved operands
  std::vector<number> copy_;     ///< the operand that moves
  std::vector<double> change_;   ///< how far each number of the results moved, at most
};

class operand_compiler {
 public:
  /// `capacity`: elements of a block.
  operand_compiler(program_context const& context, std::size_t count, scalar_kind real,
                   std::size_t capacity)
      : context_(context), count_(count), real_(real), capacity_(capacity)
  {
  }

  std::unique_ptr<operand_program> compile(computation const& node,
                                           std::optional<components> const& result,
                                           std::size_t depth = 0)
  {
    if (depth > k_most_depth) throw not_verifiable("\"computes\" nests deeper than 64");
    switch (node.kind) {
      case operation::argument:
        return compile_array(node.name);
      case operation::index:
        return std::make_unique<index_operand>(capacity_);
      case operation::neighbor:
        return std::make_unique<neighbor_operand>(
            compile(node.operands.at(0), std::nullopt, depth + 1), node.offset, count_);
      case operation::map:
        return compile_map(node, result, depth);
      default:
        throw not_verifiable(
            detail::format("{} within another operation is not supported", to_string(node.kind)));
    }
  }

 private:
  std::unique_ptr<operand_program> compile_array(std::string const& name)
  {
    auto const& array = context_.find_array(name);
    if (array.count() != count_ && array.count() != 1)
      throw not_verifiable(
          detail::format("{} has {} elements where {} are computed", name, array.count(), count_));
    return std::make_unique<array_operand>(array, capacity_);
  }

  std::unique_ptr<operand_program> compile_map(computation const& node,
                                               std::optional<components> const& result,
                                               std::size_t depth)
  {
    auto const stated = context_.find_hook(node.name);
    hook_program_types types{
        .result = result, .real = real_, .state = context_.data.state, .capacity = capacity_};
    if (!result && stated.hook->type) types.result = components_of(*stated.hook->type);
    std::vector<std::unique_ptr<operand_program>> operands;
    for (auto const& operand : node.operands) {
      operands.push_back(compile(operand, std::nullopt, depth + 1));
      types.operands.push_back(operands.back()->parts());
    }
    return std::make_unique<map_operand>(hook_program(stated, types), std::move(operands),
                                         capacity_);
  }

  program_context const& context_;
  std::size_t count_;
  scalar_kind real_;
  std::size_t capacity_;
};

template <typename Visit>
void visit_arrays(computation const& node, program_context const& context, Visit const& visit,
                  std::size_t depth = 0)
{
  if (depth > k_most_depth) throw not_verifiable("\"computes\" nests deeper than 64");
  if (node.kind == operation::argument) visit(context.find_array(node.name));
  for (auto const& operand : node.operands) visit_arrays(operand, context, visit, depth + 1);
}

}  // namespace

stated_hook program_context::find_hook(std::string const& name) const
{
  for (auto const& transform : transforms)
    if (auto const* const hook = transform.find(name)) return {.owner = &transform, .hook = hook};
  throw unstated_hook(detail::format(
      "no sidecar (.json beside a transform) states what the hook {} computes", name));
}

array_view const& program_context::find_array(std::string const& name) const
{
  auto const place = data.arguments.find(name);
  if (place == data.arguments.end())
    throw not_verifiable(detail::format("the data of {} is not known", name));
  return place->second;
}

operand_program::operand_program(components parts, std::size_t capacity)
    : parts_(std::move(parts)),
      capacity_(capacity),
      values_(capacity * parts_.size()),
      bounds_(capacity * parts_.size())
{
}

std::unique_ptr<operand_program> compile_operand(computation const& node,
                                                 program_context const& context, std::size_t count,
                                                 std::optional<components> const& result)
{
  auto numbers = result ? result->size() : 1;
  visit_arrays(node, context, [&](array_view const& array) {
    numbers = std::max(numbers, components_of(array.type).size());
  });
  auto const capacity = std::clamp<std::size_t>(k_most_numbers / numbers, 1, k_most_elements);
  return operand_compiler(context, count, real_kind_of(node, context), capacity)
      .compile(node, result);
}

std::size_t count_of(computation const& node, program_context const& context)
{
  std::size_t count = 0;
  auto has_empty = false;
  visit_arrays(node, context, [&](array_view const& array) {
    count = std::max(count, array.count());
    has_empty = has_empty || array.count() == 0;
  });
  return has_empty && count == 1 ? 0 : count;  // one element is there for each of the others
}

scalar_kind real_kind_of(computation const& node, program_context const& context)
{
  auto kind = scalar_kind::float32;
  visit_arrays(node, context, [&](array_view const& array) {
    for (auto const& part : components_of(array.type))
      if (part.kind == scalar_kind::float64) kind = part.kind;
  });
  return kind;
}

}  // namespace fatlink::detail
