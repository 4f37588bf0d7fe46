// SPDX-License-Identifier: Apache-2.0
// Reads the resources of each kernel from a cubin: registers, stack, memory. Nothing is compiled,
// and no device is needed. Registers, stack and memory are as recorded by the compiler; loads and
// stores of local memory are counted in the machine code.
// Units: bytes unless a name says otherwise.
// Source: no public specification; observed with ptxas 12.9 to 13.5 and nvJitLink 13.0, compared
// with what `ptxas -v` prints for nine architectures. docs/cubin_format.md describes the bytes.
// Threads: no shared state.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/bytes.hpp"
#include "fatlink/export.hpp"
#include "fatlink/format_error.hpp"
#include "fatlink/image.hpp"

namespace FATLINK_API fatlink {

/// Resources of one kernel.
struct kernel_resources {
  std::string name = {};        ///< of the kernel
  std::uint32_t registers = 0;  ///< per thread; once linked, including called functions
  /// The limit for register assignment: -maxrregcount, or 255.
  std::uint32_t max_registers = 0;
  std::uint64_t frame_bytes = 0;  ///< stack of each thread, for the kernel itself
  /// Stack of each thread, including the functions that the kernel calls, except calls by pointer.
  /// nullopt before the link, or if the linker could not determine it (recursion).
  std::optional<std::uint64_t> stack_bytes = {};

  /// Bytes that one thread would write if it executed each store to local memory in the kernel's
  /// code once. Such stores are register spills, and accesses to arrays in local memory. Without
  /// such arrays, this is what `ptxas -v` calls "bytes spill stores", and 0 means that no register
  /// is spilled. Functions that the compiler placed in the kernel's code are counted; functions
  /// that a link added are not. nullopt for architectures other than sm_75 to sm_121.
  std::optional<std::uint64_t> local_store_bytes = {};
  /// As local_store_bytes, for loads.
  std::optional<std::uint64_t> local_load_bytes = {};

  /// Shared memory that is declared with a size, per block, without the memory that CUDA reserves.
  /// Before the link, the memory of called functions is not included.
  std::uint64_t static_shared_bytes = 0;
  std::uint64_t parameter_bytes = 0;  ///< all parameters of a launch
  /// Constant memory of the kernel: its parameters, the driver's values before them (352 to 896
  /// bytes) and the compiler's constants. The module's __constant__ variables are not included.
  std::uint64_t constant_bytes = 0;

  std::uint32_t max_block_threads = 0;            ///< __launch_bounds__; 0 if not stated
  std::array<std::uint32_t, 3> required_block{};  ///< __block_size__, .reqntid; 0 if not stated

  /// Compares all members.
  friend bool operator==(kernel_resources const&, kernel_resources const&) = default;
};

/// The resources of every kernel of `cubin`, in the order of its symbols; `name` is for messages.
/// The resources are final only if the cubin is linked.
/// @throws format_error (stage input) corrupt-cubin or above-limit, with the offset, as
///   fatbin::interface.
std::vector<kernel_resources> resources(bytes_view cubin, std::string_view name = "cubin");

/// The resources of every kernel of `image`.
/// @throws usage_error (invalid-argument) the image is not a cubin; PTX has no registers yet.
/// @throws format_error as above.
std::vector<kernel_resources> resources(linked_image const& image);

}  // namespace fatlink
