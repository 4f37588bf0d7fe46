// SPDX-License-Identifier: Apache-2.0
// A cubin on a GPU, its kernels and its variables. The cubin is a CUlibrary, which belongs to no
// context; functions and variables are those of the context that was current when it was loaded,
// and which must be current in every call. Units: bytes. Threads: safe.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "device/cuda_driver.hpp"
#include "fatlink/device_backend.hpp"

namespace fatlink::detail {

/// A kernel of a gpu_module, which owns it.
class gpu_kernel {
 public:
  /// The handles of a kernel that the driver has loaded.
  struct handles {
    CUkernel kernel = nullptr;      ///< of no context
    CUfunction function = nullptr;  ///< of the module's context
  };

  /// @throws device_error the driver does not tell the kernel's parameters.
  gpu_kernel(driver const& api, device_info const& info, handles loaded, std::string name);

  /// fatlink launches this one: the driver refuses it in a stream of another GPU, where it would
  /// execute a CUkernel with memory of this GPU.
  [[nodiscard]] CUfunction function() const noexcept { return handles_.function; }
  [[nodiscard]] CUkernel native_kernel() const noexcept { return handles_.kernel; }
  [[nodiscard]] std::span<std::size_t const> parameter_sizes() const noexcept { return sizes_; }
  [[nodiscard]] kernel_attributes attributes() const;
  [[nodiscard]] unsigned active_blocks(unsigned block_threads, std::size_t shared_bytes);
  [[nodiscard]] block_size_suggestion suggest_block(std::size_t shared_bytes);

  /// Lets launches use `bytes` of dynamic shared memory. Calls the driver only for more than any
  /// call before. @throws device_error more than the GPU has for a block of this kernel.
  void allow_shared(std::size_t bytes)
  {
    if (bytes > allowed_shared_.load(std::memory_order_relaxed)) raise_allowed_shared(bytes);
  }

  /// Queues a launch; `arguments` as cuLaunchKernel takes them. Returns what the driver returns.
  [[nodiscard]] CUresult launch(CUstream stream, launch_shape const& shape,
                                void* const* arguments) const;

 private:
  [[nodiscard]] std::vector<std::size_t> read_parameter_sizes() const;
  [[nodiscard]] std::size_t attribute(CUfunction_attribute name) const;
  [[nodiscard]] std::size_t max_dynamic_shared_bytes() const;
  void raise_allowed_shared(std::size_t bytes);

  driver const& api_;
  device_info const& info_;
  handles handles_;
  std::string name_;
  std::vector<std::size_t> sizes_;
  std::mutex mutex_;
  std::atomic<std::size_t> allowed_shared_ = 0;  ///< launches with at most so much need no call
};

class gpu_module {
 public:
  /// `info` outlives the module. @throws device_error the driver refuses the image, with its log.
  gpu_module(driver const& api, device_info const& info, linked_image const& image);
  ~gpu_module() = default;  ///< leaves the module loaded; see unload
  gpu_module(gpu_module const&) = delete;
  gpu_module& operator=(gpu_module const&) = delete;

  void unload() noexcept;

  [[nodiscard]] CUlibrary library() const noexcept { return library_; }
  /// Lives as long as the module. @throws file_error no such kernel.
  gpu_kernel& find_kernel(std::string const& name);
  /// @throws file_error no such variable.
  [[nodiscard]] device_variable find_variable(std::string const& name) const;

 private:
  [[nodiscard]] CUresult load(bytes_view image);
  [[nodiscard]] gpu_kernel::handles load_kernel(std::string const& name) const;

  driver const& api_;
  device_info const& info_;
  /// A member because the driver may keep its address for loads into further contexts.
  std::array<char, 8192> log_{};
  CUlibrary library_ = nullptr;
  /// The library in the context of this module. cuModuleGetGlobal finds managed variables as well;
  /// for them, the library has another function than cuLibraryGetGlobal.
  CUmodule module_ = nullptr;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<gpu_kernel>> kernels_;
};

}  // namespace fatlink::detail
