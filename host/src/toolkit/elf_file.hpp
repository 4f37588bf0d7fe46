// SPDX-License-Identifier: Apache-2.0
// Reads parts of a shared library of 100 MB from its file, without loading it.
// Source: System V ABI, "Object Files". Threads: no shared state.
#pragma once

#include <elf.h>

#include <cstdint>
#include <string>
#include <vector>

#include "fatlink/bytes.hpp"
#include "util/bytes/elf_reader.hpp"
#include "util/files/read_file.hpp"

namespace fatlink::detail {

/// The architecture of this process: the e_machine of the shared libraries that it can load.
#if defined(__x86_64__)
constexpr std::uint16_t k_host_machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr std::uint16_t k_host_machine = EM_AARCH64;
#endif

/// The file is not a shared library for this host, or what is read is past its end.
struct not_a_shared_library {};

/// All members throw elf_error, out_of_bytes and not_a_shared_library for a damaged file, and
/// file_error for one that cannot be read.
class elf_file {
 public:
  explicit elf_file(std::string path);

  /// Bytes of the file.
  [[nodiscard]] std::uint64_t size() const noexcept { return opened_.size; }
  /// Where the last segment that the loader maps ends. If that is past the end of the file, the
  /// loader maps it nevertheless, and reading there ends the process (SIGBUS).
  [[nodiscard]] std::uint64_t needed_size() const;
  [[nodiscard]] bool is_truncated() const { return needed_size() > size(); }

  /// The dynamic string table: all exported names, each terminated by NUL.
  [[nodiscard]] std::string names() const;
  /// In hexadecimal; empty if the file has none.
  [[nodiscard]] std::string build_id() const;
  [[nodiscard]] std::string sha256() const;

 private:
  [[nodiscard]] byte_buffer read(std::uint64_t offset, std::uint64_t size) const;
  /// The last dynamic section; empty if there is none.
  [[nodiscard]] byte_buffer read_dynamic() const;
  [[nodiscard]] std::uint64_t offset_of(std::uint64_t address) const;

  std::string path_;
  opened_file opened_;
  std::vector<elf_segment> segments_;
};

/// Why the loader must not map the file `path`: "is truncated: …". Empty if it is whole or not a
/// shared library, which the loader refuses itself.
std::string explain_truncation(std::string const& path);

}  // namespace fatlink::detail
