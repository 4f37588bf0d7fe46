// SPDX-License-Identifier: Apache-2.0
#include "run/run_array.hpp"

#include <cstring>
#include <utility>

namespace fatlink::cli {
namespace {

constexpr std::size_t k_boundary = 1024;
constexpr std::size_t k_least_rounded = 64 * k_boundary;  // parts differ by less than 2 %

/// Where part `index` begins: count * index / parts, without its overflow.
std::size_t begin_of(std::size_t index, std::size_t count, std::size_t parts)
{
  auto const begin = count / parts * index + count % parts * index / parts;
  return count / parts < k_least_rounded || index == parts ? begin
                                                           : begin / k_boundary * k_boundary;
}

class held_elements final : public element_source {
 public:
  explicit held_elements(std::shared_ptr<host_array const> array) : array_(std::move(array)) {}
  [[nodiscard]] element_type const& type() const noexcept override { return array_->type; }
  [[nodiscard]] std::vector<std::size_t> const& extents() const noexcept override
  {
    return array_->extents;
  }
  [[nodiscard]] std::size_t size() const noexcept override { return array_->count(); }
  void fill(std::size_t start, std::span<std::byte> bytes) const override
  {
    if (!bytes.empty())
      std::memcpy(bytes.data(), array_->bytes.data() + start * array_->type.size, bytes.size());
  }

 private:
  std::shared_ptr<host_array const> array_;
};

}  // namespace

std::vector<element_part> divide(std::size_t count, std::size_t parts)
{
  std::vector<element_part> list;
  for (std::size_t i = 0; i < parts; ++i) {
    auto const begin = begin_of(i, count, parts);
    list.push_back({.first = begin, .count = begin_of(i + 1, count, parts) - begin});
  }
  return list;
}

std::size_t count_of(std::vector<std::size_t> const& extents) noexcept
{
  std::size_t count = 1;
  for (auto const extent : extents) count *= extent;
  return count;
}

std::size_t run_array::count() const noexcept
{
  return count_of(extents);
}

host_array run_array::read() const
{
  host_array array{.type = type, .extents = extents};
  array.bytes.resize(bytes());
  fill(0, array.bytes);
  return array;
}

run_array run_array::part(std::size_t rows, element_part const& part) const
{
  auto const row = count() / rows;
  auto result = *this;
  result.first += part.first * row;
  if (extents.size() > 1 && extents.front() == rows)
    result.extents.front() = part.count;
  else
    result.extents = {part.count * row};
  return result;
}

run_array held(host_array array)
{
  auto const memory = std::make_shared<host_array const>(std::move(array));
  return {.type = memory->type,
          .extents = memory->extents,
          .elements = std::make_shared<held_elements>(memory),
          .memory = memory};
}

loaded_array::loaded_array(run_array const& array)
    : memory_(array.memory), first_(array.first), extents_(array.extents)
{
  if (memory_ != nullptr) return;
  memory_ = std::make_shared<host_array const>(array.read());
  first_ = 0;
}

array_view loaded_array::view() const noexcept
{
  auto const size = memory_->type.size;
  return {memory_->type,
          std::span(memory_->bytes).subspan(first_ * size, count_of(extents_) * size)};
}

}  // namespace fatlink::cli
