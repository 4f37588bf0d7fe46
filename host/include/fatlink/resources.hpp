// SPDX-License-Identifier: Apache-2.0
// What each kernel of a cubin needs of the GPU, read from the cubin: nothing is compiled again and
// no device is needed. Registers, stack and memory are what the compiler recorded; loads and stores
// of local memory are counted in the machine code.
// Units: bytes unless a name says otherwise.
// Source: no public specification; observed with ptxas 12.9 to 13.5 and nvJitLink 13.0, compared
// with what `ptxas -v` prints for nine architectures. The bytes: docs/cubin_format.md.
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
  std::uint32_t registers = 0;  ///< of each thread, with the functions that it calls once linked
  /// The limit under which the registers were assigned: -maxrregcount, or 255.
  std::uint32_t max_registers = 0;
  std::uint64_t frame_bytes = 0;  ///< stack of each thread that the kernel itself needs
  /// Stack of each thread with the functions that the kernel calls; those that it calls by pointer
  /// are not counted. None before the link, or if the linker could not determine it (recursion).
  std::optional<std::uint64_t> stack_bytes = {};

  /// Bytes that the store instructions of local memory in the kernel's code write, each instruction
  /// counted once for one thread: register spills, and accesses of arrays in local memory. If there
  /// are no such arrays, it is what `ptxas -v` calls "bytes spill stores"; 0 means that no register
  /// is spilled to local memory. Functions that the compiler placed in the kernel's code are
  /// counted, those that a link added are not. None for architectures other than sm_75 to sm_121.
  std::optional<std::uint64_t> local_store_bytes = {};
  /// As local_store_bytes, of loads.
  std::optional<std::uint64_t> local_load_bytes = {};

  /// Shared memory of each block declared with a size, without what CUDA reserves. Before the link,
  /// without that of the functions that the kernel calls.
  std::uint64_t static_shared_bytes = 0;
  std::uint64_t parameter_bytes = 0;  ///< all parameters of a launch
  /// Constant memory that belongs to the kernel: parameters, values of the driver before them (352
  /// to 896 bytes) and constants of the compiler. Without the module's __constant__ variables.
  std::uint64_t constant_bytes = 0;

  std::uint32_t max_block_threads = 0;            ///< __launch_bounds__; 0 if not stated
  std::array<std::uint32_t, 3> required_block{};  ///< __block_size__, .reqntid; 0 if not stated

  /// Compares all members.
  friend bool operator==(kernel_resources const&, kernel_resources const&) = default;
};

/// The resources of every kernel of `cubin`, in the order of its symbols; `name` is for messages.
/// Each kernel's are final once the cubin is linked.
/// @throws format_error (stage input) corrupt-cubin or above-limit, with the offset, as
///   fatbin::interface.
std::vector<kernel_resources> resources(bytes_view cubin, std::string_view name = "cubin");

/// The resources of every kernel of `image`.
/// @throws usage_error (invalid-argument) the image is no cubin: PTX has no registers yet.
/// @throws format_error as above.
std::vector<kernel_resources> resources(linked_image const& image);

}  // namespace fatlink
