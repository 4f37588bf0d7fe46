// SPDX-License-Identifier: Apache-2.0
// Reads whole untrusted files safely: regular files only, of limited size, read once; lists folders
// and resolves paths. Threads: no shared state.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <vector>

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
  /// Closes it now; returns the result of close(2) and sets errno.
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
/// @throws file_error missing, a directory, not a regular file, or unreadable.
opened_file open_regular(std::filesystem::path const& path, std::string const& hint);

/// The open descriptor `stream`, which may be a pipe, for read_at: the descriptor itself if it is a
/// regular file at its start, else an unnamed file with a copy of the remaining bytes.
/// @throws file_error names `name`.
opened_file open_stream(int stream, std::string const& name);

/// All bytes of `path`. @throws file_error as open_regular, or larger than `size_limit`.
byte_buffer read_file(std::filesystem::path const& path, std::uint64_t size_limit,
                      std::string const& hint);

/// Reads `buffer.size()` bytes at `offset`; false if the file ends earlier.
/// @throws file_error names `path` and the system's reason.
bool read_at(descriptor const& file, std::uint64_t offset, std::span<std::byte> buffer,
             std::filesystem::path const& path);

/// The paths of everything in `folder`, in no order; those until then where the system refuses to
/// read on, none where it refuses to open. @throws std::bad_alloc, which ends the process inside of
/// libstdc++'s directory_iterator.
std::vector<std::filesystem::path> list_folder(std::filesystem::path const& folder);

/// std::filesystem::canonical: `path` without symbolic links. `failure` says why there is none.
/// @throws std::bad_alloc: canonical reports missing memory as it does a missing file.
std::filesystem::path real_path(std::filesystem::path const& path, std::error_code& failure);

}  // namespace fatlink::detail
