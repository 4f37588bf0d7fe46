// SPDX-License-Identifier: Apache-2.0
// PTX that is loaded on the reference device, its kernels and its variables. Failures of the
// interpreter are thrown as errors of fatlink. Units: bytes. Threads: safe.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "fatlink/device_backend.hpp"
#include "interpreter/machine.hpp"
#include "util/process/fork_guard.hpp"

namespace fatlink::detail {

/// A kernel of a reference_module, which owns it.
struct reference_kernel {
  interpreter::program* program = nullptr;
  interpreter::kernel const* kernel = nullptr;
  std::vector<std::size_t> parameter_sizes = {};

  [[nodiscard]] kernel_attributes attributes() const;
  /// @throws device_error more dynamic shared memory than a launch can have.
  void check_shared(std::size_t bytes) const;
};

class reference_module {
 public:
  /// @throws link_error, file_error, unavailable_error as the PTX deserves.
  reference_module(std::shared_ptr<interpreter::memory> memory, linked_image const& image);

  /// Lives as long as the module. @throws file_error no such kernel.
  reference_kernel& find_kernel(std::string const& name);
  /// @throws file_error no such variable.
  [[nodiscard]] device_variable find_variable(std::string const& name);

 private:
  interpreter::program program_;
  std::mutex mutex_;
  fork_guard fork_guard_{fork_order::reference_module, mutex_};
  std::map<std::string, reference_kernel> kernels_;
};

}  // namespace fatlink::detail
