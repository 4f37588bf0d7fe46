// SPDX-License-Identifier: Apache-2.0
#include "device/backends.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "device/cuda_driver.hpp"
#include "device/driver_gate.hpp"
#include "device/gpu_memory.hpp"
#include "device/gpu_module.hpp"
#include "fatlink/device_backend.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

int attribute(driver const& api, CUdevice gpu, CUdevice_attribute name)
{
  int value = 0;
  api.check(api.device_get_attribute(&value, name, gpu), "reading a GPU's attribute");
  return value;
}

target target_of(driver const& api, CUdevice gpu)
{
  auto const major = attribute(api, gpu, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  auto const minor = attribute(api, gpu, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  return target(static_cast<unsigned>(major * 10 + minor));
}

/// @throws device_error no GPU with this ordinal, or the driver fails a query.
device_info gpu_info(driver const& api, int ordinal)
{
  auto const gpu = gpu_handle(api, ordinal);
  std::array<char, 256> name{};
  api.check(api.device_get_name(name.data(), static_cast<int>(name.size()), gpu),
            "reading a GPU's name");
  std::size_t memory = 0;
  api.check(api.device_total_mem(&memory, gpu), "reading a GPU's memory size");
  return {.kind = device_kind::gpu,
          .ordinal = ordinal,
          .name = name.data(),
          .target = target_of(api, gpu),
          .memory_bytes = memory,
          .multiprocessors =
              static_cast<unsigned>(attribute(api, gpu, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)),
          .max_shared_bytes_per_block = static_cast<std::size_t>(
              attribute(api, gpu, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN))};
}

/// Retains the primary context and never releases it: at process exit the driver may be unloaded
/// before the destructors of static objects run.
///
/// Each thread has a current context of its own, so every call makes this one current. `enter…`
/// throws where that fails; `try_enter…` returns what is false. Threads may call all members at
/// once.
class gpu_context {
 public:
  /// What a call holds: its turn at the driver's lock, and the current context.
  template <typename Call>
  struct entry {
    Call turn;
    context_guard context;
    explicit operator bool() const noexcept { return static_cast<bool>(context); }
  };
  /// As above, and permission for calls that captures do not permit.
  template <typename Call>
  struct relaxed_entry : entry<Call> {
    relaxed_capture mode;
  };

  /// For driver calls that need no turn at the lock.
  struct no_turn {};

  /// @param name  of the GPU, for errors; must live as long as this object
  gpu_context(driver const& api, int ordinal, std::string const& name);

  /// For driver calls that need no turn.
  [[nodiscard]] context_guard enter() const { return {api_, context_, none_before_, name_}; }
  [[nodiscard]] context_guard try_enter() const noexcept { return {api_, context_, none_before_}; }

  /// For driver calls that need no turn, and that captures do not permit.
  [[nodiscard]] relaxed_entry<no_turn> enter_relaxed() const
  {
    return {{{}, enter()}, relaxed_capture(api_)};
  }
  [[nodiscard]] relaxed_entry<no_turn> try_enter_relaxed() const noexcept
  {
    return {{{}, try_enter()}, relaxed_capture(api_)};
  }

  /// For driver calls that share the driver's lock.
  [[nodiscard]] entry<driver_gate::shared_call> enter_shared() const
  {
    return {share_driver(), enter()};
  }
  /// For driver calls that share the driver's lock and may wait for the GPU.
  [[nodiscard]] relaxed_entry<driver_gate::blocking_call> enter_to_copy() const
  {
    return {{driver_gate::blocking_call(gate_), enter()}, relaxed_capture(api_)};
  }
  /// For driver calls that take the driver's lock exclusively. Not frees, which wait for the GPU.
  [[nodiscard]] relaxed_entry<driver_gate::exclusive_call> enter_exclusively() const
  {
    return {{driver_gate::exclusive_call(gate_), enter()}, relaxed_capture(api_)};
  }
  [[nodiscard]] relaxed_entry<driver_gate::exclusive_call> try_enter_exclusively() const noexcept
  {
    return {{driver_gate::exclusive_call(gate_), try_enter()}, relaxed_capture(api_)};
  }
  /// The turn of `enter_shared` alone.
  [[nodiscard]] driver_gate::shared_call share_driver() const
  {
    return driver_gate::shared_call(gate_);
  }

 private:
  driver const& api_;
  std::string const& name_;
  driver_gate& gate_ = driver_gate::of_process();
  CUcontext context_ = nullptr;
  /// What CUDA's runtime and frameworks take for their current device is GPU 0 without a context.
  context_guard::none_before none_before_ = context_guard::none_before::is_replaced;
};

gpu_context::gpu_context(driver const& api, int ordinal, std::string const& name)
    : api_(api), name_(name)
{
  relaxed_capture const mode(api);
  api_.check(api_.primary_context_retain(&context_, gpu_handle(api, ordinal)),
             "creating a context on", name);
  if (ordinal != 0) none_before_ = context_guard::none_before::is_restored;
}

/// Streams and events of a GPU. The GPU's context must be current to the calling thread.
/// Units: milliseconds. Threads: safe, except that one stream is used by one thread at a time.
class gpu_streams {
 public:
  /// `gpu`: its name, for messages.
  gpu_streams(driver const& api, std::string gpu) : api_(api), gpu_(std::move(gpu)) {}

  [[nodiscard]] CUstream create_stream() const;
  void destroy_stream(CUstream stream) const noexcept { (void)api_.stream_destroy(stream); }
  void synchronize(CUstream stream) const;
  [[nodiscard]] stream_facts facts_of(CUstream stream) const;

  [[nodiscard]] CUevent create_event(unsigned flags) const;
  void destroy_event(CUevent event) const noexcept { (void)api_.event_destroy(event); }
  void record(CUevent event, CUstream stream) const;
  /// True also after a failure of the context (CUDA_ERROR_ILLEGAL_ADDRESS), which then executes
  /// nothing any more.
  [[nodiscard]] bool event_done(CUevent event) const noexcept;
  [[nodiscard]] double elapsed_ms(CUevent start, CUevent stop) const;

 private:
  driver const& api_;
  std::string gpu_;
};

/// The driver would fail, and invalidate the capture.
[[noreturn]] void fail_captured(std::string const& gpu)
{
  throw device_error(
      stage::device,
      {.message = detail::format("a stream of {} is being captured into a CUDA graph, so the host "
                                 "cannot wait for its work",
                                 gpu),
       .input = gpu,
       .code = vendor_code("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"),
       .hint = "wait for the stream, or make the call that does, before or after the capture"});
}

CUstream gpu_streams::create_stream() const
{
  CUstream stream = nullptr;
  api_.check(api_.stream_create(&stream, CU_STREAM_NON_BLOCKING), "creating a stream on", gpu_);
  return stream;
}

void gpu_streams::synchronize(CUstream stream) const
{
  if (is_captured(api_, stream, "running a kernel on", gpu_)) fail_captured(gpu_);
  relaxed_capture const mode(api_);
  api_.check(api_.stream_synchronize(stream), "running a kernel on", gpu_);
}

/// cuStreamGetId fails on a stream that is being captured.
stream_facts gpu_streams::facts_of(CUstream stream) const
{
  if (is_captured(api_, stream, "examining a stream of", gpu_)) return {.is_capturing = true};
  unsigned long long id = 0;
  api_.check(api_.stream_get_id(stream, &id), "identifying a stream of", gpu_);
  return {.id = id};
}

CUevent gpu_streams::create_event(unsigned flags) const
{
  CUevent event = nullptr;
  api_.check(api_.event_create(&event, flags), "creating an event on", gpu_);
  return event;
}

void gpu_streams::record(CUevent event, CUstream stream) const
{
  api_.check(api_.event_record(event, stream), "recording an event on", gpu_);
}

bool gpu_streams::event_done(CUevent event) const noexcept
{
  relaxed_capture const mode(api_);
  return api_.event_query(event) != CUDA_ERROR_NOT_READY;
}

double gpu_streams::elapsed_ms(CUevent start, CUevent stop) const
{
  relaxed_capture const mode(api_);
  api_.check(api_.event_synchronize(stop), "running a kernel on", gpu_);
  float ms = 0;
  api_.check(api_.event_elapsed_time(&ms, start, stop), "timing on", gpu_);
  return static_cast<double>(ms);
}

// The device.

class gpu_device final : public device_backend {
 public:
  gpu_device(driver const& api, int ordinal)
      : api_(api),
        info_(gpu_info(api, ordinal)),
        memory_(api, info_.name, ordinal),
        streams_(api, info_.name),
        textures_(api, info_.name),
        context_(api, ordinal, info_.name)
  {
  }

  [[nodiscard]] device_info const& info() const noexcept override { return info_; }

  device_address allocate(std::size_t bytes) override
  {
    auto const context = context_.enter_exclusively();
    return memory_.allocate(bytes);
  }
  void release(device_address address) noexcept override
  {
    if (auto const context = context_.try_enter_relaxed()) memory_.release(address);
  }
  device_address allocate(std::size_t bytes, handle stream) override
  {
    auto const context = context_.enter();
    return memory_.allocate(bytes, static_cast<CUstream>(stream));
  }
  void release(device_address address, handle stream) noexcept override
  {
    if (auto const context = context_.try_enter())
      memory_.release(address, static_cast<CUstream>(stream));
  }
  [[nodiscard]] memory_pool_state memory_pool() override
  {
    auto const context = context_.enter_relaxed();
    return memory_.pool_state();
  }
  void limit_memory_pool(std::size_t bytes) override
  {
    auto const context = context_.enter_relaxed();
    memory_.set_pool_limit(bytes);
  }
  void trim_memory_pool(std::size_t keep) override
  {
    auto const context = context_.enter_relaxed();
    memory_.trim_pool(keep);
  }
  void copy_in(device_address destination, bytes_view source) override
  {
    auto const context = context_.enter_to_copy();
    memory_.copy_in(destination, source);
  }
  void copy_in(device_address destination, bytes_view source, handle stream) override
  {
    auto const context = context_.enter_to_copy();
    memory_.copy_in(destination, source, static_cast<CUstream>(stream));
  }
  void copy_out(std::span<std::byte> destination, device_address source) override
  {
    auto const context = context_.enter_to_copy();
    memory_.copy_out(destination, source);
  }
  void copy_out(std::span<std::byte> destination, device_address source, handle stream) override
  {
    auto const context = context_.enter_to_copy();
    memory_.copy_out(destination, source, static_cast<CUstream>(stream));
  }
  void copy_on_device(device_address destination, device_address source, std::size_t bytes,
                      handle stream) override
  {
    auto const context = context_.enter_shared();
    memory_.copy_on_device(destination, source, bytes, static_cast<CUstream>(stream));
  }
  void fill(device_address destination, std::byte value, std::size_t bytes) override
  {
    auto const context = context_.enter_to_copy();
    memory_.fill(destination, value, bytes);
  }
  void fill(device_address destination, std::byte value, std::size_t bytes, handle stream) override
  {
    auto const context = context_.enter_shared();
    memory_.fill(destination, value, bytes, static_cast<CUstream>(stream));
  }

  handle load(linked_image const& image) override
  {
    auto const context = context_.enter_relaxed();
    return std::make_unique<gpu_module>(api_, info_, image).release();
  }
  void unload(handle module) noexcept override
  {
    std::unique_ptr<gpu_module> const owned(static_cast<gpu_module*>(module));
    if (auto const context = context_.try_enter_relaxed()) owned->unload();
  }
  handle find_kernel(handle module, std::string const& name) override
  {
    auto const context = context_.enter_relaxed();
    return &static_cast<gpu_module*>(module)->find_kernel(name);
  }
  device_variable find_variable(handle module, std::string const& name) override
  {
    auto const context = context_.enter_relaxed();
    return static_cast<gpu_module*>(module)->find_variable(name);
  }

  [[nodiscard]] void* native_library(handle module) const noexcept override
  {
    return static_cast<gpu_module*>(module)->library();
  }

  [[nodiscard]] std::span<std::size_t const> parameter_sizes(handle kernel) const noexcept override
  {
    return static_cast<gpu_kernel*>(kernel)->parameter_sizes();
  }
  [[nodiscard]] void* native_function(handle kernel) const noexcept override
  {
    return static_cast<gpu_kernel*>(kernel)->function();
  }
  [[nodiscard]] void* native_kernel(handle kernel) const noexcept override
  {
    return static_cast<gpu_kernel*>(kernel)->native_kernel();
  }
  [[nodiscard]] kernel_attributes attributes(handle kernel) override
  {
    auto const context = context_.enter_relaxed();
    return static_cast<gpu_kernel*>(kernel)->attributes();
  }
  [[nodiscard]] unsigned active_blocks(handle kernel, unsigned block_threads,
                                       std::size_t shared_bytes) override
  {
    auto const context = context_.enter_relaxed();
    return static_cast<gpu_kernel*>(kernel)->active_blocks(block_threads, shared_bytes);
  }
  [[nodiscard]] block_size_suggestion suggest_block(handle kernel,
                                                    std::size_t shared_bytes) override
  {
    auto const context = context_.enter_relaxed();
    return static_cast<gpu_kernel*>(kernel)->suggest_block(shared_bytes);
  }
  void launch(handle kernel, handle stream, launch_shape const& shape,
              void* const* arguments) override
  {
    auto const context = context_.enter();
    auto& code = *static_cast<gpu_kernel*>(kernel);
    code.allow_shared(shape.shared_bytes);  // takes the lock exclusively
    auto const turn = context_.share_driver();
    api_.check(code.launch(static_cast<CUstream>(stream), shape, arguments),
               "launching a kernel on", info_.name);
  }

  handle create_stream() override
  {
    auto const context = context_.enter_exclusively();
    return streams_.create_stream();
  }
  void destroy_stream(handle stream) noexcept override
  {
    if (auto const context = context_.try_enter_exclusively())
      streams_.destroy_stream(static_cast<CUstream>(stream));
  }
  void synchronize(handle stream) override
  {
    auto const context = context_.enter();
    streams_.synchronize(static_cast<CUstream>(stream));
  }
  [[nodiscard]] stream_facts describe_stream(handle stream) override
  {
    auto const context = context_.enter();
    return streams_.facts_of(static_cast<CUstream>(stream));
  }
  [[nodiscard]] bool is_synchronous() const noexcept override { return false; }
  handle create_event() override
  {
    auto const context = context_.enter_exclusively();
    return streams_.create_event(CU_EVENT_DEFAULT);
  }
  handle create_untimed_event() override
  {
    auto const context = context_.enter_exclusively();
    return streams_.create_event(CU_EVENT_DISABLE_TIMING);
  }
  void destroy_event(handle event) noexcept override
  {
    if (auto const context = context_.try_enter_exclusively())
      streams_.destroy_event(static_cast<CUevent>(event));
  }
  void record(handle event, handle stream) override
  {
    auto const context = context_.enter_shared();
    streams_.record(static_cast<CUevent>(event), static_cast<CUstream>(stream));
  }
  /// Without a context, which the end of the process has destroyed, nothing is executed any more.
  [[nodiscard]] bool event_done(handle event) noexcept override
  {
    auto const context = context_.try_enter();
    return !context || streams_.event_done(static_cast<CUevent>(event));
  }
  double elapsed_ms(handle start, handle stop) override
  {
    auto const context = context_.enter();
    return streams_.elapsed_ms(static_cast<CUevent>(start), static_cast<CUevent>(stop));
  }

  handle create_array(texel_format const& format, array_shape const& shape) override
  {
    auto const context = context_.enter_exclusively();
    return textures_.create_array(format, shape);
  }
  void destroy_array(handle array) noexcept override
  {
    if (auto const context = context_.try_enter_relaxed())
      textures_.destroy_array(static_cast<CUarray>(array));
  }
  void write_array(handle array, bytes_view texels) override
  {
    auto const context = context_.enter_to_copy();
    textures_.write_array(static_cast<CUarray>(array), texels);
  }
  void read_array(handle array, std::span<std::byte> texels) override
  {
    auto const context = context_.enter_to_copy();
    textures_.read_array(static_cast<CUarray>(array), texels);
  }
  std::uint64_t create_texture(handle array, texture_options const& options) override
  {
    auto const context = context_.enter_exclusively();
    return textures_.create_texture(static_cast<CUarray>(array), options);
  }
  std::uint64_t create_texture(linear_texels const& texels, texture_options const& options) override
  {
    auto const context = context_.enter_exclusively();
    return textures_.create_texture(texels, options);
  }
  void destroy_texture(std::uint64_t texture) noexcept override
  {
    if (auto const context = context_.try_enter_exclusively()) textures_.destroy_texture(texture);
  }
  std::uint64_t create_surface(handle array) override
  {
    auto const context = context_.enter_exclusively();
    return textures_.create_surface(static_cast<CUarray>(array));
  }
  void destroy_surface(std::uint64_t surface) noexcept override
  {
    if (auto const context = context_.try_enter_exclusively()) textures_.destroy_surface(surface);
  }

 private:
  driver const& api_;
  device_info info_;
  gpu_memory memory_;
  gpu_streams streams_;
  gpu_textures textures_;
  gpu_context context_;
};

}  // namespace

std::shared_ptr<device_backend> open_gpu(int ordinal)
{
  auto const& api = driver::open();
  int count = 0;
  api.check(api.device_get_count(&count), "counting GPUs");
  if (ordinal >= count)
    throw unavailable_error(
        stage::device,
        {.message = detail::format("gpu:{}: no such GPU; the driver shows {}", ordinal, count),
         .input = detail::format("gpu:{}", ordinal),
         .code = error_code::gpu_unavailable,
         .hint = count == 0 ? "use the reference device, cpu; linking and inspecting need no GPU"
                            : detail::format("use gpu:0 to gpu:{}", count - 1)});
  return std::make_shared<gpu_device>(api, ordinal);
}

std::vector<device_info> gpu_infos()
{
  auto const& api = driver::open();
  int count = 0;
  api.check(api.device_get_count(&count), "counting GPUs");
  std::vector<device_info> infos;
  for (int i = 0; i < count; ++i) infos.push_back(gpu_info(api, i));
  return infos;
}

}  // namespace fatlink::detail
