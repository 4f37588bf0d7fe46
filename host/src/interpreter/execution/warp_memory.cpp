// SPDX-License-Identifier: Apache-2.0
// Resolves the addresses of threads, and reports those that are not valid.
#include "interpreter/execution/block.hpp"
#include "interpreter/execution/races.hpp"
#include "interpreter/execution/warp.hpp"

namespace fatlink::interpreter {
namespace {

char const* verb_of(bool writes) noexcept
{
  return writes ? "writes" : "reads";
}

bool in_window(std::uint64_t address, std::uint64_t window) noexcept
{
  return address >= window && address - window < k_window_size;
}

bool fits(std::uint64_t offset, std::uint64_t size, std::uint64_t available) noexcept
{
  return size <= available && offset <= available - size;
}

std::string describe_read_only(region const& region)
{
  return region.is_mapped ? "in " + name_of(region) + ", which is read-only"
                          : "in constant memory (" + region.name + ")";
}

}  // namespace

void warp::fail_in(interpreter::code const& function, error_kind kind, std::string const& reason,
                   unsigned lane, operation const& op, std::string const& hint) const
{
  auto const& instruction = function.instructions[op.instruction];
  throw code_error(kind,
                   "kernel " + launch_->entry->name + ", block " + triple(block_->index()) +
                       " thread " + triple(block_->thread(index_, lane)) + ": " +
                       line_of(instruction.text) + " (" + place_of(function, instruction) +
                       "): " + reason,
                   function.source, instruction.line, location_of(function, instruction), hint);
}

void warp::fail(error_kind kind, std::string const& reason, unsigned lane, operation const& op,
                std::string const& hint) const
{
  fail_in(*running_.frame->code, kind, reason, lane, op, hint);
}

void warp::fail_address(char const* verb, std::uint64_t address, unsigned size,
                        std::string const& reason, unsigned lane, operation const& op) const
{
  fail(error_kind::address,
       std::string(verb) + " " + std::to_string(size) + " bytes at " + hexadecimal(address) + ": " +
           reason,
       lane, op);
}

std::byte* warp::resolve(std::uint64_t address, unsigned size, unsigned lane, operation const& op,
                         bool writes)
{
  if ((address & (size - 1)) != 0)
    fail_address(verb_of(writes), address, size, "not aligned to its size", lane, op);
  if (last_region_ == nullptr || !last_region_->holds(address, size)) [[unlikely]] {
    auto const* const region = find_region(*launch_->regions, address, size);
    if (region == nullptr) return resolve_window(address, size, lane, op, writes);
    last_region_ = region;
  }
  if (writes && last_region_->read_only)
    fail_address(verb_of(writes), address, size, describe_read_only(*last_region_), lane, op);
  return last_region_->data + (address - last_region_->base);
}

memory_span warp::find_span(std::uint64_t address) const noexcept
{
  if (auto const* const region = find_region(*launch_->regions, address, 1); region != nullptr)
    return {region->base, region->size, region->data, 0, region->read_only};
  if (in_window(address, k_shared_window))
    return {k_shared_window, block_->shared_bytes(), block_->shared(), 0, false};
  if (in_window(address, k_parameter_window))
    return {k_parameter_window, launch_->parameters.size(),
            const_cast<std::byte*>(launch_->parameters.data()), 0, true};
  return {};
}

memory_span warp::local_span_at(std::uint64_t address) const noexcept
{
  auto const window = address & ~(k_window_size - 1);
  auto const offset = address & (k_window_size - 1);
  for (auto* frame = running_.frame; frame != nullptr; frame = frame->caller)
    if (offset >= frame->local_base && offset - frame->local_base < frame->code->local_bytes)
      return {window + frame->local_base, frame->code->local_bytes, frame->local.data(),
              frame->code->local_bytes, false};
  return {};
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
  auto const description = in_window(address, k_function_window) ? "a function's address"
                           : in_window(address, k_parameter_window)
                               ? "outside the kernel's parameters, or a write to them"
                               : address_text(*launch_->regions, address);
  fail_address(verb_of(writes), address, size, description, lane, op);
}

std::byte* warp::resolve_shared(std::uint64_t offset, unsigned size, unsigned lane,
                                operation const& op, bool writes)
{
  if ((offset & (size - 1)) != 0)
    fail_address(verb_of(writes), offset, size, "in shared memory, not aligned to its size", lane,
                 op);
  auto const available = block_->shared_bytes();
  auto const place = fits(offset, size, available) ? shared_place{block_, offset}
                                                   : block_->cluster_of().place(offset, size);
  if (place.owner == nullptr)
    fail_address(verb_of(writes), offset, size,
                 "outside the block's " + std::to_string(available) + " bytes of shared memory",
                 lane, op);
  if (launch_->checks_initialization) {
    if (writes)
      place.owner->written().add(place.offset, size);
    else
      check_written(place, size, lane, op);
  }
  return place.owner->shared() + place.offset;
}

void warp::check_written(shared_place const& place, unsigned size, unsigned lane,
                         operation const& op) const
{
  auto const missing = place.owner->written().first_missing(place.offset, size);
  if (!missing) return;
  fail(error_kind::uninitialized,
       "reads " + std::to_string(size) + " bytes at " + hexadecimal(place.offset) +
           " of shared memory, where nothing has written " +
           (size == 1 ? "it" : "byte " + hexadecimal(*missing)),
       lane, op);
}

std::byte* warp::resolve_local(std::uint64_t address, unsigned size, unsigned lane,
                               operation const& op, bool writes)
{
  auto const offset = address & (k_window_size - 1);  // a .local address may have only 32 bits
  if ((offset & (size - 1)) != 0)
    fail_address(verb_of(writes), address, size, "in local memory, not aligned to its size", lane,
                 op);
  for (auto* frame = running_.frame; frame != nullptr; frame = frame->caller) {
    auto const bytes = frame->code->local_bytes;
    if (offset >= frame->local_base && fits(offset - frame->local_base, size, bytes))
      return frame->local.data() + std::size_t{lane} * bytes + (offset - frame->local_base);
  }
  if (auto* const place = stacks.place(lane, offset, size)) return place;
  fail_address(verb_of(writes), address, size, "outside the thread's local memory", lane, op);
}

/// Null: the place is neither in global nor in the block's shared memory.
byte_history* warp::history_of(std::byte const* place)
{
  auto const is_inside = [place](std::byte const* begin, std::uint64_t bytes) {
    return place >= begin && place < begin + bytes;
  };
  if (last_region_ != nullptr && is_inside(last_region_->data, last_region_->size))
    return last_region_->read_only
               ? nullptr
               : launch_->races->history_of(*last_region_,
                                            static_cast<std::uint64_t>(place - last_region_->data));
  if (!is_inside(block_->shared(), block_->shared_bytes())) return nullptr;
  return block_->shared_history() + (place - block_->shared());
}

void warp::record_write(std::byte const* target, unsigned size, unsigned lane, operation const& op,
                        std::byte const* after)
{
  if (launch_->races == nullptr) return;
  if (auto* const history = history_of(target); history != nullptr)
    launch_->races->record_write(history, {size, this, lane, &op}, target, after);
}

void warp::record_read(std::byte const* source, unsigned size, unsigned lane, operation const& op)
{
  if (launch_->races == nullptr) return;
  if (auto* const history = history_of(source); history != nullptr)
    launch_->races->record_read(history, {size, this, lane, &op});
}

void warp::release_to(sync_scope scope)
{
  launch_->races->release(*this, scope);
}

void warp::acquire_from(sync_scope scope) noexcept
{
  launch_->races->acquire(*this, scope);
}

std::string warp::text_at(std::uint64_t address, unsigned lane, operation const& op)
{
  std::string text;
  for (;; ++address) {
    auto const c = static_cast<char>(*resolve(address, 1, lane, op, false));
    if (c == '\0' || text.size() == k_max_text) return text;
    text += c;
  }
}

}  // namespace fatlink::interpreter
