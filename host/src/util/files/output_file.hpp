// SPDX-License-Identifier: Apache-2.0
// A file that appears at its path only by commit(), complete: it is written without a name, where
// the file system has such files (O_TMPFILE), else beside the path under a temporary name. A device
// or FIFO is written directly. A symbolic link stays: the file that it leads to is replaced, or
// created. The process's umask is read, never changed. Threads: none.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "fatlink/bytes.hpp"
#include "fatlink/error.hpp"

namespace fatlink {

class output_file {
 public:
  /// Opens a file that will be at `path`. @throws file_error names `path` and the cause.
  explicit output_file(std::filesystem::path path);
  /// Keeps the bytes in an unnamed temporary file and copies them to `stream`, an open descriptor,
  /// by commit(); `stream` stays open. Errors call it `name`. @throws file_error no temporary file.
  output_file(int stream, std::string name);
  ~output_file();  ///< without commit(): removes the temporary
  output_file(output_file const&) = delete;
  output_file& operator=(output_file const&) = delete;

  /// What errors call it.
  [[nodiscard]] std::filesystem::path const& path() const noexcept { return path_; }
  /// @throws file_error a failed or short write.
  void write(bytes_view bytes);
  /// Flushes and puts the file in place. @throws file_error as write; code EPIPE where the reader
  /// of
  ///   a pipe has gone.
  void commit();

 private:
  struct temporary;
  void open_beside();
  void put_in_place();
  void copy_to_stream();
  [[noreturn]] void fail(char const* doing) const;

  std::filesystem::path path_;
  std::filesystem::path destination_;  ///< path_ without symbolic links at its end
  int descriptor_ = -1;
  int stream_ = -1;                       ///< what commit() copies to; -1: none
  bool is_unnamed_ = false;               ///< commit() gives the file its name
  std::unique_ptr<temporary> temporary_;  ///< the name that commit() changes; null: none
};

}  // namespace fatlink
