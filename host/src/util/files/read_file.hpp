// SPDX-License-Identifier: Apache-2.0
// Reads whole files that somebody else wrote, safely: regular files only, bounded, once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "fatlink/bytes.hpp"
#include "fatlink/error.hpp"

namespace fatlink::detail {

/// A file descriptor, closed with its owner.
class descriptor {
 public:
  explicit descriptor(int number) noexcept : number_(number) {}
  ~descriptor();
  descriptor(descriptor const&) = delete;
  descriptor& operator=(descriptor const&) = delete;
  [[nodiscard]] int get() const noexcept { return number_; }
  /// Closes it now; what close(2) answers, errno with it.
  int close() noexcept;

 private:
  int number_;
};

/// A regular file opened for reading and its size in bytes.
struct opened_file {
  std::unique_ptr<descriptor> file;
  std::uint64_t size;
};

/// Opens `path`. Never waits on a FIFO. `hint` is the remedy in the error.
/// @throws file_error missing, a directory, no regular file, unreadable.
opened_file open_regular(std::filesystem::path const& path, std::string const& hint);

/// The open descriptor `stream`, which may be a pipe, for read_at: itself where it is a regular
/// file at its start, else a copy of what it holds to its end, in a file without a name.
/// @throws file_error names `name`.
opened_file open_stream(int stream, std::string const& name);

/// All bytes of `path`. @throws file_error as open_regular, or larger than `most`.
byte_buffer read_file(std::filesystem::path const& path, std::uint64_t most,
                      std::string const& hint);

/// Reads `to.size()` bytes at `offset`; false when the file ends before.
/// @throws file_error the system's reason, naming `path`.
bool read_at(descriptor const& file, std::uint64_t offset, std::span<std::byte> to,
             std::filesystem::path const& path);

}  // namespace fatlink::detail
