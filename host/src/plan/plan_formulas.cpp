// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_formulas.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "expression/formula.hpp"
#include "expression/words.hpp"
#include "fatbin/json_file.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

/// Stands for a value that no formula may use.
constexpr std::int64_t k_several_elements = std::numeric_limits<std::int64_t>::max();

/// Parses the formulas of a plan.
class formula_reader {
 public:
  explicit formula_reader(plan_formulas& result) : result_(result), plan_(result.plan) {}

  void read()
  {
    name_values();
    add_types();
    for (auto const index : result_.sizes) result_.maxima.push_back(maximum_of(index));
    for (auto const& let : plan_.lets)
      result_.lets.push_back(parse(let.formula, "let." + let.name));
    for (std::size_t i = 0; i < plan_.arguments.size(); ++i) result_.shapes.push_back(shape_of(i));
    for (std::size_t i = 0; i < plan_.launches.size(); ++i)
      result_.launches.push_back(launch_of(i));
    for (auto const& result : plan_.results) result_.depths.push_back(depth_of(result));
  }

 private:
  void add_value(std::string const& name)
  {
    symbols_[name] = {.value = static_cast<std::int64_t>(result_.names.size())};
    result_.names.push_back(name);
  }

  /// In the order that plan_formulas states.
  void name_values()
  {
    add_value("multiprocessors");
    add_value("shared_memory");
    add_value("sizeof(element)");
    for (std::size_t i = 0; i < plan_.arguments.size(); ++i)
      if (plan_.arguments[i].role == argument_role::size) {
        result_.sizes.push_back(i);
        add_value(plan_.arguments[i].name);
      }
    for (auto const& let : plan_.lets) add_value(let.name);
    for (std::size_t i = 0; i < plan_.launches.size(); ++i)
      if (auto const name = detail::format("occupancy({})", plan_.launches[i].kernel);
          !symbols_.contains(name)) {
        result_.kernels.push_back(i);
        add_value(name);
      }
  }

  void add_constant(std::string const& name, element_type const& type)
  {
    symbols_[detail::format("sizeof({})", name)] = {.is_constant = true,
                                                    .value = static_cast<std::int64_t>(type.size)};
  }

  void add_types()
  {
    if (plan_.element)
      add_constant("element", *plan_.element);
    else if (has_several_elements())
      symbols_["sizeof(element)"] = {.value = k_several_elements};
    for (auto kind = scalar_kind::float16; kind != scalar_kind::bytes;
         kind = static_cast<scalar_kind>(static_cast<int>(kind) + 1))
      add_constant(to_string(kind), scalar_type(kind));
    for (auto const& argument : plan_.arguments) {
      if (argument.type) {
        add_constant(to_string(*argument.type), *argument.type);
        add_constant(argument.name, *argument.type);
      } else if (argument.role != argument_role::state) {
        symbols_[detail::format("sizeof({})", argument.name)] = {
            .value = plan_formulas::k_element_bytes};
      }
    }
  }

  /// Whether the arguments are of the elements of different hooks, and so may differ.
  [[nodiscard]] bool has_several_elements() const
  {
    std::set<std::string> hooks;
    for (auto const& argument : plan_.arguments)
      if (!argument.type && argument.role != argument_role::state) hooks.insert(argument.hook);
    return hooks.size() > 1 && !hooks.contains({});
  }

  formula parse(std::string const& text, std::string const& path)
  try {
    formula parsed(text, symbols_);
    if (!parsed.uses().empty() && parsed.uses().back() == k_several_elements)
      throw expression_error("sizeof(element) has no meaning where several hooks bind types",
                             "write sizeof(ARGUMENT), with the name of an argument of that type");
    return parsed;
  } catch (expression_error const& error) {
    fail_formula(plan_.file, path, text, error);
  }

  std::optional<formula> maximum_of(std::size_t argument)
  {
    auto const& text = plan_.arguments[argument].maximum;
    if (text.empty()) return std::nullopt;
    auto parsed = parse(text, maximum_path(argument));
    auto const is_size = [&](std::size_t value) {
      return value >= plan_formulas::k_first_size && value < result_.first_let();
    };
    if (!std::ranges::all_of(parsed.uses(), is_size))
      fail_formula(plan_.file, maximum_path(argument), text,
                   {"uses a value that is no size", "use numbers and sizes only"});
    return parsed;
  }

  std::vector<formula> shape_of(std::size_t argument)
  {
    std::vector<formula> shape;
    for (auto const& extent : plan_.arguments[argument].shape)
      shape.push_back(parse(extent, shape_path(plan_, argument, shape.size())));
    return shape;
  }

  launch_formulas launch_of(std::size_t index)
  {
    auto const& launch = plan_.launches[index];
    launch_formulas parsed;
    for (std::size_t i = 0; i < 3; ++i) {
      parsed.grid.at(i) = parse(launch.grid.at(i), launch_path(plan_, index, "grid", i));
      parsed.block.at(i) = parse(launch.block.at(i), launch_path(plan_, index, "block", i));
    }
    parsed.shared_bytes = parse(launch.shared_bytes, detail::format("launches[{}].shared", index));
    for (std::size_t i = 0; i < launch.arguments.size(); ++i)
      parsed.arguments.push_back(argument_of(index, i));
    return parsed;
  }

  std::optional<formula> argument_of(std::size_t launch, std::size_t index)
  {
    auto const& argument = plan_.launches[launch].arguments[index];
    if (!argument.argument.empty()) return std::nullopt;
    return parse(argument.formula, launch_argument_path(launch, index));
  }

  std::optional<formula> depth_of(plan_result const& result)
  {
    if (!result.depth) return std::nullopt;
    return parse(*result.depth, "depth." + result.output);
  }

  plan_formulas& result_;
  launch_plan const& plan_;
  formula_symbols symbols_ = {};
};

}  // namespace

std::string shape_path(launch_plan const& plan, std::size_t argument, std::size_t dimension)
{
  if (plan.arguments[argument].shape.size() == 1)
    return detail::format("arguments[{}].count", argument);
  return detail::format("arguments[{}].shape[{}]", argument, dimension);
}

std::string maximum_path(std::size_t argument)
{
  return detail::format("arguments[{}].maximum", argument);
}

std::string launch_path(launch_plan const& plan, std::size_t launch, char const* shape,
                        std::size_t dimension)
{
  auto const& stated = plan.launches[launch];
  auto const& extents = std::string_view(shape) == "grid" ? stated.grid : stated.block;
  auto const path = detail::format("launches[{}].{}", launch, shape);
  if (dimension == 0 && extents[1] == "1" && extents[2] == "1") return path;
  return detail::format("{}[{}]", path, dimension);
}

std::string launch_argument_path(std::size_t launch, std::size_t argument)
{
  return detail::format("launches[{}].arguments[{}]", launch, argument);
}

namespace {

/// Visits values depth first; at most as deep as there are lets and kernels, which are limited.
class value_order {
 public:
  explicit value_order(plan_formulas const& formulas)
      : formulas_(formulas), states_(formulas.names.size(), state::unknown)
  {
  }

  void visit_all(std::vector<std::size_t> const& values)
  {
    for (auto const value : values)
      if (value >= formulas_.first_let()) visit(value);
  }

  std::vector<std::size_t> order = {};

 private:
  enum class state { unknown, open, done };

  void visit(std::size_t value)
  {
    if (states_[value] == state::done) return;
    path_.push_back(value);
    if (states_[value] == state::open) fail_cycle();
    states_[value] = state::open;
    visit_all(uses_of(value));
    states_[value] = state::done;
    path_.pop_back();
    order.push_back(value);
  }

  /// The values that `value` is computed from; an occupancy from the block and shared memory of the
  /// first launch of its kernel.
  [[nodiscard]] std::vector<std::size_t> uses_of(std::size_t value) const
  {
    if (value < formulas_.first_occupancy())
      return formulas_.lets[value - formulas_.first_let()].uses();
    auto const& launch = formulas_.launches[formulas_.kernels[value - formulas_.first_occupancy()]];
    auto uses = launch.shared_bytes.uses();
    for (auto const& extent : launch.block)
      uses.insert(uses.end(), extent.uses().begin(), extent.uses().end());
    return uses;
  }

  [[noreturn]] void fail_cycle() const
  {
    auto const start = std::find(path_.begin(), path_.end(), path_.back());
    std::string text;
    for (auto value = start; value != path_.end(); ++value)
      text += (text.empty() ? "" : " → ") + formulas_.names[*value];
    fail_plan(formulas_.plan.file, place_of(*start),
              detail::format("{} needs itself: {}", formulas_.names[*start], text),
              "state one of them without the others");
  }

  [[nodiscard]] std::string place_of(std::size_t value) const
  {
    if (value < formulas_.first_occupancy()) return "let." + formulas_.names[value];
    return detail::format("launches[{}].block",
                          formulas_.kernels[value - formulas_.first_occupancy()]);
  }

  plan_formulas const& formulas_;
  std::vector<state> states_;
  std::vector<std::size_t> path_ = {};
};

/// plan_formulas::order, of formulas that are parsed.
/// @throws file_error (code invalid-plan) a let or an occupancy needs itself; names the cycle.
std::vector<std::size_t> order_values(plan_formulas const& formulas)
{
  value_order values(formulas);
  for (std::size_t i = 0; i < formulas.lets.size(); ++i)
    values.visit_all({formulas.first_let() + i});
  for_each_formula(formulas, [&](formula const& each) { values.visit_all(each.uses()); });
  return values.order;
}

class constant_check {
 public:
  explicit constant_check(plan_formulas const& formulas)
      : formulas_(formulas), values_(formulas.names.size()), is_known_(formulas.names.size())
  {
  }

  void check_all()
  {
    for (auto const value : formulas_.order)
      if (value < formulas_.first_occupancy()) compute_let(value);
    for (std::size_t i = 0; i < formulas_.shapes.size(); ++i)
      for (std::size_t k = 0; k < formulas_.shapes[i].size(); ++k)
        check(formulas_.shapes[i][k], shape_path(formulas_.plan, i, k), check_extent);
    for (std::size_t i = 0; i < formulas_.launches.size(); ++i) check_launch(i);
    for (std::size_t i = 0; i < formulas_.depths.size(); ++i)
      if (auto const& depth = formulas_.depths[i])
        check(*depth, "depth." + formulas_.plan.results[i].output, check_extent);
  }

 private:
  [[nodiscard]] bool is_constant(formula const& each) const
  {
    return std::ranges::all_of(each.uses(), [&](std::size_t value) { return is_known_[value]; });
  }

  /// `check_value` is called with the value of a constant.
  template <typename Check>
  void check(formula const& each, std::string const& path, Check const& check_value) const
  try {
    if (is_constant(each)) check_value(each.evaluate(values_.data()));
  } catch (expression_error const& error) {
    fail_formula(formulas_.plan.file, path, each.text(), error);
  }

  void compute_let(std::size_t value)
  {
    auto const let = value - formulas_.first_let();
    check(formulas_.lets[let], "let." + formulas_.plan.lets[let].name, [&](std::int64_t result) {
      values_[value] = result;
      is_known_[value] = true;
    });
  }

  void check_launch(std::size_t index) const
  {
    auto const& plan = formulas_.plan;
    auto const& launch = formulas_.launches[index];
    for (std::size_t i = 0; i < 3; ++i) {
      check(launch.grid.at(i), launch_path(plan, index, "grid", i),
            [&](std::int64_t value) { check_grid(value, i); });
      check(launch.block.at(i), launch_path(plan, index, "block", i),
            [&](std::int64_t value) { check_block(value, i); });
    }
    check_threads(index);
    check(launch.shared_bytes, detail::format("launches[{}].shared", index), check_shared_bytes);
    for (std::size_t i = 0; i < launch.arguments.size(); ++i)
      if (auto const& argument = launch.arguments[i])
        check(*argument, launch_argument_path(index, i), [&](std::int64_t value) {
          check_fits(value, plan.launches[index].arguments[i].type);
        });
  }

  void check_threads(std::size_t index) const
  try {
    std::array<unsigned, 3> block{};
    for (std::size_t i = 0; i < 3; ++i) {
      auto const& extent = formulas_.launches[index].block.at(i);
      if (!is_constant(extent)) return;
      block.at(i) = static_cast<unsigned>(extent.evaluate(values_.data()));
    }
    check_block_threads(block);
  } catch (expression_error const& error) {
    fail_plan(formulas_.plan.file, detail::format("launches[{}].block", index), error.what(),
              error.hint());
  }

  plan_formulas const& formulas_;
  std::vector<std::int64_t> values_;  ///< as formulas_ numbers them
  std::vector<bool> is_known_;        ///< likewise
};

/// Evaluates the formulas that are constant, through "let" too, and compares them with the limits
/// of what they state. `formulas`: parsed, with their order.
/// @throws file_error (code invalid-plan) an overflow, a division by zero, or a constant out of
///   range.
void check_constants(plan_formulas const& formulas)
{
  constant_check(formulas).check_all();
}

/// The arguments that the length of `output` may use, in the order of the plan.
std::vector<plan_argument const*> length_operands(launch_plan const& plan,
                                                  plan_argument const& output)
{
  std::vector<plan_argument const*> operands;
  for (auto const& argument : plan.arguments)
    if (argument.role == argument_role::size ||
        (holds_length(argument) && argument.name != output.name))
      operands.push_back(&argument);
  return operands;
}

formula parse_length(std::vector<plan_argument const*> const& operands, std::string const& text)
{
  formula_symbols symbols;
  for (std::size_t i = 0; i < operands.size(); ++i)
    symbols[operands[i]->name] = {.value = static_cast<std::int64_t>(i)};
  return {text, symbols};
}

void check_length(launch_plan const& plan, plan_argument const& output)
{
  auto const operands = length_operands(plan, output);
  auto const length = parse_length(operands, output.length);
  auto const uses_output = std::ranges::any_of(length.uses(), [&](std::size_t index) {
    return operands[index]->role == argument_role::output;
  });
  if (!uses_output)
    throw expression_error("uses no other output of one integer",
                           R"(state it as "count", or name the output that holds the length)");
}

}  // namespace

bool holds_length(plan_argument const& argument)
{
  return argument.role == argument_role::output && argument.length.empty() && argument.type &&
         is_integer(*argument.type) && argument.shape == std::vector<formula_text>{"1"};
}

void check_lengths(launch_plan const& plan)
{
  for (std::size_t i = 0; i < plan.arguments.size(); ++i) {
    auto const& output = plan.arguments[i];
    if (output.length.empty()) continue;
    try {
      check_length(plan, output);
    } catch (expression_error const& error) {
      fail_formula(plan.file, detail::format("arguments[{}].length", i), output.length, error);
    }
  }
}

std::optional<std::int64_t> compute_length(launch_plan const& plan, plan_argument const& output,
                                           std::map<std::string, std::int64_t> const& values)
try {
  auto const operands = length_operands(plan, output);
  std::vector<std::int64_t> operand_values;
  for (auto const* const operand : operands) operand_values.push_back(values.at(operand->name));
  return parse_length(operands, output.length).evaluate(operand_values.data());
} catch (expression_error const&) {
  return std::nullopt;
}

plan_formulas::plan_formulas(launch_plan stated) : plan(std::move(stated))
{
  formula_reader(*this).read();
  order = order_values(*this);
  check_constants(*this);
  for_each_formula(*this, [&](formula const& each) {
    if (std::ranges::binary_search(each.uses(), k_element_bytes)) uses_element_bytes = true;
  });
}

// The ranges of what formulas compute.

namespace {

constexpr std::array k_dimensions{"x", "y", "z"};
constexpr std::array<std::int64_t, 3> k_most_blocks{0x7FFFFFFF, 65535, 65535};
constexpr std::array<std::int64_t, 3> k_most_threads{1024, 1024, 64};
constexpr std::uint64_t k_most_block_threads = 1024;
constexpr std::int64_t k_most_shared_bytes = 0x7FFFFFFF;

}  // namespace

unsigned check_grid(std::int64_t blocks, std::size_t dimension)
{
  if (blocks < 0 || blocks > k_most_blocks.at(dimension))
    throw expression_error(
        detail::format("a grid has 0 to {} blocks in {}, not {}", k_most_blocks.at(dimension),
                       k_dimensions.at(dimension), blocks),
        "compute the grid from sizes that are not negative; let each block do more than one part");
  return static_cast<unsigned>(blocks);
}

unsigned check_block(std::int64_t threads, std::size_t dimension)
{
  if (threads < 1 || threads > k_most_threads.at(dimension))
    throw expression_error(
        detail::format("a block has 1 to {} threads in {}, not {}", k_most_threads.at(dimension),
                       k_dimensions.at(dimension), threads),
        "use more blocks of fewer threads");
  return static_cast<unsigned>(threads);
}

void check_block_threads(std::array<unsigned, 3> const& block)
{
  auto const threads = std::uint64_t{block[0]} * block[1] * block[2];
  if (threads > k_most_block_threads)
    throw expression_error(
        detail::format("a block has at most {} threads, not {} x {} x {} = {}",
                       k_most_block_threads, block[0], block[1], block[2], threads),
        "use more blocks of fewer threads");
}

std::size_t check_shared_bytes(std::int64_t bytes)
{
  if (bytes < 0 || bytes > k_most_shared_bytes)
    throw expression_error(
        detail::format("a block has 0 to {} bytes of dynamic shared memory, not {}",
                       k_most_shared_bytes, bytes),
        "use less shared memory; kernel_attributes states what a kernel can have");
  return static_cast<std::size_t>(bytes);
}

std::size_t check_extent(std::int64_t count)
{
  if (count < 0)
    throw expression_error(detail::format("an array cannot have {} elements", count),
                           "compute it from sizes that are large enough");
  return static_cast<std::size_t>(count);
}

bool is_integer(element_type const& type) noexcept
{
  return type.kind >= scalar_kind::int8 && type.kind <= scalar_kind::uint64;
}

bool fits(std::int64_t value, element_type const& type) noexcept
{
  auto const bits = type.size * 8;
  auto const is_unsigned = type.kind >= scalar_kind::uint8 && type.kind <= scalar_kind::uint64;
  if (is_unsigned) return value >= 0 && (bits >= 64 || value >> bits == 0);
  if (bits >= 64) return true;
  auto const limit = std::int64_t{1} << (bits - 1);
  return value >= -limit && value < limit;
}

void check_fits(std::int64_t value, element_type const& type)
{
  if (!fits(value, type))
    throw expression_error(detail::format("{} is out of the range of {}", value, to_string(type)),
                           "pass it as a larger type that the kernel takes, or use smaller sizes");
}

void fail_plan(std::string const& file, std::string const& path, std::string const& cause,
               std::string hint)
{
  fail_json(error_code::invalid_plan, file, path, cause, std::move(hint));
}

void fail_formula(std::string const& file, std::string const& path, std::string const& text,
                  expression_error const& error)
{
  fail_plan(file, path, detail::format("{}: {}", in_quotes(text), error.what()), error.hint());
}

}  // namespace fatlink::detail
