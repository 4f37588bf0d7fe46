// SPDX-License-Identifier: Apache-2.0
// Where linked images run. One interface for two kinds of device: the GPU, over the CUDA Driver
// API (libcuda.so.1, opened when first needed, never linked), and the reference device, which
// executes PTX on the CPU with every access checked: for correctness where there is no GPU.
// Units: bytes, milliseconds. Ownership: buffers, modules, kernels, streams and events keep
// their device alive; nothing of the driver is torn down at process exit.
// Threads: a device may be used by several threads; one stream by one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/bytes.hpp"
#include "fatlink/error.hpp"
#include "fatlink/export.hpp"
#include "fatlink/image.hpp"
#include "fatlink/target.hpp"

namespace FATLINK_API fatlink {

enum class device_kind { gpu, cpu };
/// "gpu" or "cpu".
char const* to_string(device_kind kind) noexcept;

struct device_info {
  device_kind kind = device_kind::gpu;
  int ordinal = 0;
  std::string name = {};        ///< "NVIDIA H200"
  fatlink::target target = {};  ///< what to link for, without suffix: sm_90
  /// What the device loads in each mode: cubins, or on the CPU PTX and sets of PTX.
  [[nodiscard]] image_kind image_for(link_mode mode) const noexcept
  {
    if (kind == device_kind::gpu) return image_kind::cubin;
    return mode == link_mode::lto ? image_kind::ptx : image_kind::ptx_set;
  }
  std::size_t memory_bytes = 0;
  unsigned multiprocessors = 0;
};

/// An address in the device's memory.
using device_address = std::uint64_t;

struct extent {
  unsigned x = 1, y = 1, z = 1;
  constexpr extent(unsigned nx = 1, unsigned ny = 1, unsigned nz = 1) : x(nx), y(ny), z(nz) {}
};

struct launch_shape {
  extent grid = {};
  extent block = {};
  unsigned shared_bytes = 0;  ///< dynamic shared memory of each block
};

/// What a kind of device implements; users hold the types below. Handles are the backend's
/// own. @throws device_error from every call that the driver fails, naming the call.
class device_backend {
 public:
  using handle = void*;
  virtual ~device_backend() = default;

  [[nodiscard]] virtual device_info const& info() const noexcept = 0;
  virtual device_address allocate(std::size_t bytes) = 0;
  virtual void release(device_address address) noexcept = 0;
  /// Complete when it returns: work queued later on any stream sees the bytes.
  virtual void copy_in(device_address to, bytes_view from) = 0;
  virtual void copy_out(std::span<std::byte> to, device_address from) = 0;
  virtual void copy_on_device(device_address to, device_address from, std::size_t bytes,
                              handle stream) = 0;
  /// Complete when it returns, as copy_in.
  virtual void fill(device_address to, std::byte value, std::size_t bytes) = 0;
  /// Queued on `stream`.
  virtual void fill(device_address to, std::byte value, std::size_t bytes, handle stream) = 0;

  virtual handle load(linked_image const& image) = 0;
  virtual void unload(handle module) noexcept = 0;
  /// `parameter_sizes`: of the parameters that launches will pass, in bytes.
  /// @throws file_error (stage device) the image has no such kernel.
  /// @throws usage_error the kernel has another number of parameters, or parameters of other sizes.
  virtual handle find_kernel(handle module, std::string const& name,
                             std::span<std::size_t const> parameter_sizes) = 0;
  /// `arguments[i]` points at the i-th argument's value, `sizes[i]` bytes long.
  virtual void launch(handle kernel, handle stream, launch_shape const& shape,
                      std::span<void const* const> arguments,
                      std::span<std::size_t const> sizes) = 0;

  virtual handle create_stream() = 0;
  virtual void destroy_stream(handle stream) noexcept = 0;
  virtual void synchronize(handle stream) = 0;
  virtual handle create_event() = 0;
  virtual void destroy_event(handle event) noexcept = 0;
  virtual void record(handle event, handle stream) = 0;
  /// Milliseconds between two recorded events; waits for the later one.
  virtual double elapsed_ms(handle start, handle stop) = 0;
  /// PTX instructions executed so far, each counted once a thread; 0 where nobody counts.
  [[nodiscard]] virtual std::uint64_t instructions() const noexcept { return 0; }
};

/// The device of `object` ("the stream"). @throws usage_error there is none: it was moved from.
device_backend& require_device(std::shared_ptr<device_backend> const& backend, char const* object);

/// @throws usage_error `object` belongs to another device than `expected`, or was moved from.
///   Two that were opened for one GPU are the same.
void check_same_device(std::shared_ptr<device_backend> const& expected,
                       std::shared_ptr<device_backend> const& actual, char const* object);

/// A queue of work on a device. One that was moved from is refused by every call.
class stream {
 public:
  /// @throws usage_error no backend.
  explicit stream(std::shared_ptr<device_backend> backend);
  void synchronize() { require_device(backend_, "the stream").synchronize(handle_.get()); }
  [[nodiscard]] device_backend::handle get() const noexcept { return handle_.get(); }
  [[nodiscard]] std::shared_ptr<device_backend> const& backend() const noexcept { return backend_; }

 private:
  std::shared_ptr<device_backend> backend_;
  std::shared_ptr<void> handle_;
};

/// A point in a stream's time.
class event {
 public:
  /// @throws usage_error no backend.
  explicit event(std::shared_ptr<device_backend> backend);
  /// @throws usage_error `on` belongs to another device.
  void record(stream const& on)
  {
    auto& device = require_device(backend_, "the event");
    check_same_device(backend_, on.backend(), "the stream");
    device.record(handle_.get(), on.get());
  }
  /// @throws usage_error `earlier` belongs to another device. @throws device_error one of them was
  ///   not recorded.
  [[nodiscard]] double ms_since(event const& earlier) const
  {
    auto& device = require_device(backend_, "the event");
    check_same_device(backend_, earlier.backend_, "the earlier event");
    return device.elapsed_ms(earlier.handle_.get(), handle_.get());
  }

 private:
  std::shared_ptr<device_backend> backend_;
  std::shared_ptr<void> handle_;
};

/// The size of `count` elements in bytes. @throws usage_error it is more than std::size_t holds.
std::size_t buffer_bytes(std::size_t count, std::size_t element_bytes);

/// @throws usage_error elements [first, first + count) are not all in a buffer of `size` elements;
///   `access`, "writing" or "reading", is for the message.
void check_buffer_access(char const* access, std::size_t first, std::size_t count,
                         std::size_t size);

/// `count` objects of T in the device's memory, uninitialised, freed with the last copy.
/// What has no stream is complete when it returns: a launch on any stream that is queued later
/// sees its effect. None of it waits for work that was queued earlier on a stream: synchronize
/// first. One that was moved from has no elements and no address; every other call refuses it.
template <typename T>
class device_buffer {
 public:
  /// @throws usage_error the size in bytes overflows, or no backend. @throws device_error no memory
  ///   left.
  device_buffer(std::shared_ptr<device_backend> backend, std::size_t count)
      : backend_(std::move(backend)),
        count_(count),
        address_(
            new device_address(
                require_device(backend_, "the buffer").allocate(buffer_bytes(count, sizeof(T)))),
            [keep = backend_](device_address* address) {
              keep->release(*address);
              delete address;
            })
  {
  }

  [[nodiscard]] std::size_t size() const noexcept { return address_ ? count_ : 0; }
  [[nodiscard]] device_address address() const noexcept { return address_ ? *address_ : 0; }
  /// As a kernel takes it; never to be dereferenced on the host.
  [[nodiscard]] T* data() const noexcept { return reinterpret_cast<T*>(address()); }
  [[nodiscard]] std::shared_ptr<device_backend> const& backend() const noexcept { return backend_; }

  /// Copies to elements [first, first + from.size()). Blocking.
  /// @throws usage_error they are not all in the buffer.
  void write(std::span<T const> from, std::size_t first = 0)
  {
    auto& device = require_device(backend_, "the buffer");
    check_buffer_access("writing", first, from.size(), count_);
    device.copy_in(*address_ + first * sizeof(T), std::as_bytes(from));
  }
  /// Copies elements [first, first + to.size()). Blocking.
  /// @throws usage_error they are not all in the buffer.
  void read(std::span<T> to, std::size_t first = 0) const
  {
    auto& device = require_device(backend_, "the buffer");
    check_buffer_access("reading", first, to.size(), count_);
    device.copy_out(std::as_writable_bytes(to), *address_ + first * sizeof(T));
  }
  /// Sets every byte. Blocking.
  void fill(std::byte value)
  {
    auto& device = require_device(backend_, "the buffer");
    device.fill(*address_, value, count_ * sizeof(T));
  }
  /// Queues setting every byte. @throws usage_error `on` belongs to another device.
  void fill(std::byte value, stream const& on)
  {
    auto& device = require_device(backend_, "the buffer");
    check_same_device(backend_, on.backend(), "the stream");
    device.fill(*address_, value, count_ * sizeof(T), on.get());
  }

 private:
  std::shared_ptr<device_backend> backend_;
  std::size_t count_;
  std::shared_ptr<device_address> address_;
};

/// A kernel of known parameters. Keeps its module loaded.
template <typename... Parameters>
class kernel {
 public:
  kernel(std::shared_ptr<device_backend> backend, std::shared_ptr<void> module,
         device_backend::handle function)
      : backend_(std::move(backend)), module_(std::move(module)), function_(function)
  {
  }

  /// Queues a launch; returns at once. The reference device runs it to its end instead.
  /// @throws device_error the driver refuses it; on the reference device, what a thread did
  ///   wrong: kernel, thread, instruction and address are named.
  /// @throws usage_error `on` belongs to another device.
  void launch(stream const& on, launch_shape const& shape, Parameters... arguments) const
  {
    std::array<void const*, sizeof...(Parameters)> const values{
        static_cast<void const*>(&arguments)...};
    static constexpr std::array<std::size_t, sizeof...(Parameters)> k_sizes{sizeof(Parameters)...};
    auto& device = require_device(backend_, "the kernel");
    check_same_device(backend_, on.backend(), "the stream");
    device.launch(function_, on.get(), shape, values, k_sizes);
  }

 private:
  std::shared_ptr<device_backend> backend_;
  std::shared_ptr<void> module_;
  device_backend::handle function_;
};

/// A linked image on a device.
class loaded_module {
 public:
  loaded_module(std::shared_ptr<device_backend> backend, linked_image const& image);

  /// Count and size of every parameter are compared with the kernel's, here and not at launches;
  /// types of one size cannot be told apart.
  /// @throws file_error (stage device) no kernel of this name in the image.
  /// @throws usage_error the kernel's parameters are others; both lists of sizes are named.
  template <typename... Parameters>
  [[nodiscard]] fatlink::kernel<Parameters...> kernel(std::string const& name) const
  {
    static constexpr std::array<std::size_t, sizeof...(Parameters)> k_sizes{sizeof(Parameters)...};
    return {backend_, handle_, find_kernel(name, k_sizes)};
  }
  /// The same. @throws usage_error `name` is null.
  template <typename... Parameters>
  [[nodiscard]] fatlink::kernel<Parameters...> kernel(char const* name) const
  {
    return kernel<Parameters...>(required_name(name));
  }

 private:
  static std::string required_name(char const* name);
  [[nodiscard]] device_backend::handle find_kernel(
      std::string const& name, std::span<std::size_t const> parameter_sizes) const;

  std::shared_ptr<device_backend> backend_;
  std::shared_ptr<void> handle_;
};

/// A device that was opened. One that was moved from is refused by every call.
class device {
 public:
  /// @throws usage_error no backend.
  explicit device(std::shared_ptr<device_backend> backend) : backend_(std::move(backend))
  {
    (void)require_device(backend_, "the device");
  }

  [[nodiscard]] device_info const& info() const
  {
    return require_device(backend_, "the device").info();
  }
  [[nodiscard]] loaded_module load(linked_image const& image) const { return {backend_, image}; }
  [[nodiscard]] stream create_stream() const { return stream(backend_); }
  [[nodiscard]] event create_event() const { return event(backend_); }
  template <typename T>
  [[nodiscard]] device_buffer<T> allocate(std::size_t count) const
  {
    return {backend_, count};
  }
  [[nodiscard]] std::uint64_t instructions() const noexcept
  {
    return backend_ ? backend_->instructions() : 0;
  }
  /// Queues a device-to-device copy of the first `count` elements.
  /// @throws usage_error one of the buffers has fewer, or it or `on` belongs to another device.
  template <typename T>
  void copy(device_buffer<T> const& to, device_buffer<T> const& from, std::size_t count,
            stream const& on) const
  {
    auto& owner = require_device(backend_, "the device");
    check_same_device(backend_, from.backend(), "the buffer that is read");
    check_same_device(backend_, to.backend(), "the buffer that is written");
    check_same_device(backend_, on.backend(), "the stream");
    check_buffer_access("reading", 0, count, from.size());
    check_buffer_access("writing", 0, count, to.size());
    owner.copy_on_device(to.address(), from.address(), count * sizeof(T), on.get());
  }

 private:
  std::shared_ptr<device_backend> backend_;
};

/// Of the reference device alone.
struct cpu_options {
  /// Instructions that a warp may execute in a launch before it counts as endless; 0: any number.
  std::uint64_t instruction_budget = std::uint64_t{1} << 30;
  /// Whether two threads writing one byte without synchronising is an error.
  bool check_races = false;
};

/// Opens "gpu", "gpu:1" or "cpu". A bare number is an ordinal too: "7" is "gpu:7". The
/// reference device takes links for sm_90, or for another target where it is named: "cpu:sm_80".
/// @throws usage_error another spelling.
/// @throws unavailable_error no driver, or no such GPU (the message counts those there are).
///   Never another device than the one asked for.
std::shared_ptr<device> open_device(std::string_view name, cpu_options const& options = {});
/// The same; a null pointer is no device.
std::shared_ptr<device> open_device(char const* name, cpu_options const& options = {});

/// Every GPU the driver shows; empty, with the reason in `why_none`, where there is none.
std::vector<device_info> list_gpus(std::string& why_none);

/// The driver's CUDA version, 13000 for 13.0; 0, with the reason, where there is no driver.
int driver_version(std::string& why_none);

}  // namespace fatlink
