// SPDX-License-Identifier: Apache-2.0
// The link cache: stores the results of links, so that the same inputs are linked only once. The
// key of an entry covers everything that the result depends on. A link is searched in three layers,
// in this order: the memory of this process, the user's folder, and the read-only folders that
// packages ship (shipped layers). There is one exception: linkers and compilers first search the
// shipped layers for results that any nvJitLink or NVRTC may use (find_shipped).
// Needs neither CUDA nor a GPU. A cache problem never makes a link fail: it is reported once, as a
// warning (take_warnings), and the link runs without the cache. docs/cache.md describes the files,
// locks and repairs.
//
// The user's folder must belong to the user, and no other user may be able to write to it. A
// CACHEDIR.TAG file marks it as fatlink's. The cache writes this file only into an empty folder,
// and never changes a folder that holds other files. When the entries exceed the limit, the least
// recently used ones are removed.
// Threads: safe. Fork: a child process may continue to use the cache. Units: bytes.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/bytes.hpp"
#include "fatlink/export.hpp"
#include "fatlink/image.hpp"

namespace FATLINK_API fatlink {

/// The key of a link: tagged texts for everything that its result depends on. Each text is stored
/// with its size, so that different lists of texts never give the same key.
class cache_key {
 public:
  /// Appends "<tag>:<size of value>:<value>\n".
  cache_key& add(std::string_view tag, std::string_view value);

  /// All parts: "target:5:sm_90\n…".
  [[nodiscard]] std::string const& parts() const noexcept { return parts_; }
  /// The SHA-256 of the parts, as 64 hexadecimal digits: the file name of the entry.
  [[nodiscard]] std::string name() const;

 private:
  std::string parts_;
};

/// The result of a link, as the cache stores it.
struct cached_link {
  byte_buffer bytes = {};                  ///< the cubin or PTX
  std::vector<std::string> warnings = {};  ///< nvJitLink's warnings, at most 4096
};

/// Where a link cache stores links, and its limits.
struct cache_settings {
  std::filesystem::path folder = {};               ///< the user's folder; empty: memory only
  std::vector<std::filesystem::path> layers = {};  ///< read-only folders, in the order of search
  std::uint64_t folder_limit = std::uint64_t{1} << 30;   ///< bytes of all entries in the folder
  std::uint64_t memory_limit = std::uint64_t{64} << 20;  ///< bytes of all links in memory
  /// How long to wait for another process that is making the same link. After that, this process
  /// makes the link as well.
  std::chrono::milliseconds wait_limit = std::chrono::seconds(10);
  /// Problems with the environment variables that the settings come from;
  /// link_cache::take_warnings returns them too.
  std::vector<std::string> warnings = {};
};

/// The default settings, which the program `fatlink` also uses. They are read from the environment.
/// Folder: $FATLINK_CACHE_DIR, otherwise $XDG_CACHE_HOME/fatlink, otherwise $HOME/.cache/fatlink.
/// If none of these variables is set, there is a warning, and links are kept only in memory.
/// Layers: the colon-separated folders of $FATLINK_SYSTEM_CACHE if it is set (empty: none),
/// otherwise the existing folders named `cache` in the folders that fatbins are searched in
/// (default_search_path).
/// Limit: $FATLINK_CACHE_LIMIT in bytes, such as 512Mi (Ki, Mi, Gi: powers of 1024), 1.5G (k, M, G:
/// powers of 1000) or 1e9; any value that is not a whole number above 0 causes a warning, and the
/// default of 1Gi is used.
cache_settings default_cache_settings();

/// As above, except that if $FATLINK_SYSTEM_CACHE is not set, the layers are those of `layers` that
/// exist.
cache_settings default_cache_settings(std::vector<std::filesystem::path> const& layers);

/// Statistics of the user's folder, over all processes that used it.
struct cache_statistics {
  bool usable = false;          ///< the folder exists or can be created, and is safe to use
  std::string reason = {};      ///< why it is not usable
  std::uint64_t entries = 0;    ///< entries in the folder
  std::uint64_t bytes = 0;      ///< of all entries
  std::uint64_t limit = 0;      ///< bytes
  std::uint64_t hits = 0;       ///< links served from memory, the folder or a layer
  std::uint64_t misses = 0;     ///< links made
  std::uint64_t stored = 0;     ///< entries written
  std::uint64_t evicted = 0;    ///< entries removed to stay within the limit
  std::uint64_t faults = 0;     ///< cache problems; no link failed because of one
  std::string last_fault = {};  ///< empty: none
};

/// An entry that cannot be used, or the damaged headers of an NVRTC.
struct damaged_entry {
  std::filesystem::path file = {};  ///< the entry, or the first damaged header
  std::string reason = {};          ///< what is damaged
};

/// What link_cache::verify found.
struct cache_verification {
  std::uint64_t sound = 0;                  ///< usable entries and sets of NVRTC headers
  std::vector<damaged_entry> damaged = {};  ///< unusable ones
};

/// What link_cache::prune or link_cache::clear removed.
struct cache_cleaning {
  std::uint64_t entries = 0;     ///< entries removed
  std::uint64_t orphans = 0;     ///< temporary files of dead processes that were removed
  std::uint64_t bytes_left = 0;  ///< bytes of the entries that remain
};

/// Stores and finds linked images. Not copyable; share it with std::shared_ptr.
class link_cache {
 public:
  /// Creates the folder when the first link is stored, not now.
  explicit link_cache(cache_settings settings);
  ~link_cache();  ///< adds this process's statistics to the folder's; never throws
  link_cache(link_cache const&) = delete;
  link_cache& operator=(link_cache const&) = delete;

  /// What the `make` of find_or_make returns.
  struct product {
    cached_link link = {};  ///< the link that was made
    bool keep = true;       ///< false: the link is not stored, because it does not match the key
  };
  /// The link that find_or_make found or made.
  struct result {
    std::shared_ptr<cached_link const> link = {};  ///< never null
    cache_outcome outcome = cache_outcome::miss;   ///< whether the cache had the link
  };

  /// Returns the link of `key` from memory, the folder or a layer. If none has it, calls `make` and
  /// stores its product. Other threads and processes that need the same link wait until it is
  /// stored. `preferred`: an alternative key, which is searched before `key` in the folder and the
  /// layers. If a link is stored under it, that link is returned. `wait_limit`: how long to wait
  /// for another thread or process that is making this link; after that, this call makes the link
  /// as well. If it is not set, the wait for threads has no limit. The wait for processes never
  /// exceeds cache_settings::wait_limit. Throws what `make` throws; nothing is stored then, and one
  /// of the waiting callers makes the link.
  result find_or_make(cache_key const& key, std::function<product()> const& make,
                      cache_key const* preferred = nullptr,
                      std::optional<std::chrono::milliseconds> wait_limit = {});

  /// Returns the shipped link of `key` from memory or a layer; null: no layer has it. Does not
  /// search the user's folder. A link that is found counts as a hit.
  std::shared_ptr<cached_link const> find_shipped(cache_key const& key);

  /// Returns the link of `key` from memory, the folder or a layer; null: none has it. Counts
  /// neither as a hit nor as a miss.
  [[nodiscard]] std::shared_ptr<cached_link const> find(cache_key const& key);

  /// The cache problems since the last call. Each cache reports each kind of problem (errno) once.
  std::vector<std::string> take_warnings();

  /// The settings of the cache.
  [[nodiscard]] cache_settings const& settings() const noexcept;
  /// Adds this process's statistics to the folder's and returns the sum. If the folder cannot be
  /// used, does not throw but sets `usable` to false.
  [[nodiscard]] cache_statistics statistics();

  /// Reads every entry of the folder, and the headers that NVRTC unpacked.
  /// @throws file_error the folder does not exist or cannot be used.
  cache_verification verify();
  /// Removes damaged entries and headers, temporary files of dead processes, and entries above the
  /// limit.
  /// @throws file_error as verify().
  cache_cleaning prune();
  /// Removes every entry, the headers that NVRTC unpacked and the kept sources; resets the
  /// statistics. @throws file_error as verify().
  cache_cleaning clear();

 private:
  struct FATLINK_PRIVATE state;
  void write_figures();
  std::unique_ptr<state> state_;
};

/// Writes an entry into a folder that will be shipped as a layer. All users can read the entry.
/// Neither lock files nor statistics are written. The same link always gives the same bytes.
/// @throws file_error it cannot be written.
void write_layer_entry(std::filesystem::path const& folder, cache_key const& key,
                       cached_link const& link);

}  // namespace fatlink
