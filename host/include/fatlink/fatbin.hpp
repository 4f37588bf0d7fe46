// SPDX-License-Identifier: Apache-2.0
// Reads fatbins. A fatbin is a container: a 16-byte header, then entries, each a header and a
// payload. The reader is strict: it checks every size against the file before it uses it, because
// nvJitLink crashes on damaged fatbins. Needs neither CUDA nor a GPU.
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

/// What an entry contains; the values are those in the file. A newer toolkit may write other kinds,
/// which are listed by number and are not linked. Tile IR is not linked either.
enum class entry_kind : std::uint16_t { ptx = 1, elf = 2, ltoir = 8, tileir = 0x80 };
/// "ptx", "elf", "ltoir", "tileir"; "unknown" for any other.
char const* to_string(entry_kind kind) noexcept;
/// As to_string(), but "kind 0x40" for a kind that this fatlink does not know.
std::string name_of(entry_kind kind);

/// How the payload of an entry is compressed; `unknown`: by a method that this fatlink does not
/// know.
enum class compression { none, lz4, zstd, unknown };
/// "none", "lz4", "zstd", "unknown".
char const* to_string(compression method) noexcept;

/// One entry. Strings are copies; `payload` points into the bytes of the fatbin or of
/// `decompressed`.
struct fatbin_entry {
  entry_kind kind = entry_kind::ptx;  ///< what the entry holds
  fatlink::target target = {};        ///< the architecture it was compiled for
  std::uint16_t version_major = 0;    ///< PTX 9.0, Tile IR 13.1, …; nvJitLink ignores it
  std::uint16_t version_minor = 0;    ///< see version_major
  std::uint64_t flags = 0;            ///< the flags of the entry's header
  std::uint64_t scramble_key = 0;     ///< LTO-IR: nvJitLink needs it to decompress
  fatlink::compression compression = fatlink::compression::none;  ///< of the payload
  std::uint64_t offset = 0;             ///< of the entry's header in the file
  bytes_view payload = {};              ///< as stored, without padding
  std::uint64_t uncompressed_size = 0;  ///< size of the decompressed payload
  std::string options = {};             ///< the options text, which includes float flags
  bytes_view stored_options = {};  ///< as in the file; binary in ELF entries for sm_100 and newer
  std::string ident_text = {};     ///< raw; see ident.hpp
  /// For concatenated entries (nvcc -concat): the decompressed payloads of all of them, which the
  /// file stores as one compressed payload. Null for other entries.
  std::shared_ptr<std::string const> decompressed = {};

  /// The float flags in `options`.
  [[nodiscard]] fatlink::float_flags float_flags() const noexcept
  {
    return parse_float_flags(options);
  }
  /// The ident in `ident_text`, if it is one of fatlink's.
  [[nodiscard]] std::optional<fatlink::ident> ident() const { return parse_ident(ident_text); }
};

/// Whether the functions of an entry can be read: it is PTX or SASS, and its compression is known.
[[nodiscard]] inline bool shows_interface(fatbin_entry const& entry) noexcept
{
  return (entry.kind == entry_kind::ptx || entry.kind == entry_kind::elf) &&
         entry.compression != compression::unknown;
}

/// Lists the entries of `image`, in file order; concatenated entries are listed one by one.
/// Payloads point into `image`. `name` is the file name for messages.
/// @throws format_error `image` is empty or not a fatbin; a size points past the end (the error has
///   the byte offset); or a limit is exceeded: 4,096 entries, 64 KiB for the ident or the options
///   of an entry, 256 MiB for a decompressed entry, 1 GiB for all decompressed entries.
std::vector<fatbin_entry> read_fatbin(bytes_view image, std::string_view name = "fatbin");

/// The text of a PTX entry, decompressed, without the trailing NUL.
/// @throws format_error the compressed data is damaged, or its decompressed size differs from the
///   stated size or exceeds 256 MiB.
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
  /// Reads and checks a regular file of at most 1 GiB. The file is read once, and may have any
  /// owner. Symbolic links are followed; FIFOs and devices are refused without waiting. If the
  /// .json beside it (same stem) states a "sha256", the bytes must have this digest.
  /// @throws file_error the file is missing, not a regular file, unreadable or too large; or the
  ///   .json is malformed.
  /// @throws format_error as read_fatbin; or a digest differs from the one in the .json or the
  ///   ident (ident.hpp): digest-mismatch.
  static fatbin read(std::filesystem::path const& path);

  /// Reads a file without comparing digests, to show the contents of a damaged file; is_verified()
  /// is false. @throws file_error, format_error as read, except digest-mismatch.
  static fatbin read_unverified(std::filesystem::path const& path);

  /// Reads a fatbin by name or file, as the program does. "gelu" is the first gelu.fatbin on
  /// default_search_path() (search_path.hpp); a text with a slash or the ending ".fatbin" is a
  /// file.
  /// @throws file_error no fatbin with this name is installed; the log lists the folders, and the
  ///   hint names a similar fatbin. @throws file_error, format_error as read.
  static fatbin find(std::string const& name_or_file);

  /// Takes bytes already in memory.
  /// @throws format_error as read_fatbin; or a digest differs from the one in the ident.
  static fatbin from_bytes(byte_buffer bytes, std::string name);

  /// False for a moved-from fatbin, on which no other member may be called.
  [[nodiscard]] bool has_value() const noexcept { return contents_ != nullptr; }
  [[nodiscard]] std::string const& name() const noexcept;  ///< as given, for messages
  /// The bytes of the file.
  [[nodiscard]] bytes_view bytes() const noexcept;
  /// SHA-256 of the bytes; computed at the first call; thread-safe.
  [[nodiscard]] digest256 const& digest() const;
  /// Whether the bytes are known to be unchanged since the build: every entry matches its digest in
  /// the ident, or the file matches the digest in its .json. This is determined when the file is
  /// read, so this call is cheap. Digests detect damage; they are not signatures.
  [[nodiscard]] bool is_verified() const noexcept;
  /// The entries, in the order of the file.
  [[nodiscard]] std::vector<fatbin_entry> const& entries() const noexcept;

  /// The ident of the first entry that has one; read at the first call; thread-safe.
  [[nodiscard]] std::optional<fatlink::ident> const& ident() const;

  /// What `entry`, a PTX or elf entry of this fatbin, declares and defines. It is read at the first
  /// call, is valid while any copy of this fatbin exists, and may be read by several threads. The
  /// types of an elf entry are coarse (ptx_function::is_coarse).
  /// @throws format_error as read_ptx; corrupt-cubin (stage input): the cubin of an elf entry is
  ///   damaged, or is for another architecture than the entry states; above-limit: a cubin exceeds
  ///   a limit of read_ptx_interface, or more than 4,194,304 functions, parameters and variables
  ///   have been read in total. They are counted for this fatbin or, if it is a module of an input,
  ///   for all modules of that input.
  /// @throws file_error as read_ptx_interface.
  [[nodiscard]] ptx_interface const& interface(fatbin_entry const& entry) const;

  /// The newest entry of `kind` that links for `link_target`; exact `a`/`f` matches are preferred.
  /// Entries for unknown architectures (target::is_known) are ignored. Null if there is none. Valid
  /// while any copy of this fatbin exists.
  [[nodiscard]] fatbin_entry const* find(entry_kind kind, target link_target) const noexcept;

 private:
  struct FATLINK_PRIVATE contents;
  /// Lists the entries; parse() also compares their digests.
  FATLINK_PRIVATE static std::shared_ptr<contents> list_entries(byte_buffer bytes,
                                                                std::string name);
  FATLINK_PRIVATE static std::shared_ptr<contents> parse(byte_buffer bytes, std::string name);
  /// A fatbin with `contents_of_file`; `is_file_verified`: a digest stated elsewhere matched.
  /// `declarations`: shared by all modules of an input; null: it is not a module of an input.
  FATLINK_PRIVATE static fatbin shared(std::shared_ptr<contents> contents_of_file,
                                       bool is_file_verified,
                                       std::shared_ptr<declaration_count> declarations = nullptr);
  explicit fatbin(std::shared_ptr<contents const> contents_of_file);
  friend class input;          // makes the modules of a file with a digest
  friend struct entry_access;  // reads entries
  std::shared_ptr<contents const> contents_;
};

}  // namespace fatlink
