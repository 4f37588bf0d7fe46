// SPDX-License-Identifier: Apache-2.0
#include "interpreter/execution/thread_stacks.hpp"

#include <algorithm>
#include <bit>

#include "interpreter/decode/alignment.hpp"

namespace fatlink::interpreter {

void thread_stacks::clear()
{
  if (is_used_) lanes_ = {};
  is_used_ = false;
}

std::optional<std::uint32_t> thread_stacks::allocate(unsigned lane, unsigned depth,
                                                     std::uint64_t bytes, std::uint64_t alignment)
{
  auto& stack = lanes_[lane];
  if (bytes > k_max_bytes || alignment > k_max_bytes) return {};
  auto const begin = aligned(stack.top, alignment);
  auto const end = begin + bytes;
  if (end > k_base + k_max_bytes) return {};
  is_used_ = true;
  if (stack.marks.empty() || stack.marks.back().depth < depth)
    stack.marks.push_back({depth, stack.top});
  stack.top = static_cast<std::uint32_t>(end);
  stack.bytes.resize(std::max<std::size_t>(stack.bytes.size(), end - k_base));
  return static_cast<std::uint32_t>(begin);
}

void thread_stacks::release(lane_mask lanes, unsigned depth)
{
  if (!is_used_) return;
  for (; lanes != 0; lanes &= lanes - 1) {
    auto& stack = lanes_[static_cast<unsigned>(std::countr_zero(lanes))];
    while (!stack.marks.empty() && stack.marks.back().depth >= depth) {
      stack.top = stack.marks.back().top;
      stack.marks.pop_back();
    }
  }
}

bool thread_stacks::restore(unsigned lane, std::uint64_t top)
{
  auto& stack = lanes_[lane];
  if (top < k_base || top > stack.top) return false;
  stack.top = static_cast<std::uint32_t>(top);
  return true;
}

std::byte* thread_stacks::place(unsigned lane, std::uint64_t offset, std::uint64_t size) noexcept
{
  auto& stack = lanes_[lane];
  if (offset < k_base || offset > stack.top || size > stack.top - offset) return nullptr;
  return stack.bytes.data() + (offset - k_base);
}

}  // namespace fatlink::interpreter
