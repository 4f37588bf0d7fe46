// SPDX-License-Identifier: Apache-2.0
// The reference device: executes PTX on the CPU, one instruction of 32 threads at a time, and
// checks every memory access. It is made for checking results without a GPU, not for speed. Unknown
// instructions are refused before anything runs (docs/reference_device.md).
// Depends only on the standard library, ptx and util: not on files, fatbins or nvJitLink.
// Threads: memory and programs may be used by several threads. A launch uses all cores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "interpreter/decode/code_error.hpp"
#include "interpreter/decode/decoder.hpp"
#include "interpreter/decode/link_modules.hpp"
#include "interpreter/execution/block.hpp"
#include "interpreter/execution/memory.hpp"
#include "util/process/fork_guard.hpp"

namespace fatlink::interpreter {

/// The text of a PTX module, and its name in messages.
struct module_text {
  std::string_view text = {};
  std::string name = {};
};

constexpr std::uint32_t k_max_threads = 1024;  ///< of a block
/// Bytes of a block, static shared memory included, as an H200 has.
constexpr std::uint32_t k_max_dynamic_shared = 227 * 1024;

/// A variable in the device's memory. Units: bytes.
struct placed_variable {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

/// A kernel that is ready to run. It belongs to its program.
struct kernel {
  code const* entry = nullptr;
  std::vector<code const*> functions;  ///< it and the functions it may call, by index
  std::vector<std::unique_ptr<code>> codes;
  std::uint32_t shared_bytes = 0;  ///< static shared memory of a block

  /// Whether all its blocks must run at the same time, because they may wait for each other.
  [[nodiscard]] bool is_cooperative() const noexcept;
  [[nodiscard]] bool uses_heap() const noexcept;
  [[nodiscard]] bool uses_reserved_shared() const noexcept;
  /// The most threads of a block: fewer than k_max_threads if the kernel states it.
  [[nodiscard]] std::uint32_t max_threads() const noexcept;
  /// The most dynamic shared memory of a launch.
  [[nodiscard]] std::uint32_t max_dynamic_shared() const noexcept
  {
    return k_max_dynamic_shared - shared_bytes;
  }
};

/// Linked modules in a device's memory.
class program {
 public:
  /// Parses and links the modules; allocates and initialises module-scope variables.
  /// @throws code_error (syntax, duplicate, prototype, unresolved, memory);
  ///   code_error (refused) text or variables beyond a limit (util/limits.hpp);
  ///   code_error (invalid) more constants than any device has.
  program(std::shared_ptr<memory> memory, std::span<module_text const> modules);
  ~program();
  program(program const&) = delete;
  program& operator=(program const&) = delete;

  /// Decodes the kernel `name` and all functions that it may call.
  /// @throws code_error (no_kernel; refused, naming the instruction and its line; invalid, more
  ///   static shared memory than any device has).
  kernel const& find(std::string const& name);
  /// The .global or .const variable `name` that is visible to other modules; nothing where there is
  /// none.
  [[nodiscard]] std::optional<placed_variable> find_variable(std::string const& name) const;
  /// Of all .const variables at module scope.
  [[nodiscard]] std::uint64_t constant_bytes() const noexcept;
  /// The heap of malloc, made at the first call. @throws code_error (memory).
  device_heap& heap();
  [[nodiscard]] std::shared_ptr<memory> const& device_memory() const noexcept { return memory_; }

 private:
  void place_variables();
  void place(unsigned module, syntax::variable const& variable, std::uint64_t& address);
  [[noreturn]] void fail_variable(unsigned module, syntax::variable const& variable,
                                  std::string const& limit) const;
  void allocate();
  /// `function`: the one that holds the variable in its body.
  void initialise(unsigned module, syntax::variable const& variable, std::uint64_t address,
                  unsigned function);
  std::uint64_t address_of(unsigned module, std::string const& name, unsigned line);
  [[nodiscard]] std::uint64_t address_of(unsigned function, syntax::initial_value const& value,
                                         syntax::variable const& holder) const;
  void check_constants() const;
  std::unique_ptr<kernel> decode_kernel(unsigned index) const;

  std::shared_ptr<memory> memory_;
  linked_modules modules_;
  address_map addresses_;
  std::vector<allocation> requests_;          ///< memory of variables, until allocate()
  std::vector<std::uint64_t*> placeholders_;  ///< where to write the address of each request
  std::vector<region> regions_;               ///< in order of base
  std::uint64_t module_bytes_ = 0;            ///< of .global and .const variables
  std::vector<unsigned> addressed_;           ///< functions whose addresses are in variables
  std::mutex mutex_;
  detail::fork_guard fork_guard_{detail::fork_order::reference_module, mutex_};
  std::unique_ptr<device_heap> heap_;
  std::map<std::string, std::unique_ptr<kernel>> kernels_;
};

struct launch_options {
  dimensions grid = {};
  dimensions block = {};
  std::uint32_t shared_bytes = 0;  ///< dynamic shared memory
  std::uint64_t budget = 0;        ///< instructions a warp may execute; 0: unlimited
  bool check_races = false;
  bool check_initialization = false;  ///< of shared memory, before it is read
  bool in_order = false;              ///< one thread of the host runs the blocks in their order
  std::function<void(std::string_view)> print =
      {};  ///< receives the text of printf; calls never overlap
};

/// Runs a kernel to its end. `arguments[i]` are the bytes of argument i. Returns the number of
/// instructions executed, counted for each thread.
/// @throws code_error (launch) the shape or the arguments do not fit the kernel;
///   code_error (address, endless, deadlock, trap, race, uninitialized) a thread failed: the
///   message names the kernel, the thread, the instruction and the address. Memory written before
///   stays written.
std::uint64_t launch(program& program, kernel const& kernel, launch_options const& options,
                     std::span<std::span<std::byte const> const> arguments);

}  // namespace fatlink::interpreter
