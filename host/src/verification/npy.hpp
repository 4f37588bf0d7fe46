// SPDX-License-Identifier: Apache-2.0
// Reads and writes .npy files of little-endian float32, one-dimensional, in chunks, so that a
// file larger than memory works. Format: NumPy Enhancement Proposal 1, versions 1.0 to 3.0.
// Threads: none; one object, one thread.
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
  /// @throws file_error missing, unreadable, not a .npy, another dtype than '<f4', another
  ///   shape than one dimension, no elements, or shorter or longer than its shape says.
  explicit npy_reader(std::filesystem::path const& path);
  /// Reads the open descriptor `stream`, which may be a pipe, to its end; errors call it `name`.
  /// What cannot be read twice is kept in an unnamed temporary file ($TMPDIR, else /tmp).
  npy_reader(int stream, std::string const& name);
  ~npy_reader();
  npy_reader(npy_reader&&) noexcept;
  npy_reader& operator=(npy_reader&&) noexcept;

  [[nodiscard]] std::size_t size() const noexcept;  ///< elements

  /// Reads elements [first, first + to.size()). @throws file_error the file shrank or failed.
  void read(std::size_t first, std::span<float> to) const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// A .npy file being written: appears at its path only by commit(), complete, or not at all.
class npy_writer {
 public:
  /// @throws file_error the folder is not there or not writable.
  npy_writer(std::filesystem::path const& path, std::size_t count);
  /// Writes to `file` and commits it.
  npy_writer(std::unique_ptr<output_file> file, std::size_t count);
  ~npy_writer();  ///< without commit(): removes the partial file
  npy_writer(npy_writer&&) noexcept;
  npy_writer& operator=(npy_writer&&) noexcept;

  /// Appends. @throws file_error disk full and the like.
  void append(std::span<float const> values);
  /// Renames the complete file into place. @throws file_error fewer elements than announced.
  void commit();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace fatlink
