// SPDX-License-Identifier: Apache-2.0
#include "device/gpu_device.hpp"

#include "device/cuda_driver.hpp"
#include "device/gpu_context.hpp"
#include "device/gpu_info.hpp"
#include "device/gpu_memory.hpp"
#include "device/gpu_module.hpp"
#include "device/gpu_streams.hpp"
#include "device/gpu_textures.hpp"
#include "device/relaxed_capture.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

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
    if (auto const context = context_.try_enter()) memory_.release(address);
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
    auto const context = context_.enter();
    return memory_.pool_state();
  }
  void limit_memory_pool(std::size_t bytes) override
  {
    auto const context = context_.enter();
    memory_.set_pool_limit(bytes);
  }
  void trim_memory_pool(std::size_t keep) override
  {
    auto const context = context_.enter();
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
    auto const context = context_.enter();
    relaxed_capture const mode(api_);
    return std::make_unique<gpu_module>(api_, info_, image).release();
  }
  void unload(handle module) noexcept override
  {
    std::unique_ptr<gpu_module> const owned(static_cast<gpu_module*>(module));
    relaxed_capture const mode(api_);
    if (auto const context = context_.try_enter()) owned->unload();
  }
  handle find_kernel(handle module, std::string const& name) override
  {
    auto const context = context_.enter();
    relaxed_capture const mode(api_);
    return &static_cast<gpu_module*>(module)->find_kernel(name);
  }
  device_variable find_variable(handle module, std::string const& name) override
  {
    auto const context = context_.enter();
    relaxed_capture const mode(api_);
    return static_cast<gpu_module*>(module)->find_variable(name);
  }

  [[nodiscard]] std::span<std::size_t const> parameter_sizes(handle kernel) const noexcept override
  {
    return static_cast<gpu_kernel*>(kernel)->parameter_sizes();
  }
  [[nodiscard]] void* native_kernel(handle kernel) const noexcept override
  {
    return static_cast<gpu_kernel*>(kernel)->function();
  }
  [[nodiscard]] kernel_attributes attributes(handle kernel) override
  {
    auto const context = context_.enter();
    return static_cast<gpu_kernel*>(kernel)->attributes();
  }
  [[nodiscard]] unsigned active_blocks(handle kernel, unsigned block_threads,
                                       std::size_t shared_bytes) override
  {
    auto const context = context_.enter();
    return static_cast<gpu_kernel*>(kernel)->active_blocks(block_threads, shared_bytes);
  }
  [[nodiscard]] block_size_suggestion suggest_block(handle kernel,
                                                    std::size_t shared_bytes) override
  {
    auto const context = context_.enter();
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
    return streams_.describe(static_cast<CUstream>(stream));
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
    if (auto const context = context_.try_enter())
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

}  // namespace fatlink::detail
