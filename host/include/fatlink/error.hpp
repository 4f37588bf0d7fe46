// SPDX-License-Identifier: Apache-2.0
// The exceptions of fatlink. Every exception that fatlink throws deliberately derives from
// `fatlink::error`. An error has the stage that failed, the file or value, the cause, a code and a
// remedy. docs/findings.md lists every code with its cause and remedy.
// Threads: exceptions are value types; any thread may copy and read them.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "fatlink/export.hpp"

/// The C++ interface of fatlink.
namespace FATLINK_API fatlink {

/// The stage in which an error occurred, in processing order.
enum class stage {
  usage,         ///< the arguments of a call or command
  input,         ///< finding and reading input files: fatbins by name, .npy files
  fatbin,        ///< the fatbin container, its idents and its PTX text
  sidecar,       ///< the .json beside a fatbin
  preflight,     ///< checks before a link
  compiler,      ///< NVRTC, libNVVM, and the sources that they compile
  linker,        ///< nvJitLink and the link helper
  cache,         ///< the link cache
  image,         ///< a linked image
  device,        ///< loading and running on a GPU or the reference device
  verification,  ///< checking results
  report,        ///< writing output files and standard output
};

/// "usage", "input", …, as printed by `--json`; "unknown" for a value outside the enumeration.
char const* to_string(stage origin) noexcept;

/// fatlink's own error codes. The text form replaces `_` by `-`: "invalid-target".
enum class error_code {
  // usage
  invalid_argument,        ///< an option, value or object that the call does not accept
  unknown_command,         ///< a command that the program does not have
  unknown_option,          ///< an option that the command does not have
  invalid_target,          ///< not a target, or one that CUDA 13 does not support
  unknown_link_mode,       ///< none of ptx, lto and sass
  unknown_device,          ///< not the name of a device
  invalid_emit,            ///< the link mode cannot emit this kind of image
  option_has_no_effect,    ///< an option that has no effect in the requested link
  invalid_time_limit,      ///< a time limit of 0 or less
  missing_input,           ///< a link without inputs
  moved_from,              ///< the object was moved from
  wrong_kernel_arguments,  ///< the sizes of the arguments differ from the kernel's
  invalid_event,           ///< an event that was never recorded
  cancelled,               ///< the caller cancelled a call
  // files
  unreadable_file,    ///< missing, a directory, not readable or too large
  unwritable_file,    ///< an output cannot be written
  not_installed,      ///< no fatbin with this name on the search path
  empty_input,        ///< a file of 0 bytes
  not_a_fatbin,       ///< a file of another form where only a fatbin is accepted
  corrupt_fatbin,     ///< a damaged or truncated fatbin
  corrupt_ptx,        ///< PTX text that is damaged, or for 32-bit addresses
  corrupt_ltoir,      ///< raw LTO-IR with a damaged header
  corrupt_cubin,      ///< a damaged or truncated cubin
  corrupt_object,     ///< a damaged or truncated host object
  corrupt_archive,    ///< a damaged or truncated archive
  thin_archive,       ///< an archive that contains only the paths of its members
  no_device_code,     ///< an object or archive without device code that can be linked
  unknown_form,       ///< a file in a form that fatlink does not link
  digest_mismatch,    ///< the bytes differ from those that were built
  above_limit,        ///< larger than one of fatlink's limits
  newer_format,       ///< a kind or version that this fatlink does not know
  invalid_ptx,        ///< PTX text that cannot be parsed
  missing_ptx,        ///< the fatbin holds no PTX to show
  foreign_ident,      ///< the ident was not written by this fatlink
  digest_in_sidecar,  ///< the sidecar has a digest of the file, which would no longer match
  unexpected_build,   ///< the fatbin does not contain what its build requested
  invalid_sidecar,    ///< a .json that is malformed or does not fit its fatbin
  invalid_plan,       ///< a launch plan that is malformed, or whose formulas cannot be evaluated
  invalid_npy,        ///< not a .npy file that fatlink reads, or values that a plan cannot take
  invalid_image,      ///< a linked image that is damaged or of a kind that the device cannot load
  unusable_cache,     ///< the cache folder cannot be used
  link_not_cached,    ///< the cache did not store a link
  invalid_record,     ///< a record of links and compiles that is malformed
  invalid_source,     ///< source that is not UTF-8 text
  invalid_contract,   ///< an installed contract that is damaged
  // compiles
  compile_failed,    ///< the compiler refused the source
  header_not_found,  ///< the source includes a file that is in none of the folders
  compile_timeout,   ///< the compile took longer than its time limit
  compile_memory,    ///< the compile needed more memory than its limit
  // links
  link_failed,   ///< nvJitLink failed without a result code
  link_refused,  ///< preflight refused the link without an error finding
  not_inlined,   ///< a hook is still called, although inlining was required
  // missing software and hardware
  offline,                ///< offline mode is on, and no cache layer has the link or compile
  nvjitlink_unavailable,  ///< nvJitLink is missing, or cannot be used in this process
  nvrtc_unavailable,      ///< NVRTC is missing or cannot be used
  nvvm_unavailable,       ///< libNVVM is missing or cannot be used
  helper_unavailable,     ///< the link helper cannot be started or used
  helper_unconfined,      ///< the kernel refuses to confine the link helper
  driver_unavailable,     ///< the CUDA driver cannot be opened
  gpu_unavailable,        ///< there is no such GPU
  needs_gpu,              ///< the reference device was given an input that needs a GPU
  start_up_failed,        ///< a process that `bench` was timing failed
  // devices
  unknown_kernel,       ///< the image has no kernel with this name
  unknown_variable,     ///< the image has no variable with this name
  refused_instruction,  ///< PTX that the reference device does not support
  invalid_instruction,  ///< PTX that is invalid on every device
  unresolved_symbol,    ///< a symbol that no module defines
  duplicate_symbol,     ///< a symbol that two modules define
  prototype_mismatch,   ///< a function declared, called or defined with different types
  invalid_launch,       ///< a grid, block or argument list that cannot be launched
  out_of_memory,        ///< the host lacks the memory
  illegal_address,      ///< an access out of bounds, misaligned, null or to constant memory
  endless_kernel,       ///< the instruction budget is spent
  deadlock,             ///< threads wait for threads that never arrive
  trap,                 ///< a trap instruction or failed assert
  write_race,           ///< a data race: unsynchronized accesses to a byte, at least one a write
  uninitialized_read,   ///< a read of shared memory that nothing has written
  // clusters
  unresponsive_rank,  ///< a rank of a job did not answer within the time limit
  invalid_message,    ///< a rank's message is damaged or from another version
  rank_failed,        ///< a rank failed with an exception other than fatlink::error
  // fatlink
  defect,  ///< an error in fatlink itself
};

/// "invalid-argument"; "unknown" for a value outside the enumeration.
char const* to_string(error_code code) noexcept;

/// Every enumerator, in order.
std::span<error_code const> error_codes() noexcept;

/// The code of an error as text; never empty. It is an error_code, the id of a finding, or a code
/// of other software in its own spelling: a result of nvJitLink or the CUDA driver, an errno name,
/// or the signal or exit status with which the link helper ended.
class code_text {
 public:
  /// The text form of `code`.
  code_text(error_code code) : text_(to_string(code)) {}

  /// The text; never empty.
  [[nodiscard]] std::string const& text() const noexcept { return text_; }
  /// Whether the text is `text`.
  friend bool operator==(code_text const& code, std::string_view text) noexcept
  {
    return code.text_ == text;
  }
  /// Whether the text is the text form of `expected`.
  friend bool operator==(code_text const& code, error_code expected) noexcept
  {
    return code.text_ == to_string(expected);
  }

 private:
  friend code_text vendor_code(std::string text);
  std::string text_;
};

/// A code of other software in its own spelling: "NVJITLINK_ERROR_PTX_COMPILE". An empty text
/// becomes error_code::defect.
code_text vendor_code(std::string text);

/// The contents of an error. `message` and `code` are always set.
struct error_details {
  std::string message = {};             ///< one line: the file or value, then the cause
  std::string input = {};               ///< the file or value that caused the error
  code_text code = error_code::defect;  ///< for programs and for docs/findings.md
  std::string log = {};                 ///< the complete log of nvJitLink or a compiler
  std::string hint = {};                ///< the remedy, one line, in terms of this API
};

/// The base class of all exceptions of fatlink. `what()` returns `message`.
class error : public std::runtime_error {
 public:
  /// An error of the stage `origin`.
  error(stage origin, error_details details);

  /// The stage in which the error occurred.
  [[nodiscard]] stage where() const noexcept { return where_; }
  /// The contents of the error.
  [[nodiscard]] error_details const& details() const noexcept { return details_; }

 private:
  stage where_;
  error_details details_;
};

/// An argument of the caller is malformed: a target, a device name, an option. Stage: usage.
class usage_error : public error {
 public:
  /// An error of stage usage.
  explicit usage_error(error_details details) : error(stage::usage, std::move(details)) {}
};

/// A file cannot be read, has the wrong content, or cannot be written.
class file_error : public error {
  using error::error;
};

/// nvJitLink refused or failed a link; `code` is its nvJitLinkResult if it returned one.
class link_error : public error {
  using error::error;
};

/// A compiler refused or failed to compile a source; `log` contains its complete messages.
class compile_error : public error {
  using error::error;
};

/// A device failed a call; `code` is the driver's CUresult, or the reference device's error_code.
class device_error : public error {
  using error::error;
};

/// A device, the driver, nvJitLink, a compiler or the link helper is missing on this machine, or
/// offline mode does not permit a link or compile (error_code::offline).
class unavailable_error : public error {
  using error::error;
};

/// The caller cancelled the call (fatlink/cancel_check.hpp). Data that its kernels have already
/// written is kept.
class cancelled_error : public error {
  using error::error;
};

}  // namespace fatlink
