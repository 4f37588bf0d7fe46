// SPDX-License-Identifier: Apache-2.0
// Where a thread's addresses lead, and what is said when they lead nowhere.
#include <cstdio>

#include "interpreter/execution/block.hpp"
#include "interpreter/execution/races.hpp"
#include "interpreter/execution/warp.hpp"

namespace fatlink::interpreter {
namespace {

constexpr std::size_t k_most_text = std::size_t{1} << 20;  // as the buffer of CUDA's printf

std::string hexadecimal(std::uint64_t value)
{
  char text[2 + 16 + 1];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string triple(dimensions const& at)
{
  std::string text(1, '(');
  text.append(std::to_string(at.x)).append(1, ',').append(std::to_string(at.y));
  return text.append(1, ',').append(std::to_string(at.z)).append(1, ')');
}

char const* verb_of(bool writes) noexcept
{
  return writes ? "writes" : "reads";
}

bool in_window(std::uint64_t address, std::uint64_t window) noexcept
{
  return address >= window && address - window < k_window_size;
}

bool fits(std::uint64_t offset, std::uint64_t size, std::uint64_t room) noexcept
{
  return size <= room && offset <= room - size;
}

}  // namespace

void warp::fail_in(interpreter::code const& at, fault kind, std::string const& why, unsigned lane,
                   operation const& op) const
{
  auto const& instruction = at.instructions[op.instruction];
  throw failure(kind,
                "kernel " + launch_->entry->name + ", block " + triple(block_->index()) +
                    " thread " + triple(block_->thread(index_, lane)) + ": " +
                    line_of(instruction.text) + " (" + place_of(at, instruction) + "): " + why,
                at.source, instruction.line, location_of(at, instruction));
}

void warp::fail(fault kind, std::string const& why, unsigned lane, operation const& op) const
{
  fail_in(*now_.in->code, kind, why, lane, op);
}

void warp::fail_address(char const* verb, std::uint64_t address, unsigned size,
                        std::string const& why, unsigned lane, operation const& op) const
{
  fail(fault::address,
       std::string(verb) + " " + std::to_string(size) + " bytes at " + hexadecimal(address) + ": " +
           why,
       lane, op);
}

std::byte* warp::resolve(std::uint64_t address, unsigned size, unsigned lane, operation const& op,
                         bool writes)
{
  if ((address & (size - 1)) != 0)
    fail_address(verb_of(writes), address, size, "not aligned to its size", lane, op);
  if (last_region_ == nullptr || !last_region_->holds(address, size)) [[unlikely]] {
    auto const* const found = find_region(*launch_->regions, address, size);
    if (found == nullptr) return resolve_window(address, size, lane, op, writes);
    last_region_ = found;
  }
  if (writes && last_region_->read_only)
    fail_address(verb_of(writes), address, size, "in constant memory (" + last_region_->name + ")",
                 lane, op);
  return last_region_->data + (address - last_region_->base);
}

std::byte* warp::resolve_window(std::uint64_t address, unsigned size, unsigned lane,
                                operation const& op, bool writes)
{
  if (in_window(address, k_shared_window))
    return resolve_shared(address - k_shared_window, size, lane, op, writes);
  if (in_window(address, k_local_window)) return resolve_local(address, size, lane, op, writes);
  if (in_window(address, k_parameter_window) && !writes &&
      fits(address - k_parameter_window, size, launch_->parameters.size()))
    return const_cast<std::byte*>(launch_->parameters.data()) + (address - k_parameter_window);
  auto const where = in_window(address, k_function_window) ? "a function's address"
                     : in_window(address, k_parameter_window)
                         ? "outside the kernel's parameters, which cannot be written"
                         : describe(*launch_->regions, address);
  fail_address(verb_of(writes), address, size, where, lane, op);
}

std::byte* warp::resolve_shared(std::uint64_t offset, unsigned size, unsigned lane,
                                operation const& op, bool writes)
{
  if ((offset & (size - 1)) != 0)
    fail_address(verb_of(writes), offset, size, "in shared memory, not aligned to its size", lane,
                 op);
  auto const room = block_->shared_bytes();
  if (!fits(offset, size, room))
    fail_address(verb_of(writes), offset, size,
                 "outside the block's " + std::to_string(room) + " bytes of shared memory", lane,
                 op);
  return block_->shared() + offset;
}

std::byte* warp::resolve_local(std::uint64_t address, unsigned size, unsigned lane,
                               operation const& op, bool writes)
{
  auto const offset = address & (k_window_size - 1);  // a .local address may have 32 bits alone
  if ((offset & (size - 1)) != 0)
    fail_address(verb_of(writes), address, size, "in local memory, not aligned to its size", lane,
                 op);
  for (auto* at = now_.in; at != nullptr; at = at->caller) {
    auto const bytes = at->code->local_bytes;
    if (offset >= at->local_base && fits(offset - at->local_base, size, bytes))
      return at->local.data() + std::size_t{lane} * bytes + (offset - at->local_base);
  }
  fail_address(verb_of(writes), address, size, "outside the thread's local memory", lane, op);
}

void warp::note_write(std::byte const* to, unsigned size, unsigned lane, operation const& op)
{
  auto const inside = [to](std::byte const* begin, std::uint64_t bytes) {
    return to >= begin && to < begin + bytes;
  };
  if (last_region_ != nullptr && inside(last_region_->data, last_region_->size))
    launch_->races->note(*last_region_, static_cast<std::uint64_t>(to - last_region_->data), size,
                         *this, lane, op);
  else if (inside(block_->shared(), block_->shared_bytes()))
    race_map::note_shared(block_->shared_writers(),
                          static_cast<std::uint64_t>(to - block_->shared()), size, *this, lane, op);
}

std::string warp::text_at(std::uint64_t address, unsigned lane, operation const& op)
{
  std::string text;
  for (;; ++address) {
    auto const c = static_cast<char>(*resolve(address, 1, lane, op, false));
    if (c == '\0' || text.size() == k_most_text) return text;
    text += c;
  }
}

}  // namespace fatlink::interpreter
