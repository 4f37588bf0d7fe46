// SPDX-License-Identifier: Apache-2.0
#include "run/sidecar_form.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "plan/components.hpp"

namespace fatlink::cli {
namespace {

using strings = std::vector<std::string>;

/// More fields than an example needs.
constexpr std::size_t k_most_fields = 16;

/// The struct that an example has for elements of `size` bytes of which nothing else is known;
/// nothing for large ones.
std::optional<element_type> example_struct(std::size_t size)
{
  auto const type = size % 4 == 0   ? scalar_type(scalar_kind::float32)
                    : size % 2 == 0 ? scalar_type(scalar_kind::float16)
                                    : scalar_type(scalar_kind::uint8);
  auto const count = size / type.size;
  if (count > k_most_fields) return std::nullopt;
  strings names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("field{}", i + 1));
  return record_type("element", names, std::vector(count, type));
}

/// The names of the numbers of an element, such as fields; one empty name for a single number.
strings numbers_of(element_type const& type)
{
  strings names;
  for (auto const& part : detail::components_of(type)) names.push_back(part.name);
  return names;
}

/// A parameter of a hook, and the fields of its type.
struct hook_parameter {
  std::string name = {};
  strings fields = {};

  /// "a.value": the field if there is one of this name, else the first one.
  [[nodiscard]] std::string number(std::string const& field = {}) const
  {
    auto const has_field = std::ranges::find(fields, field) != fields.end();
    auto const& used = has_field ? field : fields.front();
    return used.empty() ? name : name + "." + used;
  }
};

/// Makes the form: the hooks of one computation after the other.
class form_maker {
 public:
  form_maker(launch_plan const& plan, std::set<std::string> const& hooks)
      : plan_(plan), hooks_(hooks)
  {
  }

  std::string make(std::string const& name)
  {
    for (auto const& result : plan_.results)
      if (auto const* const output = plan_.find(result.output); output != nullptr && output->type)
        add(result.value, *output->type, false);
    if (texts_.empty() || !is_acceptable()) return {};
    strings members;
    for (auto const& [hook, text] : texts_) members.push_back("  " + text);
    return fmt::format("{{\"name\": {}, \"hooks\": {{\n{}\n}}{}{}}}", nlohmann::json(name).dump(),
                       fmt::join(members, ",\n"), element_text(),
                       is_folded_ ? ", \"error_model\": \"additive\"" : "");
  }

 private:
  /// "element" is the type of all elements that the hooks handle.
  [[nodiscard]] bool is_acceptable() const
  {
    auto const is_other = [&](plan_argument const& argument) {
      return texts_.contains(argument.hook) && argument.type &&
             argument.type->kind != scalar_kind::bytes;
    };
    return has_example_ && (!example_ || std::ranges::none_of(plan_.arguments, is_other));
  }

  /// Adds the hook of `node`, whose result has the type `result`, and those of its operands.
  void add(computation const& node, element_type const& result, bool is_inner)
  {
    auto const inner = type_of_inner(node, result);
    if (hooks_.contains(node.name) && node.kind != operation::argument)
      texts_.try_emplace(node.name, hook_text(node, result, inner, is_inner));
    for (auto const& operand : node.operands) add(operand, inner, true);
  }

  /// The type of a hook's result that is an operand of `node`: of what is folded or selected that
  /// of the result; of others float32, which the hook's "type" states.
  [[nodiscard]] static element_type type_of_inner(computation const& node,
                                                  element_type const& result)
  {
    switch (node.kind) {
      case operation::fold:
      case operation::scan:
      case operation::exclusive_scan:
      case operation::segmented_fold:
      case operation::fold_runs:
      case operation::scan_runs:
      case operation::filter:
      case operation::rejected:
      case operation::neighbor:
        return result;
      default:
        return scalar_type(scalar_kind::float32);
    }
  }

  std::string hook_text(computation const& node, element_type const& result,
                        element_type const& inner, bool is_inner)
  {
    auto const parameters = parameters_of(node, result, inner);
    strings names;
    for (auto const& parameter : parameters) names.push_back('"' + parameter.name + '"');
    auto const type = known(result);
    std::string stated;
    if (is_inner && node.kind == operation::map)
      stated = type.kind == scalar_kind::record ? "element" : to_string(type);
    return fmt::format(R"("{}": {{"parameters": [{}], "result": {}{}{}}})", node.name,
                       fmt::join(names, ", "), result_text(node, parameters, numbers_of(type)),
                       stated.empty() ? "" : fmt::format(R"(, "type": "{}")", stated),
                       has_tolerance(node.kind) ? R"(, "tolerance": {"ulp": 1})" : "");
  }

  /// Whether numbers are compared with the hook's result; other operations copy or count elements.
  static bool has_tolerance(operation kind)
  {
    switch (kind) {
      case operation::map:
      case operation::histogram:
        return true;
      default:
        return detail::accumulates(kind);
    }
  }

  std::vector<hook_parameter> parameters_of(computation const& node, element_type const& result,
                                            element_type const& inner)
  {
    switch (node.kind) {
      case operation::map:
        return parameters_of_map(node, inner);
      case operation::filter:
      case operation::rejected:
      case operation::count:
      case operation::histogram:
      case operation::sort_by:
      case operation::filter_equal:
      case operation::filter_above:
      case operation::count_equal:
        return {{"x", numbers_of(operand_type(node.operands.front(), inner))}};
      case operation::unique:
      case operation::unique_count:
      case operation::run_lengths:
      case operation::sort:
      case operation::segmented_sort:
      case operation::merge:
      case operation::lower_bound:
      case operation::upper_bound: {
        auto const fields = numbers_of(operand_type(node.operands.front(), inner));
        return {{"a", fields}, {"b", fields}};
      }
      default: {
        auto const fields = numbers_of(known(result));
        return {{"a", fields}, {"b", fields}};
      }
    }
  }

  std::vector<hook_parameter> parameters_of_map(computation const& node, element_type const& inner)
  {
    std::vector<hook_parameter> parameters;
    auto const is_one = node.operands.size() == 1;
    for (auto const& operand : node.operands)
      parameters.push_back({is_one ? "x" : fmt::format("x{}", parameters.size() + 1),
                            numbers_of(operand_type(operand, inner))});
    return parameters;
  }

  element_type operand_type(computation const& operand, element_type const& inner)
  {
    switch (operand.kind) {
      case operation::argument: {
        auto const* const argument = plan_.find(operand.name);
        return known(argument != nullptr && argument->type ? *argument->type : inner);
      }
      case operation::neighbor:
        return operand_type(operand.operands.front(), inner);
      case operation::index:
        return scalar_type(scalar_kind::int64);
      default:
        return known(inner);
    }
  }

  /// `type`; of one with a size only, the struct of the example.
  element_type known(element_type const& type)
  {
    if (type.kind != scalar_kind::bytes) return type;
    if (!example_) example_ = example_struct(type.size);
    has_example_ = has_example_ && example_ && example_->size == type.size;
    return example_ ? *example_ : scalar_type(scalar_kind::uint8);
  }

  std::string result_text(computation const& node, std::vector<hook_parameter> const& parameters,
                          strings const& fields)
  {
    switch (node.kind) {
      case operation::filter:
      case operation::rejected:
      case operation::count:
        return fmt::format(R"("{} > 0")", parameters.front().number());
      case operation::histogram:
      case operation::sort_by:
      case operation::filter_equal:
      case operation::filter_above:
      case operation::count_equal:
        return fmt::format(R"("{}")", parameters.front().number());
      case operation::unique:
      case operation::unique_count:
      case operation::run_lengths:
        return fmt::format(R"("{} == {}")", parameters[0].number(), parameters[1].number());
      case operation::sort:
      case operation::segmented_sort:
      case operation::merge:
      case operation::lower_bound:
      case operation::upper_bound:
        return fmt::format(R"("{} < {}")", parameters[0].number(), parameters[1].number());
      case operation::map:
        return sum_text(parameters, fields);
      default:
        is_folded_ = true;
        return sum_text(parameters, fields);
    }
  }

  /// The sum of the parameters, field by field.
  static std::string sum_text(std::vector<hook_parameter> const& parameters, strings const& fields)
  {
    strings members;
    for (auto const& field : fields) {
      strings numbers;
      for (auto const& parameter : parameters) numbers.push_back(parameter.number(field));
      members.push_back(fmt::format(R"({}"{}")",
                                    field.empty() ? "" : fmt::format(R"("{}": )", field),
                                    fmt::join(numbers, " + ")));
    }
    auto const is_number = fields.size() == 1 && fields.front().empty();
    return is_number ? members.front() : fmt::format("{{{}}}", fmt::join(members, ", "));
  }

  /// `, "element": [{"name": "field1", "type": "float32"}]`.
  [[nodiscard]] std::string element_text() const
  {
    if (!example_) return {};
    strings fields;
    for (auto const& field : example_->fields)
      fields.push_back(
          fmt::format(R"({{"name": "{}", "type": "{}"}})", field.name, to_string(field.type)));
    return fmt::format(",\n\"element\": [{}]", fmt::join(fields, ", "));
  }

  launch_plan const& plan_;
  std::set<std::string> const& hooks_;
  std::map<std::string, std::string> texts_ = {};  ///< by hook
  std::optional<element_type> example_ = {};       ///< for elements with a size only
  bool has_example_ = true;  ///< whether it stands for all elements with a size only
  bool is_folded_ = false;   ///< floats need an error model
};

}  // namespace

std::string sidecar_form(launch_plan const& plan, std::set<std::string> const& hooks,
                         std::string const& name)
{
  return form_maker(plan, hooks).make(name);
}

}  // namespace fatlink::cli
