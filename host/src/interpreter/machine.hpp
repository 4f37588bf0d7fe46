// SPDX-License-Identifier: Apache-2.0
// The reference device: executes PTX on the CPU, one instruction of 32 threads at a time, every
// access checked. For correctness where there is no GPU, not for speed. It refuses, before it
// runs anything, what it does not know.
// Needs the standard library alone; knows neither files, nor fatbins, nor nvJitLink.
// Threads: memory and programs may be used by several threads. A launch uses every core.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/decode/failure.hpp"
#include "interpreter/decode/link_modules.hpp"
#include "interpreter/execution/block.hpp"
#include "interpreter/execution/memory.hpp"

namespace fatlink::interpreter {

/// The text of a PTX module and what messages call it.
struct module_text {
  std::string_view text;
  std::string name;
};

/// A kernel that is ready to run. Lives as long as its program.
struct kernel {
  code const* entry = nullptr;
  std::vector<code const*> functions;  ///< what it may call, by index
};

/// Linked modules in a device's memory.
class program {
 public:
  /// Parses and links; gives module-scope variables memory and their first values.
  /// @throws failure (syntax, duplicate, prototype, unresolved, memory); (refused) variables of
  /// more
  ///   than limits::k_module_bytes together.
  program(std::shared_ptr<memory> in, std::span<module_text const> modules);
  ~program();
  program(program const&) = delete;
  program& operator=(program const&) = delete;

  /// Decodes `name` and all that it may call.
  /// @throws failure (no_kernel; refused, naming the instruction and its line).
  kernel const& find(std::string const& name);
  [[nodiscard]] std::uint32_t shared_bytes() const noexcept { return shared_bytes_; }
  [[nodiscard]] std::shared_ptr<memory> const& where() const noexcept { return memory_; }

 private:
  void place_variables();
  void place(unsigned module, syntax::variable const& one, std::uint64_t& address);
  [[noreturn]] void refuse(unsigned module, syntax::variable const& one,
                           std::string const& limit) const;
  void allocate();
  void initialise(unsigned module, syntax::variable const& one, std::uint64_t address);
  std::uint64_t address_of(unsigned module, std::string const& name, unsigned line);
  code const& decoded(unsigned function);
  void reach(unsigned function, std::vector<code const*>& to);

  std::shared_ptr<memory> memory_;
  linked_modules modules_;
  address_map addresses_;
  std::vector<allocation> requests_;          ///< for variables, until allocate()
  std::vector<std::uint64_t*> placeholders_;  ///< where the address of each request goes
  std::vector<region> regions_;               ///< in order of base
  std::uint64_t module_bytes_ = 0;            ///< of .global and .const variables
  std::uint32_t shared_bytes_ = 0;
  std::vector<unsigned> addressed_;  ///< functions whose addresses variables hold
  std::mutex mutex_;
  std::vector<std::unique_ptr<code>> codes_;
  std::map<std::string, std::unique_ptr<kernel>> kernels_;
};

struct launch_options {
  dimensions grid;
  dimensions block;
  std::uint32_t shared_bytes = 0;  ///< dynamic
  std::uint64_t budget = 0;        ///< instructions a warp may execute; 0: any number
  bool check_races = false;
  std::function<void(std::string_view)> print;  ///< device printf; one call at a time
};

/// Runs a kernel to its end. `arguments[i]` are the bytes of the i-th. Returns how many
/// instructions were executed, each counted once a thread.
/// @throws failure (launch) a shape or arguments that do not fit the kernel;
///   failure (address, endless, deadlock, trap, race) what a thread did: kernel, thread,
///   instruction and address are named. What was written until then stays written.
std::uint64_t launch(program& in, kernel const& which, launch_options const& how,
                     std::span<std::span<std::byte const> const> arguments);

}  // namespace fatlink::interpreter
