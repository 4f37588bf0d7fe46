// SPDX-License-Identifier: Apache-2.0
#include "verification/operand_program.hpp"

#include <algorithm>
#include <cmath>

#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr std::size_t k_most_depth = 64;

class array_operand final : public operand_program {
 public:
  explicit array_operand(array_view const& array) : array_(array)
  {
    set_parts(components_of(array.type));
  }

  void evaluate(std::size_t index) override
  {
    auto const* const element =
        array_.bytes.data() + (array_.count() == 1 ? 0 : index) * array_.type.size;
    for (std::size_t i = 0; i < parts_.size(); ++i)
      values_[i] = load(parts_[i].kind, element + parts_[i].offset);
  }

 private:
  array_view const& array_;
};

class index_operand final : public operand_program {
 public:
  index_operand() { set_parts({{.kind = scalar_kind::uint64}}); }
  void evaluate(std::size_t index) override { values_.front() = whole_number(index); }
};

class neighbor_operand final : public operand_program {
 public:
  neighbor_operand(std::unique_ptr<operand_program> operand, std::int64_t offset, std::size_t count)
      : operand_(std::move(operand)), offset_(offset), count_(count)
  {
    set_parts(operand_->parts());
  }

  void evaluate(std::size_t index) override
  {
    auto const place = static_cast<int128>(index) + offset_;
    auto const last = static_cast<int128>(count_) - 1;
    operand_->evaluate(static_cast<std::size_t>(std::clamp<int128>(place, 0, last)));
    std::copy_n(operand_->values(), values_.size(), values_.begin());
    std::copy_n(operand_->bounds(), bounds_.size(), bounds_.begin());
  }

 private:
  std::unique_ptr<operand_program> operand_;
  std::int64_t offset_;
  std::size_t count_;
};

class map_operand final : public operand_program {
 public:
  map_operand(hook_program hook, std::vector<std::unique_ptr<operand_program>> operands)
      : hook_(std::move(hook)), operands_(std::move(operands))
  {
    set_parts(hook_.result());
    shifted_.resize(values_.size());
    for (auto const& operand : operands_) {
      pointers_.push_back(operand->values());
      operand_bounds_.push_back(operand->bounds());
    }
  }

  void evaluate(std::size_t index) override
  {
    for (auto const& operand : operands_) operand->evaluate(index);
    hook_.evaluate(pointers_, values_.data());
    for (std::size_t i = 0; i < parts_.size(); ++i)
      bounds_[i] = tolerance_at(hook_.tolerance(), parts_, i, values_.data(),
                                hook_.largest_operand(i, operand_bounds_));
    for (std::size_t i = 0; i < operands_.size(); ++i) add_propagated(i);
  }

 private:
  /// Adds how far the result moves if a number of operand `place` moves by its bound.
  void add_propagated(std::size_t place)
  {
    auto const& operand = *operands_[place];
    for (std::size_t i = 0; i < operand.parts().size(); ++i) {
      auto const bound = operand.bounds()[i];
      if (bound == 0) continue;
      change_.assign(bounds_.size(), 0);
      copy_.assign(operand.values(), operand.values() + operand.parts().size());
      auto const value = copy_[i];
      for (auto const sign : {1, -1}) {
        copy_[i] = shifted(operand.parts()[i].kind, value, sign * bound);
        measure_change(place);
      }
      for (std::size_t j = 0; j < bounds_.size(); ++j) bounds_[j] += change_[j];
    }
  }

  static number shifted(scalar_kind kind, number const& value, double distance)
  {
    if (!is_integer(kind)) return {.real = value.real + distance};
    auto const steps = std::clamp(std::trunc(distance), -0x1p62, 0x1p62);
    return whole_number(value.whole + static_cast<int128>(steps));
  }

  void measure_change(std::size_t place)
  {
    auto const* const original = pointers_[place];
    pointers_[place] = copy_.data();
    hook_.evaluate(pointers_, shifted_.data());
    pointers_[place] = original;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      auto const distance = is_integer(parts_[i].kind)
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
  std::vector<number> shifted_;
  std::vector<number> copy_;
  std::vector<double> change_;
};

class operand_compiler {
 public:
  operand_compiler(program_context const& context, std::size_t count, scalar_kind real)
      : context_(context), count_(count), real_(real)
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
        return std::make_unique<index_operand>();
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
    return std::make_unique<array_operand>(array);
  }

  std::unique_ptr<operand_program> compile_map(computation const& node,
                                               std::optional<components> const& result,
                                               std::size_t depth)
  {
    auto const stated = context_.find_hook(node.name);
    hook_program_types types{.result = result, .real = real_, .state = context_.data.state};
    if (!result && stated.hook->type) types.result = components_of(*stated.hook->type);
    std::vector<std::unique_ptr<operand_program>> operands;
    for (auto const& operand : node.operands) {
      operands.push_back(compile(operand, std::nullopt, depth + 1));
      types.operands.push_back(operands.back()->parts());
    }
    return std::make_unique<map_operand>(hook_program(stated, types), std::move(operands));
  }

  program_context const& context_;
  std::size_t count_;
  scalar_kind real_;
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
  throw not_verifiable(detail::format(
      "no sidecar (.json beside a transform) states what the hook {} computes", name));
}

array_view const& program_context::find_array(std::string const& name) const
{
  auto const place = data.arguments.find(name);
  if (place == data.arguments.end())
    throw not_verifiable(detail::format("the data of {} is not known", name));
  return place->second;
}

void operand_program::set_parts(components parts)
{
  parts_ = std::move(parts);
  values_.resize(parts_.size());
  bounds_.resize(parts_.size());
}

std::unique_ptr<operand_program> compile_operand(computation const& node,
                                                 program_context const& context, std::size_t count,
                                                 std::optional<components> const& result)
{
  return operand_compiler(context, count, real_kind_of(node, context)).compile(node, result);
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
