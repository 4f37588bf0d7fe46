// SPDX-License-Identifier: Apache-2.0
// What a vendor's compiler compiles, and what it makes. Threads: values.
#pragma once

#include <string>
#include <vector>

#include "fatlink/bytes.hpp"

namespace fatlink::detail {

/// A file in memory that an #include directive names, or a bitcode library.
struct memory_header {
  std::string name = {};  ///< as the directive spells it
  std::string text = {};
};

/// One compile of a program.
struct compile_call {
  std::vector<std::string> options = {};  ///< the compiler's own
  /// Whether the product has the cubin, which NVRTC makes wherever it assembles PTX.
  bool wants_cubin = false;
  friend bool operator==(compile_call const& a, compile_call const& b) = default;
};

/// A program, and how to compile it.
struct program {
  std::string name = {};    ///< of the source in messages: "half.cu"
  std::string source = {};  ///< CUDA C++; LLVM IR as text or bitcode
  std::vector<memory_header> headers = {};
  std::vector<compile_call> compiles = {};  ///< one after the other
};

/// The result of one compile. A compiler makes one or several forms, by its options.
struct compile_product {
  std::string code = {};  ///< the compiler's: "NVRTC_SUCCESS"; empty: succeeded
  std::string log = {};   ///< complete, at most k_longest_compile_log
  byte_buffer ptx = {};   ///< without the trailing NUL; also where only its assembly failed
  byte_buffer ltoir = {};
  byte_buffer cubin = {};
};

/// Destroys a compiler's program; `Functions` are those of the compiler.
template <typename Functions>
struct program_destroyer {
  Functions const* api;
  using pointer = typename Functions::program;
  void operator()(pointer handle) const noexcept { api->destroy(&handle); }
};

/// The most bytes of a compiler's log that are kept; the rest is cut.
constexpr std::size_t k_longest_compile_log = std::size_t{256} << 10;

/// `log` without trailing NULs and blank lines, cut after k_longest_compile_log.
std::string trim_compile_log(std::string log);

}  // namespace fatlink::detail
