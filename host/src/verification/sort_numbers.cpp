// SPDX-License-Identifier: Apache-2.0
#include "verification/sort_numbers.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include "expression/syntax.hpp"
#include "util/process/parallel.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

enum class order : std::uint8_t { ascending, descending };

/// Of a key: its parameter, or the negative of it.
std::optional<order> order_of_key(expression_syntax const& syntax, std::string const& parameter)
{
  auto const& nodes = syntax.nodes();
  if (syntax.names() != std::vector{parameter} || nodes.front().code != expression_code::name)
    return std::nullopt;
  if (nodes.size() == 1) return order::ascending;
  if (nodes.size() == 2 && nodes.back().code == expression_code::negate) return order::descending;
  return std::nullopt;
}

/// Of "!(b <= a) && a == a", in which NaN is behind all numbers, and of the reverse order.
std::optional<order> order_with_nan(hook_reference const& hook)
{
  auto text = hook.result.front().text;
  std::erase(text, ' ');
  auto const& a = hook.parameters[0];
  auto const& b = hook.parameters[1];
  if (text == detail::format("!({1}<={0})&&{0}=={0}", a, b)) return order::ascending;
  if (text == detail::format("!({0}<={1})&&{1}=={1}", a, b)) return order::descending;
  return std::nullopt;
}

/// Nothing for another expression.
std::optional<order> order_of(hook_reference const& hook)
{
  if (hook.result.size() != 1) return std::nullopt;
  expression_syntax const syntax(hook.result.front().text, expression_use::reference);
  if (hook.parameters.size() == 1) return order_of_key(syntax, hook.parameters.front());
  if (hook.parameters.size() != 2) return std::nullopt;
  if (auto const known = order_with_nan(hook)) return known;
  auto const joined = syntax.joined();
  if (!joined ||
      (joined->code != expression_code::less && joined->code != expression_code::greater))
    return std::nullopt;
  auto const is_first = joined->left == hook.parameters[0] && joined->right == hook.parameters[1];
  auto const is_second = joined->left == hook.parameters[1] && joined->right == hook.parameters[0];
  if (!is_first && !is_second) return std::nullopt;
  return is_first == (joined->code == expression_code::less) ? order::ascending : order::descending;
}

/// The bits of infinity; 0 for integers.
std::uint64_t infinity_of(scalar_kind kind)
{
  switch (kind) {
    case scalar_kind::float16:
      return 0x7C00;
    case scalar_kind::bfloat16:
      return 0x7F80;
    case scalar_kind::float32:
      return 0x7F800000;
    case scalar_kind::float64:
      return 0x7FF0000000000000;
    default:
      return 0;
  }
}

/// Unsigned numbers whose order is that of the elements.
template <typename Key>
class key_map {
 public:
  key_map(scalar_kind kind, order direction)
      : infinity_(static_cast<Key>(infinity_of(kind))),
        sign_(kind >= scalar_kind::uint8 && kind <= scalar_kind::uint64 ? Key{0} : k_highest),
        flip_(direction == order::descending ? k_all : Key{0})
  {
  }

  [[nodiscard]] bool is_nan(Key bits) const
  {
    return infinity_ != 0 && static_cast<Key>(bits & ~k_highest) > infinity_;
  }
  [[nodiscard]] bool is_zero(Key bits) const
  {
    return infinity_ != 0 && static_cast<Key>(bits & ~k_highest) == 0;
  }
  /// 0 and -0 have one key.
  [[nodiscard]] Key key_of(Key bits) const
  {
    if (is_zero(bits)) bits = 0;
    auto const is_negative_float = infinity_ != 0 && (bits & sign_) != 0;
    return static_cast<Key>((is_negative_float ? ~bits : bits ^ sign_) ^ flip_);
  }
  [[nodiscard]] Key bits_of(Key key) const
  {
    key = static_cast<Key>(key ^ flip_);
    auto const is_negative_float = infinity_ != 0 && (key & sign_) == 0;
    return static_cast<Key>(is_negative_float ? ~key : key ^ sign_);
  }

 private:
  static constexpr Key k_all = std::numeric_limits<Key>::max();
  static constexpr Key k_highest = static_cast<Key>(k_all ^ (k_all >> 1U));

  Key infinity_;
  Key sign_;
  Key flip_;
};

/// Of at most 16 bits.
template <typename Key>
void sort_by_counting(std::vector<Key>& keys)
{
  std::vector<std::size_t> counts(std::size_t{std::numeric_limits<Key>::max()} + 1);
  for (auto const key : keys) ++counts[key];
  auto place = keys.begin();
  for (std::size_t key = 0; key < counts.size(); ++key)
    place = std::fill_n(place, counts[key], static_cast<Key>(key));
}

/// Sorts blocks on all cores, and merges neighbors until there is one.
template <typename Key>
void sort_keys(std::vector<Key>& keys)
{
  if constexpr (sizeof(Key) <= 2) return sort_by_counting(keys);
  std::vector<std::size_t> ends(thread_count(keys.size()));
  auto const at = [&](std::size_t index) {
    return keys.begin() + static_cast<std::ptrdiff_t>(index);
  };
  parallel_blocks(keys.size(), [&](std::size_t begin, std::size_t end, std::size_t thread) {
    ends[thread] = end;
    std::sort(at(begin), at(end));
  });
  while (ends.size() > 1) {
    std::vector<std::size_t> merged;
    for (std::size_t i = 0; i < ends.size(); i += 2) {
      auto const last = std::min(i + 1, ends.size() - 1);
      std::inplace_merge(at(i == 0 ? 0 : ends[i - 1]), at(ends[i]), at(ends[last]));
      merged.push_back(ends[last]);
    }
    ends = std::move(merged);
  }
}

template <typename Key>
Key bits_at(std::span<std::byte const> bytes, std::size_t index)
{
  Key bits;
  std::memcpy(&bits, bytes.data() + index * sizeof bits, sizeof bits);
  return bits;
}

/// Writes 0 and -0 in the order of the source, from where the sorted array has them.
template <typename Key>
void restore_zeros(std::vector<std::byte>& sorted, std::size_t first,
                   std::span<std::byte const> source, key_map<Key> const& map)
{
  auto* place = sorted.data() + first * sizeof(Key);
  for (std::size_t i = 0; i < source.size() / sizeof(Key); ++i)
    if (auto const bits = bits_at<Key>(source, i); map.is_zero(bits)) {
      std::memcpy(place, &bits, sizeof bits);
      place += sizeof bits;
    }
}

template <typename Key>
std::optional<std::vector<std::byte>> sort_as(array_view const& source, order direction)
{
  key_map<Key> const map(source.type.kind, direction);
  std::vector<Key> keys(source.count());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    auto const bits = bits_at<Key>(source.bytes, i);
    if (map.is_nan(bits)) return std::nullopt;
    keys[i] = map.key_of(bits);
  }
  sort_keys(keys);
  auto const zeros = std::ranges::lower_bound(keys, map.key_of(0));
  auto const first_zero = static_cast<std::size_t>(zeros - keys.begin());
  std::vector<std::byte> sorted(keys.size() * sizeof(Key));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    auto const bits = map.bits_of(keys[i]);
    std::memcpy(sorted.data() + i * sizeof bits, &bits, sizeof bits);
  }
  restore_zeros(sorted, first_zero, source.bytes, map);
  return sorted;
}

}  // namespace

std::optional<std::vector<std::byte>> sort_numbers(hook_reference const& hook,
                                                   array_view const& source)
{
  auto const kind = source.type.kind;
  auto const direction = order_of(hook);
  if (!direction || (!is_integer(kind) && infinity_of(kind) == 0)) return std::nullopt;
  switch (source.type.size) {
    case 1:
      return sort_as<std::uint8_t>(source, *direction);
    case 2:
      return sort_as<std::uint16_t>(source, *direction);
    case 4:
      return sort_as<std::uint32_t>(source, *direction);
    default:
      return sort_as<std::uint64_t>(source, *direction);
  }
}

}  // namespace fatlink::detail
