// SPDX-License-Identifier: Apache-2.0
// Links kept by what they depend on, so that no process links the same twice: in this process's
// memory, in the user's folder, in read-only folders that packages ship. Needs neither CUDA nor a
// GPU. No fault of a cache fails a link: it is said once (take_warnings) and the link goes on
// without.
//
// The user's folder holds one file an entry (src/cache/entry.hpp has the format), written beside
// and renamed, under a lock that ends with the process that holds it; when it outgrows its limit
// the entries used longest ago are removed. It must be the user's own and writable by nobody else.
// Before anything else the folder is claimed by its CACHEDIR.TAG, which only an empty folder can
// be: in a folder that holds other files nothing is written, and every command refuses it. What is
// in the place of an entry, the lock or the ledger and is no regular file of one name is never
// followed, opened for writing or waited for; it is replaced, and a folder that holds files is
// renamed to "<name>.<16 hexadecimal digits>.aside".
// Threads: safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/bytes.hpp"
#include "fatlink/export.hpp"

namespace FATLINK_API fatlink {

/// Where a linked image came from: `off` where no cache was asked.
enum class cache_outcome { off, miss, hit };
/// "off", "miss" or "hit".
char const* to_string(cache_outcome outcome) noexcept;

/// All that a link's result depends on, as text parts, each with its tag and its length.
class cache_key {
 public:
  cache_key& add(std::string_view tag, std::string_view value);

  /// "target:5:sm_90\n…"
  [[nodiscard]] std::string const& parts() const noexcept { return parts_; }
  /// SHA-256 of the parts, 64 hexadecimal digits: the name of the entry's file.
  [[nodiscard]] std::string name() const;

 private:
  std::string parts_;
};

/// What a link made, as it is kept.
struct cached_link {
  byte_buffer bytes;
  std::vector<std::string> warnings;
};

struct cache_settings {
  std::filesystem::path folder;                          ///< the user's; empty: none
  std::vector<std::filesystem::path> layers;             ///< read-only, searched in order after it
  std::uint64_t folder_limit = std::uint64_t{1} << 30;   ///< bytes
  std::uint64_t memory_limit = std::uint64_t{64} << 20;  ///< bytes
  /// How long to wait for another process that links the same; then it is linked here, too.
  std::chrono::milliseconds patience = std::chrono::seconds(10);
  /// What is wrong with the environment that the settings are from; link_cache::take_warnings has
  /// it, too.
  std::vector<std::string> warnings = {};
};

/// The settings by the environment, as the program uses them. Folder: $FATLINK_CACHE_DIR, else
/// $XDG_CACHE_HOME/fatlink, else ~/.cache/fatlink. Layers: $FATLINK_SYSTEM_CACHE where it is set
/// (several, with colons; empty: none), else `cache` in every folder that fatbins are searched in
/// (default_search_path) and in the installed data folders, as far as these folders exist.
/// Limit: $FATLINK_CACHE_LIMIT, bytes, as 512Mi (Ki, Mi, Gi: powers of 1024), 1.5G (k, M, G: powers
/// of 1000) or 1e9; one that is no whole number above 0 is a warning, and the default is used.
cache_settings default_cache_settings();

/// The same, but without $FATLINK_SYSTEM_CACHE the layers are those of `layers` that are folders.
cache_settings default_cache_settings(std::vector<std::filesystem::path> const& layers);

/// Figures of the user's folder, over all processes that used it.
struct cache_statistics {
  bool usable = false;  ///< the folder is there (or can be made) and is safe to use
  std::string why_not;  ///< else
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  std::uint64_t limit = 0;
  std::uint64_t hits = 0;    ///< from memory, folder or layers
  std::uint64_t misses = 0;  ///< links that were done
  std::uint64_t stored = 0;
  std::uint64_t evicted = 0;
  std::uint64_t faults = 0;  ///< of the cache; no link failed for one
  std::string last_fault;
};

/// An entry that cannot be used, and why.
struct damaged_entry {
  std::filesystem::path file;
  std::string why;
};

struct cache_verification {
  std::uint64_t sound = 0;
  std::vector<damaged_entry> damaged;
};

struct cache_cleaning {
  std::uint64_t entries = 0;  ///< removed
  std::uint64_t orphans = 0;  ///< files of processes that died writing, removed
  std::uint64_t bytes_left = 0;
};

class link_cache {
 public:
  explicit link_cache(cache_settings settings);
  ~link_cache();  ///< adds this process's figures to the folder's; never throws
  link_cache(link_cache const&) = delete;
  link_cache& operator=(link_cache const&) = delete;

  struct made {
    cached_link link;
    bool keep = true;  ///< false: it is not what the key says; goes to the caller alone
  };
  struct answer {
    std::shared_ptr<cached_link const> link;
    cache_outcome outcome = cache_outcome::miss;
  };

  /// The link of `key`, from memory, the folder or a layer; else what `make` makes, once for all
  /// threads and processes that ask for it meanwhile, and kept.
  /// @throws whatever `make` throws; nothing is kept then, and who waited for it asks again.
  /// `preferred`: a key whose link serves as well, and is taken from the folder or a layer first.
  answer find_or_make(cache_key const& key, std::function<made()> const& make,
                      cache_key const* preferred = nullptr);

  /// Whether the folder or a layer has the link of `key`.
  [[nodiscard]] bool has(cache_key const& key);

  /// What went wrong with the cache since the last call; each cause (errno) once.
  std::vector<std::string> take_warnings();

  [[nodiscard]] cache_settings const& settings() const noexcept;
  [[nodiscard]] cache_statistics statistics();

  /// Reads every entry of the folder. @throws file_error the folder cannot be used.
  cache_verification verify();
  /// Removes damaged entries, what dead processes left, and entries over the limit.
  /// @throws file_error the folder cannot be used.
  cache_cleaning prune();
  /// Removes every entry and figure. @throws file_error as prune.
  cache_cleaning clear();

 private:
  struct FATLINK_PRIVATE state;
  void write_figures();
  std::unique_ptr<state> state_;
};

/// Puts an entry into a folder that is to be shipped as a layer: readable by all, no lock, no
/// figures, the same bytes from the same link. @throws file_error it cannot be written.
void write_layer_entry(std::filesystem::path const& folder, cache_key const& key,
                       cached_link const& link);

}  // namespace fatlink
