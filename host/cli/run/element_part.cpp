// SPDX-License-Identifier: Apache-2.0
#include "run/element_part.hpp"

namespace fatlink::cli {
namespace {

constexpr std::size_t k_boundary = 1024;
constexpr std::size_t k_least_rounded = 64 * k_boundary;  // parts differ by less than 2 %

class part_elements final : public element_source {
 public:
  part_elements(element_source const& whole, element_part const& part)
      : whole_(whole), first_(part.first), extents_{part.count}
  {
  }
  [[nodiscard]] element_type const& type() const noexcept override { return whole_.type(); }
  [[nodiscard]] std::vector<std::size_t> const& extents() const noexcept override
  {
    return extents_;
  }
  [[nodiscard]] std::size_t size() const noexcept override { return extents_.front(); }
  void fill(std::size_t start, std::span<std::byte> bytes) const override
  {
    whole_.fill(first_ + start, bytes);
  }

 private:
  element_source const& whole_;
  std::size_t first_;
  std::vector<std::size_t> extents_;
};

/// Where part `index` begins: count * index / parts, without its overflow.
std::size_t begin_of(std::size_t index, std::size_t count, std::size_t parts)
{
  auto const begin = count / parts * index + count % parts * index / parts;
  return count / parts < k_least_rounded || index == parts ? begin
                                                           : begin / k_boundary * k_boundary;
}

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

std::unique_ptr<element_source> part_of(element_source const& whole, element_part const& part)
{
  return std::make_unique<part_elements>(whole, part);
}

}  // namespace fatlink::cli
