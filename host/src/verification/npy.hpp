// SPDX-License-Identifier: Apache-2.0
// Reads and writes .npy files of one-dimensional little-endian float32 arrays in chunks, so that
// files may be larger than memory. Format: NumPy Enhancement Proposal 1, versions 1.0 to 3.0.
// Units: elements. Threads: one object, one thread at a time.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "fatlink/error.hpp"
#include "util/files/output_file.hpp"

namespace fatlink {

/// A .npy file opened for reading.
class npy_reader {
 public:
  /// @throws file_error the file is missing, unreadable or not a .npy file; its dtype is not '<f4';
  ///   it does not have one dimension; it is empty; or its size differs from what the shape says.
  explicit npy_reader(std::filesystem::path const& path);
  /// Reads the open descriptor `stream`, which may be a pipe, to its end; `name` is for messages.
  /// The content of a pipe is kept in an unnamed temporary file ($TMPDIR, else /tmp).
  /// @throws file_error as the other constructor.
  npy_reader(int stream, std::string const& name);
  ~npy_reader();
  npy_reader(npy_reader&&) noexcept;
  npy_reader& operator=(npy_reader&&) noexcept;

  [[nodiscard]] std::size_t size() const noexcept;  ///< elements

  /// Copies elements [start, start + values.size()) to `values`.
  /// @throws file_error the file became shorter, or reading failed.
  void read(std::size_t start, std::span<float> values) const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// A .npy file that is being written. It appears at its path when commit() succeeds, complete.
class npy_writer {
 public:
  /// `count`: how many elements will be appended.
  /// @throws file_error the folder does not exist or is not writable.
  npy_writer(std::filesystem::path const& path, std::size_t count);
  /// Writes to `file` and commits it.
  npy_writer(std::unique_ptr<output_file> file, std::size_t count);
  ~npy_writer();  ///< without commit(): removes the partial file
  npy_writer(npy_writer&&) noexcept;
  npy_writer& operator=(npy_writer&&) noexcept;

  /// Appends. @throws file_error more elements than announced, or writing failed.
  void append(std::span<float const> values);
  /// Puts the complete file in place. @throws file_error fewer elements than announced, or writing
  ///   failed.
  void commit();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace fatlink
