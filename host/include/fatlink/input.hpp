// SPDX-License-Identifier: Apache-2.0
// Inputs of a link, of any form: fatbins, PTX text, raw LTO-IR, cubins, host objects and archives.
// The form is recognized by content, never by name. Every reader is strict and bounds-checked,
// because nvJitLink crashes on damaged inputs and treats truncated objects as empty. The contents
// of an input are its modules: fatbins that fatlink has checked, or has created around bare PTX,
// LTO-IR or a cubin. Needs neither CUDA nor a GPU. docs/input_forms.md describes each form, its
// checks and its bytes.
// Units: bytes.
// Threads: no shared state; an input is immutable and cheap to copy (shared bytes).
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
/// "fatbin", "ptx", "ltoir", "cubin", "object", "archive"; "unknown" for a value outside the
/// enumeration.
char const* to_string(input_form form) noexcept;

struct FATLINK_PRIVATE input_access;  // not public

/// An input file in memory, read once and checked, together with its sidecar. For an input that was
/// not read from a file, such as a compiled source, the sidecar is that of the file with its name,
/// and is read when it is first needed.
///
/// Its functions throw format_error, which derives from file_error and has the byte offset. The
/// code is one of: empty-input; unknown-form (names what the file is); corrupt-fatbin, -ptx,
/// -ltoir, -cubin, -object or -archive; thin-archive; no-device-code; above-limit; digest-mismatch.
/// For an archive the message names the member: "lib.a(b.o)".
class input {
 public:
  /// Makes an input of a fatbin. The conversion is implicit, so that fatbins can be passed wherever
  /// inputs are. A moved-from fatbin gives an input without a value.
  input(fatbin file);  // NOLINT(google-explicit-constructor)

  /// Reads and checks a regular file of at most 1 GiB. The file is read once, and may have any
  /// owner. Symbolic links are followed; FIFOs and devices are refused without waiting. If the
  /// sidecar states a "sha256", the bytes must have this digest. The sidecar of x.fatbin is x.json.
  /// The sidecar of any other file, such as x.cubin, is x.cubin.json, or x.json if that does not
  /// exist. x.json is not used if it belongs to an x.fatbin, or if it states the digest of another
  /// file with the same stem.
  /// @throws file_error the file is missing, not a regular file, unreadable or too large; or the
  ///   .json is malformed. @throws format_error see above.
  static input read(std::filesystem::path const& path);

  /// Reads a file without comparing digests, to show the contents of a damaged file; is_verified()
  /// is false. @throws file_error, format_error as read, except digest-mismatch.
  static input read_unverified(std::filesystem::path const& path);

  /// Takes bytes already in memory; `name` is for messages.
  /// @throws format_error see above.
  static input from_bytes(byte_buffer bytes, std::string name);

  /// Reads an input by name or file. "gelu" is the installed gelu.fatbin, as in fatbin::find; a
  /// text with a slash or the ending of an input file is a file (is_input_name in catalogue.hpp).
  /// @throws file_error, format_error as fatbin::find and read.
  static input find(std::string const& name_or_file);

  /// False for a moved-from input, on which no other member may be called.
  [[nodiscard]] bool has_value() const noexcept { return contents_ != nullptr; }
  /// The name for messages: as given, or the path that find() found. Valid while any copy of
  /// this input exists.
  [[nodiscard]] std::string const& name() const noexcept;
  [[nodiscard]] input_form form() const noexcept;  ///< recognized by content
  /// The bytes of the file. Valid while any copy of this input exists.
  [[nodiscard]] bytes_view bytes() const noexcept;
  /// SHA-256 of the bytes; computed at the first call; thread-safe.
  [[nodiscard]] digest256 const& digest() const;
  /// Whether the bytes are known to be unchanged since the build: they match the digest in the
  /// sidecar, or the entries of every module match the digests in its ident. Bare PTX, LTO-IR and
  /// cubins contain no digests. Digests detect damage; they are not signatures.
  [[nodiscard]] bool is_verified() const noexcept;
  /// The modules of the file; at least one. A fatbin is itself the module. Bare PTX, LTO-IR or a
  /// cubin gives a module with one entry. An object has one module for each translation unit
  /// ("r.o", or "r.o[1]", "r.o[2]"). An archive has the modules of its members, in file order
  /// ("lib.a(b.o)"), except members without relocatable device code. If is_verified()
  /// is true, it is also true for every module. Valid while any copy of this input exists.
  [[nodiscard]] std::vector<fatbin> const& modules() const noexcept;

 private:
  struct FATLINK_PRIVATE contents;
  explicit input(std::shared_ptr<contents const> contents_of_file);
  friend struct input_access;  // finds the sidecar
  std::shared_ptr<contents const> contents_;
};

}  // namespace fatlink
