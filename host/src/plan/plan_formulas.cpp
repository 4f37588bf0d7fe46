// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_formulas.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <string>

#include "plan/check_constants.hpp"
#include "plan/order_values.hpp"
#include "plan/plan_error.hpp"
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

plan_formulas::plan_formulas(launch_plan stated) : plan(std::move(stated))
{
  formula_reader(*this).read();
  order = order_values(*this);
  check_constants(*this);
  for_each_formula(*this, [&](formula const& each) {
    if (std::ranges::binary_search(each.uses(), k_element_bytes)) uses_element_bytes = true;
  });
}

std::string shape_path(launch_plan const& plan, std::size_t argument, std::size_t dimension)
{
  if (plan.arguments[argument].shape.size() == 1)
    return detail::format("arguments[{}].count", argument);
  return detail::format("arguments[{}].shape[{}]", argument, dimension);
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

}  // namespace fatlink::detail
