// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "c_interface/guard.hpp"
#include "c_interface/handles.hpp"
#include "c_interface/structs.hpp"

namespace fatlink::c {
namespace {

cpu_options options_of(fatlink_device_options const& stated)
{
  cpu_options options;
  if (stated.instruction_budget != 0)
    options.instruction_budget =
        stated.instruction_budget == UINT64_MAX ? 0 : stated.instruction_budget;
  options.check_races = stated.check_races != 0;
  options.check_uninitialized = stated.check_uninitialized != 0;
  options.deterministic = stated.deterministic != 0;
  return options;
}

}  // namespace
}  // namespace fatlink::c

using namespace fatlink::c;

fatlink_error* fatlink_device_open(char const* name, fatlink_device_options const* options,
                                   fatlink_device** device)
{
  return guarded([&] {
    auto& result = output(device, "device");
    auto const stated = options_of(optional_struct(options, "options"));
    auto opened = fatlink::open_device(required_text(name, "name"), stated);
    auto target = opened->info().target.name();
    result = new fatlink_device{std::move(opened), std::move(target)};
  });
}

fatlink_error* fatlink_device_get_info(fatlink_device const* device, fatlink_device_info* info)
{
  return guarded([&] {
    struct_output const result(info, "info");
    auto const& [opened, target] = required(device, "device");
    auto const& facts = opened->info();
    result.set({.size = sizeof(fatlink_device_info),
                .is_gpu = facts.kind == fatlink::device_kind::gpu ? 1 : 0,
                .ordinal = facts.ordinal,
                .name = facts.name.c_str(),
                .target = target.c_str(),
                .memory_bytes = facts.memory_bytes,
                .multiprocessors = facts.multiprocessors,
                .max_shared_bytes_per_block = facts.max_shared_bytes_per_block});
  });
}

fatlink_error* fatlink_device_get_memory_pool(fatlink_device const* device,
                                              fatlink_memory_pool* pool)
{
  return guarded([&] {
    struct_output const result(pool, "pool");
    auto const state = required(device, "device").device->memory_pool();
    result.set({.size = sizeof(fatlink_memory_pool),
                .limit_bytes = state.limit_bytes,
                .reserved_bytes = state.reserved_bytes,
                .used_bytes = state.used_bytes});
  });
}

fatlink_error* fatlink_device_limit_memory_pool(fatlink_device* device, uint64_t bytes)
{
  return guarded([&] { required(device, "device").device->limit_memory_pool(bytes); });
}

fatlink_error* fatlink_device_trim_memory_pool(fatlink_device* device, uint64_t keep)
{
  return guarded([&] { required(device, "device").device->trim_memory_pool(keep); });
}

int32_t fatlink_gpu_count(void)
{
  return value_or(0, [] {
    std::string reason;
    return static_cast<std::int32_t>(fatlink::list_gpus(reason).size());
  });
}

void fatlink_device_free(fatlink_device* device)
{
  delete device;
}

fatlink_error* fatlink_device_link_options(fatlink_device const* device, fatlink_link_mode mode,
                                           fatlink_link_options* options)
{
  return guarded([&] {
    (void)required_struct(options, "options");
    auto const& [opened, target] = required(device, "device");
    auto const stated = opened->link_options(read_mode(mode));
    options->target = target.c_str();
    options->mode = mode;
    options->emit = kind_of(stated.emit);
  });
}

fatlink_error* fatlink_stream_create(fatlink_device* device, fatlink_stream** stream)
{
  return guarded([&] {
    auto& result = output(stream, "stream");
    result = new fatlink_stream{required(device, "device").device->create_stream()};
  });
}

void* fatlink_stream_handle(fatlink_stream const* stream)
{
  return stream == nullptr ? nullptr : stream->stream.native_handle();
}

fatlink_error* fatlink_synchronize(fatlink_device* device, void* stream)
{
  return guarded(
      [&] { required(device, "device").device->synchronize(fatlink::stream_view(stream)); });
}

void fatlink_stream_free(fatlink_stream* stream)
{
  delete stream;
}
