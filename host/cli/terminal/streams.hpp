// SPDX-License-Identifier: Apache-2.0
// The program's standard streams, and files by name, where `-` means standard input or standard
// output. Verbs print to standard output without checking; main checks once, at the end. Text that
// cannot be written to standard error is dropped.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "util/files/npy.hpp"
#include "util/files/output_file.hpp"

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

/// What a part of a text means; on a terminal, its color.
enum class meaning { title, good, bad, warning, hint };

/// `text`, in the color of `meaning` if standard output is a terminal that shows colors and the
/// environment variable NO_COLOR is unset or empty (no-color.org). Otherwise `text`.
std::string colored(meaning meaning, std::string_view text);

/// As colored, for text that is printed to standard error.
std::string colored_error(meaning meaning, std::string_view text);

/// Whether `path` is `-`.
bool is_stream(std::string const& path);

/// Whether `path` is `-` or one of Linux's names of standard output. A file that is written there
/// would replace the file that standard output is redirected to.
bool is_standard_output(std::string const& path);

/// @throws usage_error `path` is `-` together with --json: both write to standard output.
void check_output(std::string const& path, bool json);

/// @throws usage_error the file `path` is one of `inputs`, also by another name, or the sidecar of
/// one.
void must_not_overwrite(std::vector<std::filesystem::path> const& inputs, std::string const& path);

/// Opens the file, or for `-` standard output; text then goes to standard error.
/// @throws file_error it cannot be written.
std::unique_ptr<output_file> create_output(std::string const& path);

/// As create_output, for an array of these elements; see npy_writer.
std::unique_ptr<npy_writer> create_npy(std::string const& path, element_type const& type,
                                       std::span<std::size_t const> extents);

/// Opens the file, or for `-` standard input, which is read to its end.
/// @throws file_error as npy_reader.
npy_reader open_npy(std::string const& path);

}  // namespace fatlink::cli
