// SPDX-License-Identifier: Apache-2.0
// A file that appears at its path only by commit(): written beside it under a temporary name,
// then renamed, so that nobody ever sees half of it. Threads: none.
#pragma once

#include <filesystem>
#include <string>

#include "fatlink/bytes.hpp"
#include "fatlink/error.hpp"
#include "fatlink/export.hpp"

namespace FATLINK_API fatlink {

class output_file {
 public:
  /// Creates the temporary beside `path`. @throws file_error names `path` and the cause.
  explicit output_file(std::filesystem::path path);
  ~output_file();  ///< without commit(): removes the temporary
  output_file(output_file const&) = delete;
  output_file& operator=(output_file const&) = delete;

  /// @throws file_error a failed or short write.
  void write(bytes_view bytes);
  /// Flushes and renames into place. @throws file_error as write.
  void commit();

 private:
  [[noreturn]] void fail(char const* doing) const;

  std::filesystem::path path_;
  std::string temporary_;
  int descriptor_ = -1;
};

}  // namespace fatlink
