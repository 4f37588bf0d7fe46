// SPDX-License-Identifier: Apache-2.0
#include "device/gpu_device.hpp"

#include <array>

#include "device/cuda_driver.hpp"
#include "device/kernel_parameters.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

int attribute(driver const& api, CUdevice gpu, CUdevice_attribute which)
{
  int value = 0;
  api.check(api.device_get_attribute(&value, which, gpu), "asking a GPU's attribute");
  return value;
}

device_info info_of(driver const& api, int ordinal)
{
  CUdevice gpu = 0;
  api.check(api.device_get(&gpu, ordinal), "opening", detail::format("gpu:{}", ordinal));
  std::array<char, 256> name{};
  api.check(api.device_get_name(name.data(), static_cast<int>(name.size()), gpu),
            "asking a GPU's name");
  std::size_t memory = 0;
  api.check(api.device_total_mem(&memory, gpu), "asking a GPU's memory");
  auto const major = attribute(api, gpu, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  auto const minor = attribute(api, gpu, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  return {.kind = device_kind::gpu,
          .ordinal = ordinal,
          .name = name.data(),
          .target = target(static_cast<unsigned>(major * 10 + minor)),
          .memory_bytes = memory,
          .multiprocessors =
              static_cast<unsigned>(attribute(api, gpu, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT))};
}

/// The context is the device's primary one, retained and never released: at process exit the
/// driver may be gone before any destructor of ours runs.
class gpu_device final : public device_backend {
 public:
  gpu_device(driver const& api, int ordinal) : api_(api), info_(info_of(api, ordinal))
  {
    CUdevice gpu = 0;
    api_.check(api_.device_get(&gpu, ordinal), "opening", detail::format("gpu:{}", ordinal));
    api_.check(api_.primary_context_retain(&context_, gpu), "creating a context on", info_.name);
  }

  [[nodiscard]] device_info const& info() const noexcept override { return info_; }

  device_address allocate(std::size_t bytes) override
  {
    enter();
    CUdeviceptr address = 0;
    api_.check(api_.mem_alloc(&address, std::max<std::size_t>(bytes, 1)), "allocating",
               detail::format("{} bytes on {}", bytes, info_.name));
    return address;
  }
  void release(device_address address) noexcept override
  {
    if (entered()) (void)api_.mem_free(address);
  }
  void copy_in(device_address to, bytes_view from) override
  {
    enter();
    if (from.empty()) return;
    api_.check(api_.copy_in(to, from.data(), from.size()), "copying to", info_.name);
    finish_default_stream("copying to");
  }
  void copy_out(std::span<std::byte> to, device_address from) override
  {
    enter();
    if (to.empty()) return;
    api_.check(api_.copy_out(to.data(), from, to.size()), "copying from", info_.name);
  }
  void copy_on_device(device_address to, device_address from, std::size_t bytes,
                      handle stream) override
  {
    enter();
    if (bytes == 0) return;
    api_.check(api_.copy_on_device(to, from, bytes, static_cast<CUstream>(stream)), "copying on",
               info_.name);
  }
  void fill(device_address to, std::byte value, std::size_t bytes) override
  {
    fill(to, value, bytes, nullptr);
    finish_default_stream("filling memory of");
  }
  void fill(device_address to, std::byte value, std::size_t bytes, handle stream) override
  {
    enter();
    if (bytes == 0) return;
    api_.check(api_.memset_bytes(to, static_cast<unsigned char>(value), bytes,
                                 static_cast<CUstream>(stream)),
               "filling memory of", info_.name);
  }

  handle load(linked_image const& image) override
  {
    enter();
    std::array<char, 8192> log{};
    std::array options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(log.size())};
    CUmodule loaded = nullptr;
    auto bytes = image.bytes;  // PTX wants a NUL at its end; a cubin does not mind one
    bytes.push_back(std::byte{0});
    auto const code = api_.module_load(&loaded, bytes.data(), static_cast<unsigned>(options.size()),
                                       options.data(), values.data());
    try {
      api_.check(code, "loading the linked image on", info_.name);
    } catch (device_error const& error) {
      auto details = error.details();
      details.log = log.data();
      throw device_error(stage::device, details);
    }
    return loaded;
  }
  void unload(handle module) noexcept override
  {
    if (entered()) (void)api_.module_unload(static_cast<CUmodule>(module));
  }
  handle find_kernel(handle module, std::string const& name,
                     std::span<std::size_t const> parameter_sizes) override
  {
    enter();
    CUfunction kernel = nullptr;
    auto const code =
        api_.module_get_function(&kernel, static_cast<CUmodule>(module), name.c_str());
    if (code == CUDA_ERROR_NOT_FOUND)
      throw file_error(stage::device,
                       {.message = detail::format("kernel {} is not in the linked image", name),
                        .input = name,
                        .code = vendor_code("CUDA_ERROR_NOT_FOUND"),
                        .hint = "fatlink inspect shows the kernels of a fatbin"});
    api_.check(code, "finding the kernel", name);
    check_kernel_parameters(name, parameters_of(kernel), parameter_sizes);
    return kernel;
  }
  void launch(handle kernel, handle stream, launch_shape const& shape,
              std::span<void const* const> arguments, std::span<std::size_t const>) override
  {
    enter();
    std::vector<void*> values;  // the driver takes them by pointer to void and only reads them
    for (auto const* value : arguments) values.push_back(const_cast<void*>(value));
    auto const& [grid, block, shared] = shape;
    api_.check(api_.launch_kernel(static_cast<CUfunction>(kernel), grid.x, grid.y, grid.z, block.x,
                                  block.y, block.z, shared, static_cast<CUstream>(stream),
                                  values.data(), nullptr),
               "launching a kernel on", info_.name);
  }

  handle create_stream() override
  {
    enter();
    CUstream stream = nullptr;
    api_.check(api_.stream_create(&stream, CU_STREAM_NON_BLOCKING), "creating a stream on",
               info_.name);
    return stream;
  }
  void destroy_stream(handle stream) noexcept override
  {
    if (entered()) (void)api_.stream_destroy(static_cast<CUstream>(stream));
  }
  void synchronize(handle stream) override
  {
    enter();
    api_.check(api_.stream_synchronize(static_cast<CUstream>(stream)), "running a kernel on",
               info_.name);
  }
  handle create_event() override
  {
    enter();
    CUevent event = nullptr;
    api_.check(api_.event_create(&event, CU_EVENT_DEFAULT), "creating an event on", info_.name);
    return event;
  }
  void destroy_event(handle event) noexcept override
  {
    if (entered()) (void)api_.event_destroy(static_cast<CUevent>(event));
  }
  void record(handle event, handle stream) override
  {
    enter();
    api_.check(api_.event_record(static_cast<CUevent>(event), static_cast<CUstream>(stream)),
               "recording an event on", info_.name);
  }
  double elapsed_ms(handle start, handle stop) override
  {
    enter();
    api_.check(api_.event_synchronize(static_cast<CUevent>(stop)), "running a kernel on",
               info_.name);
    float ms = 0;
    api_.check(
        api_.event_elapsed_time(&ms, static_cast<CUevent>(start), static_cast<CUevent>(stop)),
        "timing on", info_.name);
    return static_cast<double>(ms);
  }

 private:
  /// Streams of fatlink do not wait for the default stream (CU_STREAM_NON_BLOCKING), on which
  /// memsets and the end of copies from pageable memory are asynchronous to the host.
  void finish_default_stream(char const* doing)
  {
    api_.check(api_.stream_synchronize(nullptr), doing, info_.name);
  }
  /// Sizes of a kernel's parameters, in bytes.
  [[nodiscard]] std::vector<std::size_t> parameters_of(CUfunction kernel) const
  {
    std::vector<std::size_t> sizes;
    for (;;) {
      std::size_t offset = 0;
      std::size_t size = 0;
      auto const code = api_.func_get_param_info(kernel, sizes.size(), &offset, &size);
      if (code == CUDA_ERROR_INVALID_VALUE) return sizes;  // an index past the last one
      api_.check(code, "reading the parameters of a kernel on", info_.name);
      sizes.push_back(size);
    }
  }
  /// A context is current to one thread at a time of its choosing, so every call sets it.
  [[nodiscard]] bool entered() const noexcept
  {
    return api_.context_set_current(context_) == CUDA_SUCCESS;
  }
  void enter() const { api_.check(api_.context_set_current(context_), "entering", info_.name); }

  driver const& api_;
  device_info info_;
  CUcontext context_ = nullptr;
};

}  // namespace

std::vector<device_info> gpu_infos()
{
  auto const& api = driver::open();
  int count = 0;
  api.check(api.device_get_count(&count), "counting GPUs");
  std::vector<device_info> infos;
  for (int i = 0; i < count; ++i) infos.push_back(info_of(api, i));
  return infos;
}

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
         .hint = count == 0 ? "fatlink link and inspect need no GPU"
                            : detail::format("pass --device gpu:0 to gpu:{}", count - 1)});
  return std::make_shared<gpu_device>(api, ordinal);
}

}  // namespace fatlink::detail
