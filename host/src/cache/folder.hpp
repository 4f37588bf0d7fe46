// SPDX-License-Identifier: Apache-2.0
// A folder of files, used safely: opened once for each job, never through a symbolic link, refused
// where others may write to it; files appear in it whole or not at all.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fatlink/bytes.hpp"
#include "util/files/read_file.hpp"

namespace fatlink::cache {

/// What the system refused. Not a fatlink::error: it ends within the cache.
struct fault {
  std::string message;  ///< "reading /x/y: Input/output error"
  int code;             ///< errno
};

/// A file's facts in a listing.
struct file_facts {
  std::string name;
  std::uint64_t size;                  ///< bytes
  std::chrono::nanoseconds last_used;  ///< since 1970; its modification time
};

class folder {
 public:
  enum class kind {
    own,    ///< the user's: made where it is missing, 0700, the user's own, files 0600
    layer,  ///< shipped: owned by root, the user, or the program's owner; files 0644
  };

  /// Nothing where there is no such folder. @throws fault it is not safe, or cannot be opened.
  static std::optional<folder> open(std::filesystem::path const& path, kind what);
  /// The same, making it and the folders above it where they are missing.
  static folder make(std::filesystem::path const& path, kind what);

  /// All bytes of a regular file; nothing where there is none. A symbolic link, a file of another
  /// owner, one larger than `most`, count as none. With `mark_used` the file was used just now.
  /// @throws fault
  [[nodiscard]] std::optional<byte_buffer> read(std::string const& name, std::uint64_t most,
                                                bool mark_used = false) const;
  /// Writes over `name` where it is a file of this size, or creates it in the place of whatever is
  /// there. @throws fault
  void write_over(std::string const& name, bytes_view bytes) const;
  /// Writes `name` under a temporary name and renames it, over whatever is there. @throws fault:
  /// nothing is left behind.
  void write(std::string const& name, bytes_view bytes) const;
  /// True when there was one. @throws fault
  bool remove(std::string const& name) const;
  /// Removes what is at `name`, of any kind. A folder that holds files is renamed to
  /// "<name>.<16 hexadecimal digits>.aside" instead. @throws fault
  void remove_any(std::string const& name) const;
  /// The same for anything but a regular file of the user's that has no other name: a link, folder,
  /// FIFO, socket or device is never followed, opened or waited for. @throws fault
  void remove_obstacle(std::string const& name) const;
  /// States that the file `name` was used just now; failures are ignored.
  void mark_used(std::string const& name) const noexcept;
  /// Whether anything of any kind is at `name`. @throws fault
  [[nodiscard]] bool has(std::string const& name) const;
  /// When it was last used; nothing where there is none. @throws fault
  [[nodiscard]] std::optional<file_facts> facts(std::string const& name) const;
  /// Every name of any kind, in no order. @throws fault
  [[nodiscard]] std::vector<std::string> names() const;
  /// Every regular file, in no order. @throws fault
  [[nodiscard]] std::vector<file_facts> list() const;

  [[nodiscard]] int descriptor() const noexcept { return descriptor_->get(); }
  [[nodiscard]] std::filesystem::path const& path() const noexcept { return path_; }

  /// Throws the fault that errno tells of.
  [[noreturn]] void fail(char const* doing, std::string const& name) const;

 private:
  folder(std::filesystem::path path, kind what, std::unique_ptr<detail::descriptor> opened)
      : path_(std::move(path)), kind_(what), descriptor_(std::move(opened))
  {
  }
  void check() const;
  [[nodiscard]] int create(std::string const& name, unsigned mode) const noexcept;
  [[nodiscard]] bool is_trusted(unsigned owner) const;

  std::filesystem::path path_;
  kind kind_;
  std::unique_ptr<detail::descriptor> descriptor_;
};

/// Where `name` is one that write() uses meanwhile, "<name>.<16 hexadecimal digits>.tmp", the name
/// that it will have.
std::optional<std::string> written_as(std::string const& name);

}  // namespace fatlink::cache
