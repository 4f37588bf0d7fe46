// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_values.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "fatlink/error.hpp"
#include "plan/plan_formulas.hpp"
#include "util/text/format.hpp"
#include "util/text/nearest.hpp"

namespace fatlink::detail {
namespace {

/// ", with n = 5, k = 0".
std::string describe_sizes(plan_formulas const& formulas, plan_values const& values)
{
  std::string text;
  for (std::size_t i = 0; i < formulas.sizes.size(); ++i)
    text += detail::format("{} {} = {}", text.empty() ? ", with" : ",",
                           formulas.names[plan_formulas::k_first_size + i],
                           values.values[plan_formulas::k_first_size + i]);
  return text;
}

/// Whether `each` uses a value that is `marked`.
bool uses_any(formula const& each, std::vector<bool> const& marked)
{
  return std::ranges::any_of(each.uses(), [&](std::size_t index) { return marked[index]; });
}

/// Of each value, whether it depends on the device.
std::vector<bool> values_of_device(plan_formulas const& formulas)
{
  std::vector<bool> marked(formulas.names.size());
  marked[plan_formulas::k_multiprocessors] = true;
  marked[plan_formulas::k_shared_memory] = true;
  for (auto const index : formulas.order)
    marked[index] = index >= formulas.first_occupancy() ||
                    uses_any(formulas.lets[index - formulas.first_let()], marked);
  return marked;
}

class computation_of_values {
 public:
  computation_of_values(plan_formulas const& formulas, device_facts const& facts,
                        plan_values& result)
      : formulas_(formulas), facts_(facts), result_(result)
  {
  }

  void compute_all()
  {
    check_maxima();
    for (auto const index : formulas_.order)
      result_.values[index] = index < formulas_.first_occupancy()
                                  ? compute_let(index - formulas_.first_let())
                                  : compute_occupancy(index - formulas_.first_occupancy());
    for (std::size_t i = 0; i < formulas_.shapes.size(); ++i) compute_extents(i);
    for (std::size_t i = 0; i < formulas_.launches.size(); ++i) compute_launch(i);
  }

  /// Without the values that are `unknown`, and what needs them.
  void compute_arrays(std::vector<bool> const& unknown)
  {
    check_maxima();
    for (auto const index : formulas_.order)
      if (!unknown[index]) result_.values[index] = compute_let(index - formulas_.first_let());
    for (std::size_t i = 0; i < formulas_.shapes.size(); ++i)
      if (std::ranges::any_of(formulas_.shapes[i],
                              [&](auto const& extent) { return uses_any(extent, unknown); }))
        result_.extents[i].clear();
      else
        compute_extents(i);
  }

  /// The value of `each`, as `check` returns it. `path` makes its path within the JSON.
  template <typename Check, typename Path>
  auto compute(formula const& each, Check const& check, Path const& path) const
  try {
    return check(each.evaluate(result_.values.data()));
  } catch (expression_error const& error) {
    fail_formula(formulas_.plan.file, path(), each.text(), with_sizes(error));
  }

 private:
  [[nodiscard]] expression_error with_sizes(expression_error const& error) const
  {
    return {error.what() + describe_sizes(formulas_, result_), error.hint()};
  }

  /// @throws usage_error a size exceeds its "maximum".
  void check_maxima() const
  {
    for (std::size_t i = 0; i < formulas_.sizes.size(); ++i)
      if (formulas_.maxima[i]) check_maximum(i);
  }

  void check_maximum(std::size_t size) const
  {
    auto const index = formulas_.sizes[size];
    auto const most = compute(
        *formulas_.maxima[size], [](std::int64_t value) { return value; },
        [&] { return maximum_path(index); });
    auto const value = result_.values[plan_formulas::k_first_size + size];
    if (value <= most) return;
    auto const& name = formulas_.plan.arguments[index].name;
    auto const& text = formulas_.plan.arguments[index].maximum;
    auto const limit = std::to_string(most);
    throw usage_error(
        {.message = detail::format("{} is {}, and the plan {} allows at most {}{}", name, value,
                                   formulas_.plan.name, limit,
                                   text == limit ? "" : detail::format(" ({})", text)),
         .input = name,
         .code = error_code::invalid_argument,
         .hint = detail::format("pass a smaller {}", name)});
  }

  std::int64_t compute_let(std::size_t let) const
  {
    return compute(
        formulas_.lets[let], [](std::int64_t value) { return value; },
        [&] { return "let." + formulas_.plan.lets[let].name; });
  }

  [[nodiscard]] std::array<unsigned, 3> compute_block(std::size_t launch) const
  {
    std::array<unsigned, 3> block{};
    for (std::size_t i = 0; i < 3; ++i)
      block[i] = compute(
          formulas_.launches[launch].block[i],
          [&](std::int64_t value) { return check_block(value, i); },
          [&] { return launch_path(formulas_.plan, launch, "block", i); });
    check_product(block, launch);
    return block;
  }

  void check_product(std::array<unsigned, 3> const& block, std::size_t launch) const
  try {
    check_block_threads(block);
  } catch (expression_error const& error) {
    fail_plan(formulas_.plan.file, detail::format("launches[{}].block", launch),
              with_sizes(error).what(), error.hint());
  }

  [[nodiscard]] std::size_t compute_shared_bytes(std::size_t launch) const
  {
    return compute(formulas_.launches[launch].shared_bytes, check_shared_bytes,
                   [&] { return detail::format("launches[{}].shared", launch); });
  }

  [[nodiscard]] std::int64_t compute_occupancy(std::size_t kernel) const
  {
    auto const launch = formulas_.kernels[kernel];
    auto const& name = formulas_.plan.launches[launch].kernel;
    auto const block = compute_block(launch);
    auto const threads = block[0] * block[1] * block[2];
    auto const shared_bytes = compute_shared_bytes(launch);
    auto const blocks = facts_.occupancy(name, threads, shared_bytes);
    if (blocks > 0) return blocks;
    throw device_error(
        stage::device,
        {.message = detail::format("{}: launches[{}]: a multiprocessor of this device cannot run a "
                                   "block of {} with {} threads and {} bytes of dynamic shared "
                                   "memory",
                                   formulas_.plan.file, launch, name, threads, shared_bytes),
         .input = formulas_.plan.file,
         .code = error_code::invalid_launch,
         .hint = "state a smaller block, or less shared memory"});
  }

  void compute_extents(std::size_t argument)
  {
    auto const& shape = formulas_.shapes[argument];
    auto& extents = result_.extents[argument];
    std::size_t count = 1;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      auto const path = [&] { return shape_path(formulas_.plan, argument, i); };
      extents[i] = compute(shape[i], check_extent, path);
      if (__builtin_mul_overflow(count, extents[i], &count) || is_too_large(argument, count))
        fail_formula(formulas_.plan.file, path(), shape[i].text(),
                     with_sizes({"the array has more than 2^63 - 1 bytes", "use smaller sizes"}));
    }
    result_.counts[argument] = count;
  }

  [[nodiscard]] bool is_too_large(std::size_t argument, std::size_t count) const
  {
    auto const& type = formulas_.plan.arguments[argument].type;
    auto const bytes = type ? type->size : static_cast<std::size_t>(facts_.element_bytes);
    std::int64_t product = 0;
    return __builtin_mul_overflow(count, bytes == 0 ? 1 : bytes, &product);
  }

  void compute_launch(std::size_t launch)
  {
    auto const& parsed = formulas_.launches[launch];
    auto& values = result_.launches[launch];
    for (std::size_t i = 0; i < 3; ++i)
      values.grid[i] = compute(
          parsed.grid[i], [&](std::int64_t value) { return check_grid(value, i); },
          [&] { return launch_path(formulas_.plan, launch, "grid", i); });
    values.block = compute_block(launch);
    values.shared_bytes = compute_shared_bytes(launch);
    for (std::size_t i = 0; i < parsed.arguments.size(); ++i)
      if (parsed.arguments[i]) values.arguments[i] = compute_argument(launch, i);
  }

  [[nodiscard]] std::int64_t compute_argument(std::size_t launch, std::size_t index) const
  {
    auto const& type = formulas_.plan.launches[launch].arguments[index].type;
    auto const check = [&](std::int64_t value) {
      check_fits(value, type);
      return value;
    };
    return compute(*formulas_.launches[launch].arguments[index], check,
                   [&] { return launch_argument_path(launch, index); });
  }

  plan_formulas const& formulas_;
  device_facts const& facts_;
  plan_values& result_;
};

void check_element(plan_formulas const& formulas, device_facts const& facts)
{
  if (!formulas.uses_element_bytes || facts.element_bytes > 0) return;
  throw usage_error({.message = detail::format("plan {} needs the size of an element, which no "
                                               "transform states",
                                               formulas.plan.name),
                     .input = formulas.plan.file,
                     .code = error_code::invalid_argument,
                     .hint = "state the element type"});
}

/// Makes room for the results; none is allocated the second time.
void resize(plan_formulas const& formulas, plan_values& result)
{
  result.values.resize(formulas.names.size());
  result.extents.resize(formulas.shapes.size());
  result.counts.resize(formulas.shapes.size());
  for (std::size_t i = 0; i < formulas.shapes.size(); ++i)
    result.extents[i].resize(formulas.shapes[i].size());
  result.launches.resize(formulas.launches.size());
  for (std::size_t i = 0; i < formulas.launches.size(); ++i)
    result.launches[i].arguments.resize(formulas.launches[i].arguments.size());
}

}  // namespace

void compute_values(plan_formulas const& formulas, std::span<std::int64_t const> sizes,
                    device_facts const& facts, plan_values& result)
{
  check_element(formulas, facts);
  resize(formulas, result);
  result.values[plan_formulas::k_multiprocessors] = facts.multiprocessors;
  result.values[plan_formulas::k_shared_memory] = facts.shared_memory;
  result.values[plan_formulas::k_element_bytes] = facts.element_bytes;
  for (std::size_t i = 0; i < formulas.sizes.size(); ++i)
    result.values[plan_formulas::k_first_size + i] = sizes[i];
  computation_of_values(formulas, facts, result).compute_all();
}

plan_values compute_without_device(plan_formulas const& formulas,
                                   std::span<std::int64_t const> sizes)
{
  check_element(formulas, {});
  plan_values result;
  resize(formulas, result);
  std::ranges::copy(sizes, result.values.begin() + plan_formulas::k_first_size);
  computation_of_values(formulas, {}, result).compute_arrays(values_of_device(formulas));
  return result;
}

plan_values compute_values(plan_formulas const& formulas, std::span<std::int64_t const> sizes,
                           device_facts const& facts)
{
  plan_values result;
  compute_values(formulas, sizes, facts, result);
  return result;
}

std::size_t compute_depth(plan_formulas const& formulas, std::size_t result,
                          plan_values const& values)
{
  if (!formulas.depths[result]) return 0;
  plan_values copy = values;
  return computation_of_values(formulas, {}, copy)
      .compute(*formulas.depths[result], check_extent,
               [&] { return "depth." + formulas.plan.results[result].output; });
}

namespace {

[[noreturn]] void fail_extent(std::string const& argument, std::string const& cause,
                              std::string hint)
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
  fail_extent(in_quotes(name), detail::format("plan {} has no {} of this name", plan.name, what),
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
      fail_extent(
          name,
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
      fail_extent(name, detail::format("an extent of {}, above 2^63 - 1", extent),
                  "pass a smaller array");
    return static_cast<std::int64_t>(extent);
  }

  void add(std::size_t size, std::int64_t value, std::string const& source)
  {
    auto const& argument = argument_of(size);
    if (argument.type && !fits(value, *argument.type))
      fail_extent(argument.name,
                  detail::format("{} is out of the range of {}, its type in {}", value,
                                 to_string(*argument.type), formulas_.plan.file),
                  "use a smaller array, or a size that is not negative");
    auto& known = known_[size];
    if (known.value && *known.value != value)
      fail_extent(argument.name,
                  detail::format("is {} according to {}, but {} according to {}", *known.value,
                                 known.source, value, source),
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
    fail_extent(
        argument.name,
        detail::format("plan {} needs this size; neither it nor an array with this extent is given",
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
    fail_extent(argument.name,
                detail::format("has {} elements in the plan ({}); {} given",
                               describe_extents(values.extents[i]), shape_path(formulas.plan, i, 0),
                               describe_extents(array->second)),
                "pass an array of this size");
  }
}

}  // namespace fatlink::detail
