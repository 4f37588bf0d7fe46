// SPDX-License-Identifier: Apache-2.0
// The program's standard streams. A verb prints to standard output without checking; main checks
// once, at the end. Text that cannot be written to standard error is dropped.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>

namespace fatlink::cli {

/// Opens /dev/null in place of each standard stream that is closed, so that no file that is opened
/// later receives its number, and makes writing to a closed pipe or past the file size limit an
/// error of the write instead of a signal. Call it before anything is opened.
void prepare_standard_streams();

/// Whether a write to standard output has failed.
bool has_output_failed();

/// Flushes and closes standard output. Where its reader has gone, the process ends by SIGPIPE, as
/// other command-line tools do, unless SIGPIPE was ignored when the program was started.
/// @throws file_error output was lost: a full disk, a closed descriptor.
void finish_standard_output();

/// From here on, what is printed goes to standard error: standard output holds results.
void print_text_to_standard_error();

/// Ends the process as finish_standard_output where `failure` is that the reader of a pipe, to
/// which results were written, has gone. Otherwise returns.
void end_at_broken_pipe(std::exception const& failure);

/// Writes to standard error; failures are ignored.
void print_error(std::string const& text) noexcept;

template <typename... Arguments>
void print_error(fmt::format_string<Arguments...> format, Arguments&&... arguments)
{
  print_error(fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace fatlink::cli
