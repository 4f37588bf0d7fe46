// SPDX-License-Identifier: Apache-2.0
#include "plan/find_sizes.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "fatlink/error.hpp"
#include "plan/launch_limits.hpp"
#include "util/text/format.hpp"
#include "util/text/nearest.hpp"
#include "util/text/printable.hpp"

namespace fatlink::detail {
namespace {

[[noreturn]] void fail(std::string const& argument, std::string const& cause, std::string hint)
{
  throw usage_error({.message = detail::format("argument {}: {}", argument, cause),
                     .input = argument,
                     .code = error_code::invalid_argument,
                     .hint = std::move(hint)});
}

bool is_array(plan_argument const& argument)
{
  return argument.role == argument_role::input || argument.role == argument_role::output ||
         argument.role == argument_role::scratch;
}

bool is_size(plan_argument const& argument)
{
  return argument.role == argument_role::size;
}

/// @throws usage_error `name` is no argument of the plan of the kind `what`.
void check_name(launch_plan const& plan, std::string const& name,
                bool (*is_kind)(plan_argument const&), char const* what)
{
  auto const* const argument = plan.find(name);
  if (argument != nullptr && is_kind(*argument)) return;
  std::vector<std::string> names;
  for (auto const& each : plan.arguments)
    if (is_kind(each)) names.push_back(each.name);
  auto const similar = nearest(names, name);
  fail(in_quotes(name), detail::format("plan {} has no {} of this name", plan.name, what),
       similar.empty() ? detail::format("see the arguments in {}", plan.file)
                       : detail::format("did you mean {}?", similar));
}

std::string describe_extents(std::vector<std::size_t> const& extents)
{
  std::string text;
  for (auto const extent : extents)
    text += detail::format("{}{}", text.empty() ? "" : " x ", extent);
  return text.empty() ? "none" : text;
}

/// What is known of one size.
struct known_size {
  std::optional<std::int64_t> value = {};
  std::string source = {};  ///< "argument image (dimension 0)", "the value given"
};

class size_search {
 public:
  size_search(plan_formulas const& formulas, size_remedy remedy)
      : formulas_(formulas), remedy_(remedy), known_(formulas.sizes.size())
  {
  }

  void add_stated(stated_sizes const& stated)
  {
    for (auto const& [name, value] : stated) {
      check_name(formulas_.plan, name, is_size, "size");
      for (std::size_t i = 0; i < known_.size(); ++i)
        if (argument_of(i).name == name) add(i, value, "the value given for it");
    }
  }

  void add_array(std::string const& name, std::vector<std::size_t> const& extents)
  {
    check_name(formulas_.plan, name, is_array, "array");
    auto const index =
        static_cast<std::size_t>(formulas_.plan.find(name) - formulas_.plan.arguments.data());
    auto const& shape = formulas_.shapes[index];
    if (shape.size() != extents.size())
      fail(name,
           detail::format("has {} dimension{} in the plan; {} ({}) given", shape.size(),
                          shape.size() == 1 ? "" : "s", extents.size(), describe_extents(extents)),
           "pass an array of the dimensions that the plan states");
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (shape[i].uses().size() == 1 && is_size_value(shape[i].uses()[0]))
        if (auto const value = shape[i].solve(to_signed(name, extents[i])))
          add(shape[i].uses()[0] - plan_formulas::k_first_size, *value,
              shape.size() == 1 ? "argument " + name
                                : detail::format("argument {} (dimension {})", name, i));
  }

  [[nodiscard]] std::vector<std::int64_t> finish() const
  {
    std::vector<std::int64_t> values;
    for (std::size_t i = 0; i < known_.size(); ++i) values.push_back(value_of(i));
    return values;
  }

 private:
  [[nodiscard]] plan_argument const& argument_of(std::size_t size) const
  {
    return formulas_.plan.arguments[formulas_.sizes[size]];
  }

  [[nodiscard]] bool is_size_value(std::size_t value) const
  {
    return value >= plan_formulas::k_first_size && value < formulas_.first_let();
  }

  static std::int64_t to_signed(std::string const& name, std::size_t extent)
  {
    if (extent > static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max()))
      fail(name, detail::format("an extent of {}, above 2^63 - 1", extent), "pass a smaller array");
    return static_cast<std::int64_t>(extent);
  }

  void add(std::size_t size, std::int64_t value, std::string const& source)
  {
    auto const& argument = argument_of(size);
    if (argument.type && !fits(value, *argument.type))
      fail(argument.name,
           detail::format("{} is out of the range of {}, its type in {}", value,
                          to_string(*argument.type), formulas_.plan.file),
           "use a smaller array, or a size that is not negative");
    auto& known = known_[size];
    if (known.value && *known.value != value)
      fail(argument.name,
           detail::format("is {} by {}, and {} by {}", *known.value, known.source, value, source),
           "pass arrays of sizes that agree");
    if (!known.value) known = {value, source};
  }

  [[nodiscard]] std::int64_t value_of(std::size_t size) const
  {
    if (known_[size].value) return *known_[size].value;
    auto const& argument = argument_of(size);
    std::int64_t value = 0;
    auto const text = argument.default_value.value_or("");
    auto const [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (!text.empty() && status == std::errc{} && end == text.data() + text.size()) return value;
    fail(argument.name,
         detail::format("plan {} needs this size; it is not given, and no array that is given has "
                        "it as an extent",
                        formulas_.plan.name),
         remedy_(argument.name));
  }

  plan_formulas const& formulas_;
  size_remedy remedy_;
  std::vector<known_size> known_;
};

}  // namespace

std::string remedy_by_name(std::string const& size)
{
  return "give its value<, as in> " + size + "=N";
}

std::vector<std::int64_t> find_sizes(plan_formulas const& formulas, array_extents const& arrays,
                                     stated_sizes const& stated, size_remedy remedy)
{
  size_search search(formulas, remedy);
  search.add_stated(stated);
  // In the order of the plan, so that errors name inputs first.
  for (auto const& [name, extents] : arrays) check_name(formulas.plan, name, is_array, "array");
  for (auto const& argument : formulas.plan.arguments)
    if (auto const array = arrays.find(argument.name); array != arrays.end())
      search.add_array(array->first, array->second);
  return search.finish();
}

void check_extents(plan_formulas const& formulas, plan_values const& values,
                   array_extents const& arrays)
{
  for (std::size_t i = 0; i < formulas.plan.arguments.size(); ++i) {
    auto const& argument = formulas.plan.arguments[i];
    auto const array = arrays.find(argument.name);
    if (array == arrays.end() || array->second == values.extents[i]) continue;
    fail(argument.name,
         detail::format("has {} elements in the plan ({}); {} given",
                        describe_extents(values.extents[i]), shape_path(formulas.plan, i, 0),
                        describe_extents(array->second)),
         "pass an array of this size");
  }
}

}  // namespace fatlink::detail
