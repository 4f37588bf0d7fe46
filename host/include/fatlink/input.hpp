// SPDX-License-Identifier: Apache-2.0
// Inputs of a link, of any form: fatbins, PTX text, raw LTO-IR, cubins, host objects and archives.
// The form is recognized by content, never by name. Every reader is strict and bounds-checked,
// because nvJitLink crashes on damaged input, and reads truncated objects as empty. What an input
// holds is given as modules: fatbins that fatlink checked, or wrote itself around bare PTX, LTO-IR
// or a cubin. Needs neither CUDA nor a GPU. Units: bytes. Forms, their checks and byte tables:
// docs/input_forms.md. Threads: no shared state; an input is immutable and cheap to copy (shared
// bytes).
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fatlink/bytes.hpp"
#include "fatlink/export.hpp"
#include "fatlink/fatbin.hpp"

namespace FATLINK_API fatlink {

/// What a file is.
enum class input_form {
  fatbin,   ///< nvcc -fatbin
  ptx,      ///< PTX text: nvcc -ptx, NVRTC, clang, libNVVM
  ltoir,    ///< raw LTO-IR: nvcc -dlto -ltoir, NVRTC -dlto, libNVVM -gen-lto
  cubin,    ///< a CUDA ELF file: nvcc -cubin, NVRTC, nvJitLink
  object,   ///< a host ELF file with relocatable device code: nvcc -dc, nvcc -dlto -c, ld -r
  archive,  ///< an ar archive of files of the other forms: ar, nvcc -lib
};
/// "fatbin", "ptx", "ltoir", "cubin", "object", "archive"; "unknown" for a value outside.
char const* to_string(input_form form) noexcept;

struct FATLINK_PRIVATE input_access;  // not public

/// An input file in memory, read once and checked, with the sidecar that it was read with. Inputs
/// that were not read from a file, such as compiled sources, have the sidecar of the file of their
/// name, read when it is first needed.
///
/// Its functions throw format_error, which derives from file_error and gives the byte offset, with
/// the code: empty-input; unknown-form (names what the file is); corrupt-fatbin, -ptx, -ltoir,
/// -cubin, -object or -archive; thin-archive; no-device-code; above-limit; digest-mismatch. Of an
/// archive the message names the member: "lib.a(b.o)".
class input {
 public:
  /// A fatbin that was read already. Implicit, so that fatbins are inputs wherever inputs are
  /// taken. A moved-from fatbin gives an input without value.
  input(fatbin file);  // NOLINT(google-explicit-constructor)

  /// Reads and checks a regular file of at most 1 GiB once, of any owner; symbolic links are
  /// followed, a FIFO or device is refused without waiting. If the .json of the file states a
  /// "sha256", the bytes must have it. The .json of x.fatbin is x.json; of another file, x.cubin,
  /// x.cubin.json, or else x.json, unless that is the .json of an x.fatbin or of another file of
  /// the stem, whose digest it states.
  /// @throws file_error missing, a directory, not a regular file, unreadable, too large; or
  ///   a malformed .json. @throws format_error see above.
  static input read(std::filesystem::path const& path);

  /// Reads a file without comparing digests, to show what a damaged one holds; is_verified() is
  /// false. @throws file_error, format_error as read, except digest-mismatch.
  static input read_unverified(std::filesystem::path const& path);

  /// Takes bytes already in memory; `name` is for messages.
  /// @throws format_error see above.
  static input from_bytes(byte_buffer bytes, std::string name);

  /// Reads an input by name or file: "gelu" is the installed gelu.fatbin, as in fatbin::find. Text
  /// with a slash or with the ending of an input file names a file (is_input_name in
  /// catalogue.hpp).
  /// @throws file_error, format_error as fatbin::find and read.
  static input find(std::string const& name_or_file);

  /// False for a moved-from input, on which no other member may be called.
  [[nodiscard]] bool has_value() const noexcept { return contents_ != nullptr; }
  /// As given, for messages; of find() the path. Lives as long as any copy of this input.
  [[nodiscard]] std::string const& name() const noexcept;
  [[nodiscard]] input_form form() const noexcept;  ///< by content
  /// The bytes of the file. Live as long as any copy of this input.
  [[nodiscard]] bytes_view bytes() const noexcept;
  /// SHA-256 of the bytes; computed at the first call; thread-safe.
  [[nodiscard]] digest256 const& digest() const;
  /// Whether the bytes are known to be those that were built: the .json beside the file states
  /// their digest, or the ident of every module those of its entries. Bare PTX, LTO-IR and cubins
  /// state none. Digests detect damage; they are no signature.
  [[nodiscard]] bool is_verified() const noexcept;
  /// What the file holds; at least one. A fatbin is its own module; bare PTX, LTO-IR or a cubin is
  /// one with one entry; an object has one for each translation unit ("r.o", or "r.o[1]",
  /// "r.o[2]"), an archive those of its members, in file order ("lib.a(b.o)"). Members without
  /// relocatable device code are left out. Every module is_verified() where the input is. Lives as
  /// long as any copy of this input.
  [[nodiscard]] std::vector<fatbin> const& modules() const noexcept;

 private:
  struct FATLINK_PRIVATE contents;
  explicit input(std::shared_ptr<contents const> contents_of_file);
  friend struct input_access;  // finds the sidecar
  std::shared_ptr<contents const> contents_;
};

}  // namespace fatlink
