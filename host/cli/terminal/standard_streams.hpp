// SPDX-License-Identifier: Apache-2.0
// The program's standard streams. Verbs print to standard output without checking; main checks
// once, at the end. Text that cannot be written to standard error is dropped.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>

namespace fatlink::cli {

/// Opens /dev/null in place of each closed standard stream, so that no file that is opened later
/// gets its descriptor, and makes writing to a closed pipe or beyond the file size limit an error
/// instead of a signal. Call it before any file is opened.
void prepare_standard_streams();

/// Whether a write to standard output has failed.
bool has_output_failed();

/// Flushes and closes standard output. If the reader of the pipe has ended, ends the process by
/// SIGPIPE, as other command-line tools do, unless SIGPIPE was ignored when the program started.
/// @throws file_error output was lost: a full disk, a closed descriptor.
void finish_standard_output();

/// Directs all later text to standard error, because standard output receives results.
void print_text_to_standard_error();

/// Ends the process by SIGPIPE, as finish_standard_output does, if `failure` is that the reader of
/// a pipe with results has ended. Otherwise returns.
void end_at_broken_pipe(std::exception const& failure);

/// Writes to standard error; failures are ignored.
void print_error(std::string const& text) noexcept;

template <typename... Arguments>
void print_error(fmt::format_string<Arguments...> format, Arguments&&... arguments)
{
  print_error(fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace fatlink::cli
