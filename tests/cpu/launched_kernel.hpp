// SPDX-License-Identifier: Apache-2.0
// Launches a kernel written in PTX with options of its own: order, checks, shape.
#pragma once

#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "interpreter/machine.hpp"

namespace fatlink::interpreter {

/// Launches the kernel `k(.param .u64 out)` of the module `text`, a.ptx. `out` has 4096 bytes, 0
/// before, and `prepare` is called with its address. Returns the first word of `out` afterwards.
/// @throws code_error as launch().
inline std::uint32_t launch_kernel(
    std::string const& text, launch_options const& options,
    std::function<void(memory&, std::uint64_t)> const& prepare = [](memory&, std::uint64_t) {})
{
  constexpr std::size_t k_bytes = 4096;
  auto const device_memory = std::make_shared<memory>();
  module_text const module{text, "a.ptx"};
  program program(device_memory, {&module, 1});
  auto const out = device_memory->allocate(k_bytes);
  std::memset(out.data, 0, k_bytes);
  prepare(*device_memory, out.base);
  std::array const arguments{std::as_bytes(std::span(&out.base, 1))};
  launch(program, program.find("k"), options, arguments);
  std::uint32_t word = 0;
  std::memcpy(&word, out.data, sizeof word);
  return word;
}

}  // namespace fatlink::interpreter
