// SPDX-License-Identifier: Apache-2.0
// The folders in which headers are searched. Only regular files below them are read, with symbolic
// links resolved. Threads: one at a time.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "util/files/open_below.hpp"

namespace fatlink::detail {

/// A file below a folder.
struct header_place {
  std::size_t folder = 0;
  std::string name = {};  ///< relative to the folder, normal
  friend bool operator<(header_place const& a, header_place const& b)
  {
    return std::tie(a.folder, a.name) < std::tie(b.folder, b.name);
  }
};

class header_folders {
 public:
  /// `folders`: in the order of search; those that are not there are left out. After them those of
  /// CUDA, `cuda_folders`.
  explicit header_folders(std::vector<std::filesystem::path> const& folders,
                          std::vector<std::filesystem::path> const& cuda_folders = {});

  /// Adds a folder that is not searched, only read. Returns its number; empty: there is none.
  std::optional<std::size_t> add(std::filesystem::path const& folder);

  /// The folders that are searched, canonical.
  [[nodiscard]] std::vector<std::filesystem::path> paths() const;
  /// Whether the folder is one of CUDA's.
  [[nodiscard]] bool is_of_cuda(std::size_t folder) const noexcept
  {
    return folder >= first_cuda_ && folder < searched_;
  }
  /// The file `spelled` in the first folder that has it, from the folder `first` on.
  /// @throws file_error above_limit, as find_at.
  std::optional<header_place> find(std::string const& spelled, std::size_t first = 0);
  /// The place, if it has a regular file; or, if it leads out of its folder, the same file below
  /// another folder that is searched. Otherwise keeps the reason for `spelled`.
  /// @throws file_error above_limit: more than 131,072 places were looked at.
  std::optional<header_place> find_at(header_place const& place, std::string const& spelled);
  /// The text of the file; empty, with the reason for its name, if it cannot be read.
  std::optional<std::string> read(header_place const& place);
  /// The file without symbolic links, which identifies it.
  [[nodiscard]] std::filesystem::path real(header_place const& place) const;

  /// Why `spelled` was not read although it may be there: "is outside of the folders", "is not a
  /// regular file", "is larger than 16 MiB", "has a NUL byte", "cannot be read"; empty: it is not.
  [[nodiscard]] std::string refusal_of(std::string const& spelled) const;
  /// A name that was refused because it is outside; empty: there is none.
  [[nodiscard]] std::string outside() const;
  /// @throws file_error above_limit: more than 65,536 names were refused.
  void refuse(std::string const& spelled, std::string const& reason);

 private:
  file_kind_below kind_of(header_place const& place);
  std::optional<header_place> find_in_others(header_place const& place);

  std::vector<base_folder> folders_;
  std::size_t first_cuda_ = 0;
  std::size_t searched_ = 0;  ///< the first ones
  std::map<header_place, file_kind_below> kinds_;
  std::map<std::string, std::string> refusals_;
};

}  // namespace fatlink::detail
