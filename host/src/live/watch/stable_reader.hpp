// SPDX-License-Identifier: Apache-2.0
// Reads input files that are being replaced: again and again, until every file is complete and
// belongs to its sidecar. A file that a digest verifies is taken as soon as it is; one that states
// none once nothing has changed for a while, because half of it may look complete. The wait has a
// bound, after which the last error counts.
// Threads: one at a time.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <vector>

#include "fatlink/input.hpp"

namespace fatlink::detail {

class stable_reader {
 public:
  using clock = std::chrono::steady_clock;
  using version = std::vector<input>;

  /// How long a file without digest must be unchanged.
  static constexpr std::chrono::milliseconds k_quiet{100};
  /// The bound of a wait while files keep changing, in limits.
  static constexpr int k_most_limits = 10;
  static constexpr std::chrono::hours k_longest_limit{24};

  /// `limit`: how long to wait for the rest of a version after the last change.
  stable_reader(std::vector<std::filesystem::path> files, std::chrono::milliseconds limit);

  [[nodiscard]] std::vector<std::filesystem::path> const& files() const noexcept { return files_; }

  /// The files have changed, or were never read.
  void note_change();
  /// Whether a version is expected: read() is to be called at next_read().
  [[nodiscard]] bool is_waiting() const noexcept { return is_waiting_; }
  /// When to call read(); never, if no version is expected.
  [[nodiscard]] clock::time_point next_read() const noexcept;

  /// The files, if they are complete; nothing: read again at next_read(). What it returned may come
  /// again: it reads once more when nothing has changed for a while.
  /// @throws file_error, format_error why they are not, after the bound; no version is expected
  ///   then.
  std::optional<version> read();

  /// Whether digests verify all files of `files`.
  static bool is_verified(version const& files);

 private:
  [[nodiscard]] clock::time_point bound() const noexcept;
  [[nodiscard]] version read_all() const;
  [[nodiscard]] bool lacks_sidecar(version const& files) const;
  void accept(version const& files, bool is_final);
  void schedule(clock::time_point begin, bool is_quiet);

  std::vector<std::filesystem::path> files_;
  std::chrono::milliseconds limit_;
  std::vector<bool> had_sidecar_;  ///< of each file, in the last version
  bool is_waiting_ = false;
  clock::time_point first_change_ = {};  ///< since the last version
  clock::time_point last_change_ = {};
  clock::time_point next_read_ = {};
  clock::time_point earliest_read_ = {};  ///< so that reading large files leaves time for others
};

}  // namespace fatlink::detail
