// SPDX-License-Identifier: Apache-2.0
#include "interpreter/execution/access_locks.hpp"

#include <array>
#include <cstdint>
#include <memory>

#include "util/process/fork_guard.hpp"

namespace fatlink::interpreter {
namespace {

class lock_table {
 public:
  std::mutex& find(std::byte const* place) noexcept
  {
    return mutexes_[reinterpret_cast<std::uintptr_t>(place) / 32 % mutexes_.size()];
  }

 private:
  /// A fork does not wait for accesses: they are those of kernels that the child does not run.
  void renew()
  {
    for (auto& mutex : mutexes_) std::construct_at(&mutex);
  }

  std::array<std::mutex, 64> mutexes_;
  std::mutex unused_;
  detail::fork_guard fork_guard_{detail::fork_order::reference_memory, unused_,
                                 [this] { renew(); }};
};

// Never destroyed: kernels may run while the process ends.
lock_table& table = *new lock_table;

}  // namespace

std::mutex& access_lock(std::byte const* place) noexcept
{
  return table.find(place);
}

}  // namespace fatlink::interpreter
