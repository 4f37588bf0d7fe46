// SPDX-License-Identifier: Apache-2.0
// Reads fatbins: containers, each a 16-byte header and then entries (header and payload).
// Strict: every size is checked against what is there before it is used, because nvJitLink
// crashes on damaged ones. Needs neither CUDA nor a GPU.
// Units: bytes; integers little-endian.
// Source: no public specification; observed with nvcc 13.0, pinned by tests/unit.
// Threads: no shared state; a fatbin is immutable and cheap to copy (shared bytes).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/bytes.hpp"
#include "fatlink/error.hpp"
#include "fatlink/export.hpp"
#include "fatlink/float_flags.hpp"
#include "fatlink/format_error.hpp"
#include "fatlink/ident.hpp"
#include "fatlink/target.hpp"

namespace FATLINK_API fatlink {

/// What an entry holds; the values are those in the file. A newer toolkit may write others, which
/// are listed with their number and not linked; nor is Tile IR.
enum class entry_kind : std::uint16_t { ptx = 1, elf = 2, ltoir = 8, tileir = 0x80 };
/// "ptx", "elf", "ltoir", "tileir"; "unknown" for any other.
char const* to_string(entry_kind kind) noexcept;
/// As to_string(); "kind 0x40" for those that this fatlink does not know.
std::string name_of(entry_kind kind);

/// How the payload of an entry is compressed; unknown: in a way that this fatlink does not know.
enum class compression { none, lz4, zstd, unknown };
/// "none", "lz4", "zstd", "unknown".
char const* to_string(compression method) noexcept;

/// One entry. Strings are copies; `payload` points into the fatbin's bytes, or into those of
/// `decompressed`.
struct fatbin_entry {
  entry_kind kind = entry_kind::ptx;  ///< what the entry holds
  fatlink::target target = {};        ///< the architecture that it was compiled for
  std::uint16_t version_major = 0;    ///< PTX 9.0, Tile IR 13.1, …: a hint, nvJitLink ignores it
  std::uint16_t version_minor = 0;    ///< see version_major
  std::uint64_t flags = 0;            ///< the flags of the entry's header
  std::uint64_t scramble_key = 0;     ///< of LTO-IR; nvJitLink needs it to decompress
  fatlink::compression compression = fatlink::compression::none;  ///< of the payload
  std::uint64_t offset = 0;             ///< of the entry's header in the file
  bytes_view payload = {};              ///< as stored, without padding
  std::uint64_t uncompressed_size = 0;  ///< of the payload once decompressed
  std::string options = {};             ///< the options text: float flags among it
  bytes_view stored_options = {};       ///< as in the file; of ELF for sm_100 and newer binary
  std::string ident_text = {};          ///< raw; see ident.hpp
  /// The payloads of concatenated entries (nvcc -concat), which the file holds as one.
  std::shared_ptr<std::string const> decompressed = {};

  /// The float flags in `options`.
  [[nodiscard]] fatlink::float_flags float_flags() const noexcept
  {
    return parse_float_flags(options);
  }
  /// The ident in `ident_text`, if it is one of fatlink's.
  [[nodiscard]] std::optional<fatlink::ident> ident() const { return parse_ident(ident_text); }
};

/// Whether the functions of an entry can be read: of PTX and SASS that is not compressed in an
/// unknown way.
[[nodiscard]] inline bool shows_interface(fatbin_entry const& entry) noexcept
{
  return (entry.kind == entry_kind::ptx || entry.kind == entry_kind::elf) &&
         entry.compression != compression::unknown;
}

/// Lists the entries of `image`, in file order, each of concatenated ones for itself. Payloads
/// point into `image`. `name` is the file's, for messages.
/// @throws format_error empty, not a fatbin, or a size past the end; with the byte offset. Above a
///   limit: 4,096 entries; 64 KiB of ident or options in one; 256 MiB in one once decompressed, 1
///   GiB in all.
std::vector<fatbin_entry> read_fatbin(bytes_view image, std::string_view name = "fatbin");

/// The text of a PTX entry, decompressed, without the trailing NUL.
/// @throws format_error damaged frame, size other than announced, or above 256 MiB.
std::string read_ptx(fatbin_entry const& entry, std::string_view name = "fatbin");

/// The cubin of an elf entry, decompressed.
/// @throws format_error as read_ptx.
byte_buffer read_elf(fatbin_entry const& entry, std::string_view name = "fatbin");

struct ptx_interface;                      // ptx_interface.hpp
class input;                               // input.hpp
struct FATLINK_PRIVATE entry_access;       // not public
struct FATLINK_PRIVATE declaration_count;  // not public

/// A fatbin in memory, read once from a file and checked.
class fatbin {
 public:
  /// Reads and checks a regular file of at most 1 GiB once, of any owner; symbolic links are
  /// followed, a FIFO or device is refused without waiting. Where the .json beside it (same stem)
  /// states a "sha256", the bytes must have it.
  /// @throws file_error missing, a directory, not a regular file, unreadable, too large; or
  ///   a malformed .json.
  /// @throws format_error as read_fatbin; or a digest other than stated, in the .json or in the
  ///   ident (ident.hpp): digest-mismatch.
  static fatbin read(std::filesystem::path const& path);

  /// Reads a file without comparing digests, to show what a damaged one holds; is_verified() is
  /// false. @throws file_error, format_error as read, except digest-mismatch.
  static fatbin read_unverified(std::filesystem::path const& path);

  /// Reads a fatbin by name or file, as the program does: "gelu" is the first gelu.fatbin of
  /// default_search_path() of search_path.hpp; text with a slash or the ending ".fatbin" names a
  /// file.
  /// @throws file_error no fatbin with this name is installed: the log lists the folders, and the
  ///   hint names a similar one. @throws file_error, format_error as read.
  static fatbin find(std::string const& name_or_file);

  /// Takes bytes already in memory.
  /// @throws format_error as read_fatbin; or a digest other than the ident states.
  static fatbin from_bytes(byte_buffer bytes, std::string name);

  /// False for a moved-from fatbin, on which no other member may be called.
  [[nodiscard]] bool has_value() const noexcept { return contents_ != nullptr; }
  [[nodiscard]] std::string const& name() const noexcept;  ///< as given, for messages
  /// The bytes of the file.
  [[nodiscard]] bytes_view bytes() const noexcept;
  /// SHA-256 of the bytes; computed at the first call; thread-safe.
  [[nodiscard]] digest256 const& digest() const;
  /// Whether the bytes are known to be those that were built: every entry has the digest that the
  /// ident states, or the file has the one that its .json states. Decided when it was read, so that
  /// asking costs nothing. Digests detect damage; they are no signature.
  [[nodiscard]] bool is_verified() const noexcept;
  /// The entries, in the order of the file.
  [[nodiscard]] std::vector<fatbin_entry> const& entries() const noexcept;

  /// The ident of the first entry that has one; read at the first call; thread-safe.
  [[nodiscard]] std::optional<fatlink::ident> const& ident() const;

  /// What `entry`, a PTX or elf entry of this fatbin, declares and defines; read at the first call;
  /// thread-safe. Lives as long as any copy of this fatbin. The types of an elf entry are coarse.
  /// @throws format_error as read_ptx; corrupt-cubin (stage input) an elf entry whose cubin is
  ///   damaged or of another architecture than the entry states; above-limit: a limit of
  ///   read_ptx_interface in a cubin, or the entries read of this fatbin, or of the input that it
  ///   is a module of, declare more than 4,194,304 functions, parameters and variables together;
  ///   file_error as read_ptx_interface.
  [[nodiscard]] ptx_interface const& interface(fatbin_entry const& entry) const;

  /// The newest entry of `kind` that links for `link_target`; exact `a`/`f` matches first. Entries
  /// of unknown architectures (target::is_known) are ignored. Null if there is none. Lives as
  /// long as any copy of this fatbin.
  [[nodiscard]] fatbin_entry const* find(entry_kind kind, target link_target) const noexcept;

 private:
  struct FATLINK_PRIVATE contents;
  /// The contents with their entries; parse() has compared their digests, too.
  FATLINK_PRIVATE static std::shared_ptr<contents> list_entries(byte_buffer bytes,
                                                                std::string name);
  FATLINK_PRIVATE static std::shared_ptr<contents> parse(byte_buffer bytes, std::string name);
  /// A fatbin of `contents_of_file`; verified where its file's digest was stated elsewhere.
  /// `declarations`: shared by all modules of an input; null: it is none.
  FATLINK_PRIVATE static fatbin shared(std::shared_ptr<contents> contents_of_file,
                                       bool is_file_verified,
                                       std::shared_ptr<declaration_count> declarations = nullptr);
  explicit fatbin(std::shared_ptr<contents const> contents_of_file);
  friend class input;          // makes the modules of a file with a digest
  friend struct entry_access;  // reads entries
  std::shared_ptr<contents const> contents_;
};

}  // namespace fatlink
