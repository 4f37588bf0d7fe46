// SPDX-License-Identifier: Apache-2.0
// A cache folder that is accessed safely: opened once for each operation, never through a symbolic
// link, refused if other users may write to it. Files appear in it completely or not at all.
// Threads: an object may be used by several threads; it holds no changing state.
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fatlink/bytes.hpp"
#include "util/files/read_file.hpp"

namespace fatlink::cache {

/// A system call that failed, or a folder that is not safe. Not a fatlink::error: link_cache
/// reports it as a warning, or translates it into a file_error where a command needs the folder.
struct folder_error {
  std::string message;  ///< "reading /x/y: Input/output error"
  int code;             ///< errno; warnings are reported once for each code
};

/// @throws folder_error always: `action` on `path` failed with the current errno.
[[noreturn]] void throw_fault(char const* action, std::filesystem::path const& path);

/// A regular file of a folder.
struct file_facts {
  std::string name = {};
  std::uint64_t size = 0;                   ///< bytes
  std::chrono::nanoseconds last_used = {};  ///< since 1970; the file's modification time
};

class folder {
 public:
  enum class kind {
    own,    ///< the user's: created with mode 0700 if missing, owned by the user; files 0600
    layer,  ///< shipped: owned by root, the user, or the owner of the program; files 0644
  };

  /// Opens a folder; empty if there is none.
  /// @throws folder_error it is a symbolic link or not a folder, it belongs to another user, others
  ///   may write to it, or the system refuses.
  static std::optional<folder> open(std::filesystem::path const& path, kind folder_kind);
  /// Opens a folder; creates it and the folders above it if they are missing.
  /// @throws folder_error as open(), or a folder cannot be created.
  static folder make(std::filesystem::path const& path, kind folder_kind);

  /// Reads the regular file `name`. Empty if there is none, or it is a symbolic link, has an owner
  /// that is not trusted, may be written by others, or is larger than `most` bytes. `mark_used`:
  /// sets its time of last use.
  /// @throws folder_error the system refuses to open or read it.
  [[nodiscard]] std::optional<byte_buffer> read(std::string const& name, std::uint64_t most,
                                                bool mark_used = false) const;
  /// @throws folder_error others may write to the file `name`, so read() does not.
  void check_writers(std::string const& name) const;
  /// Writes `name` in place if it is a regular file of this size; otherwise replaces whatever is
  /// there by a new file. @throws folder_error
  void write_over(std::string const& name, bytes_view bytes) const;
  /// Writes a temporary file and renames it to `name`, replacing whatever is there.
  /// @throws folder_error; the temporary file is removed then.
  void write(std::string const& name, bytes_view bytes) const;
  /// Removes the file `name`; returns whether there was one. @throws folder_error
  bool remove(std::string const& name) const;
  /// Removes whatever is at `name`. A folder that holds files is instead renamed to
  /// "<name>.<16 hexadecimal digits>.aside". @throws folder_error
  void remove_any(std::string const& name) const;
  /// As remove_any(), but keeps a regular file with one name and a trusted owner to which others
  /// may not write. Links, FIFOs, sockets and devices are never followed, opened or waited for.
  /// @throws folder_error
  void remove_obstacle(std::string const& name) const;
  /// Sets the time of last use of the file `name` to now. Failures are ignored.
  void mark_used(std::string const& name) const noexcept;
  /// Whether `name` exists, as anything. @throws folder_error
  [[nodiscard]] bool has(std::string const& name) const;
  /// The facts of the regular file `name`; empty if there is none. @throws folder_error
  [[nodiscard]] std::optional<file_facts> facts(std::string const& name) const;
  /// The names of everything in the folder, in no order. @throws folder_error
  [[nodiscard]] std::vector<std::string> names() const;
  /// The facts of all regular files, in no order. @throws folder_error
  [[nodiscard]] std::vector<file_facts> list() const;

  [[nodiscard]] int descriptor() const noexcept { return descriptor_->get(); }
  [[nodiscard]] std::filesystem::path const& path() const noexcept { return path_; }

  /// @throws folder_error always: `action` on the file `name` of this folder failed with the
  /// current errno.
  [[noreturn]] void fail_file(char const* action, std::string const& name) const;

 private:
  folder(std::filesystem::path path, kind folder_kind,
         std::unique_ptr<detail::descriptor> descriptor)
      : path_(std::move(path)), kind_(folder_kind), descriptor_(std::move(descriptor))
  {
  }
  void check() const;
  [[nodiscard]] int create(std::string const& name, unsigned mode) const noexcept;
  [[nodiscard]] bool is_trusted(unsigned owner) const;
  /// Other users than the folder's owner; of a layer, other users than its owner and group.
  [[nodiscard]] bool may_others_write(struct ::stat const& facts) const noexcept;
  [[nodiscard]] std::optional<struct ::stat> status(std::string const& name) const;
  void write_temporary(std::string const& file, std::string const& name, bytes_view bytes) const;
  void rename_over(std::string const& file, std::string const& name) const;
  [[noreturn]] void remove_and_fail(std::string const& file, char const* action,
                                    std::string const& name) const;

  std::filesystem::path path_;
  kind kind_;
  std::unique_ptr<detail::descriptor> descriptor_;
};

/// A new name for the temporary file through which the file `name` is written:
/// <temporary> ::= <name> "." 16 hexadecimal digits, random ".tmp"
std::string temporary_file_of(std::string const& name);

/// The name that the temporary file `file` is renamed to; empty if `file` is not a temporary name.
std::optional<std::string> target_of_temporary_file(std::string const& file);

/// A lock between processes and threads that is held until the object is destroyed. Each is a range
/// of one byte in the file `lock` of the cache folder, held by an open file description
/// (F_OFD_SETLK, fcntl(2)). The kernel releases it when its owner ends, for any reason, so there
/// are no stale locks to clean up; network file systems that support locks support these. If a host
/// process forks while it holds a lock, and then dies, the child still holds it; therefore every
/// wait for a lock has a time limit. Where locking fails although no other owner holds the lock
/// (EAGAIN, EACCES, EINTR, ENOLCK), each attempt costs at most 13 ms; a link makes at most three
/// attempts. Threads: each object belongs to one thread.
class lock {
 public:
  /// The lock of the entry `name` (64 hexadecimal digits); empty if another owner holds it.
  /// @throws folder_error locks do not work in this folder.
  static std::optional<lock> try_entry(folder const& cache_folder, std::string const& name);
  /// The lock of the ledger; empty if another owner holds it for longer than `wait_limit`.
  /// @throws folder_error locks do not work in this folder.
  static std::optional<lock> ledger(folder const& cache_folder,
                                    std::chrono::milliseconds wait_limit);

 private:
  /// A locked byte. Its destructor releases the lock for every copy of the descriptor, including
  /// the one of a forked child.
  class locked_byte {
   public:
    locked_byte(std::unique_ptr<detail::descriptor> file, long long offset)
        : file_(std::move(file)), offset_(offset)
    {
    }
    ~locked_byte();
    locked_byte(locked_byte const&) = delete;
    locked_byte& operator=(locked_byte const&) = delete;

   private:
    std::unique_ptr<detail::descriptor> file_;
    long long offset_;
  };
  explicit lock(std::unique_ptr<locked_byte> byte) : byte_(std::move(byte)) {}
  static std::optional<lock> try_byte(folder const& cache_folder, long long offset);

  std::unique_ptr<locked_byte> byte_;
};

}  // namespace fatlink::cache
