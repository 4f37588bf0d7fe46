// SPDX-License-Identifier: Apache-2.0
#include "terminal/streams.hpp"

#include <fcntl.h>
#include <fmt/color.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>

#include "fatbin/sidecar.hpp"
#include "fatlink/error.hpp"
#include "options.hpp"

namespace fatlink::cli {
namespace {

bool is_sigpipe_ignored = false;
int text_descriptor = STDOUT_FILENO;
bool is_finished = false;  ///< nothing is written any more
int first_error = 0;       ///< errno of the first write to standard output that failed

/// The write function for fopencookie; 0 reports to stdio that nothing could be written.
ssize_t write_output(void* /*cookie*/, char const* text, std::size_t size)
{
  for (std::size_t count = 0; count < size && !is_finished;) {
    auto const written = ::write(text_descriptor, text + count, size - count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      if (text_descriptor == STDERR_FILENO) break;  // dropped
      if (first_error == 0) first_error = errno;
      return 0;
    }
    count += static_cast<std::size_t>(written);
  }
  return static_cast<ssize_t>(size);
}

/// stdio loses errno of a failed write when it flushes, so this stream for standard output records
/// it.
void record_output_errors()
{
  auto* const stream = ::fopencookie(
      nullptr, "w", {.read = nullptr, .write = write_output, .seek = nullptr, .close = nullptr});
  if (stream == nullptr) return;
  if (::isatty(STDOUT_FILENO) == 1) std::setvbuf(stream, nullptr, _IOLBF, BUFSIZ);
  stdout = stream;
}

bool is_closed(int descriptor)
{
  return ::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF;
}

/// `flags` are chosen so that reading from a closed input and writing to a closed output still
/// fail.
void replace_closed(int descriptor, int flags)
{
  if (!is_closed(descriptor)) return;
  auto const opened = ::open("/dev/null", flags);
  if (opened < 0 || opened == descriptor) return;
  ::dup2(opened, descriptor);
  ::close(opened);
}

void end_by_sigpipe()
{
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
}

[[noreturn]] void fail_writing(int code)
{
  throw file_error(stage::report,
                   {.message = fmt::format("standard output: cannot be written: {}",
                                           std::generic_category().message(code)),
                    .input = "standard output",
                    .code = error_code::unwritable_file,
                    .hint = "redirect it to a terminal, to a pipe with a reader, or to a file "
                            "on a disk with free space"});
}

bool is_set(char const* variable)
{
  auto const* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

/// Linux consoles set TERM; a shell in an editor sets "dumb".
bool shows_colors(int descriptor)
{
  return ::isatty(descriptor) == 1 && !is_set("NO_COLOR") && is_set("TERM") &&
         std::string_view(std::getenv("TERM")) != "dumb";
}

fmt::text_style style_of(meaning meaning)
{
  switch (meaning) {
    case meaning::title:
      return fmt::emphasis::bold;
    case meaning::good:
      return fmt::fg(fmt::terminal_color::green);
    case meaning::bad:
      return fmt::emphasis::bold | fmt::fg(fmt::terminal_color::red);
    case meaning::warning:
      return fmt::fg(fmt::terminal_color::yellow);
    case meaning::hint:
      break;
  }
  return fmt::fg(fmt::terminal_color::cyan);
}

std::string colored_for(int descriptor, meaning meaning, std::string_view text)
{
  return shows_colors(descriptor) ? fmt::format(style_of(meaning), "{}", text) : std::string(text);
}

}  // namespace

void prepare_standard_streams()
{
  replace_closed(STDIN_FILENO, O_WRONLY);
  replace_closed(STDOUT_FILENO, O_RDONLY);
  replace_closed(STDERR_FILENO, O_WRONLY);
  is_sigpipe_ignored = std::signal(SIGPIPE, SIG_IGN) == SIG_IGN;
  std::signal(SIGXFSZ, SIG_IGN);
  record_output_errors();
}

void print_text_to_standard_error()
{
  std::fflush(stdout);
  text_descriptor = STDERR_FILENO;
}

void end_at_broken_pipe(std::exception const& failure)
{
  auto const* failed = dynamic_cast<file_error const*>(&failure);
  if (failed != nullptr && failed->details().code == "EPIPE" && !is_sigpipe_ignored)
    end_by_sigpipe();
}

bool has_output_failed()
{
  return first_error != 0;
}

void finish_standard_output()
{
  // Not fclose: a C++ run-time that a plugin brought flushes its copy of `stdout` at exit.
  std::fflush(stdout);
  is_finished = true;
  if (::close(STDOUT_FILENO) != 0 && first_error == 0) first_error = errno;
  if (first_error == 0) return;
  if (first_error == EPIPE && !is_sigpipe_ignored) end_by_sigpipe();
  fail_writing(first_error);
}

void print_error(std::string const& text) noexcept
{
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
}

std::string colored(meaning meaning, std::string_view text)
{
  return colored_for(text_descriptor, meaning, text);
}

std::string colored_error(meaning meaning, std::string_view text)
{
  return colored_for(STDERR_FILENO, meaning, text);
}

bool is_stream(std::string const& path)
{
  return path == "-";
}

bool is_standard_output(std::string const& path)
{
  return is_stream(path) || path == "/dev/stdout" || path == "/dev/fd/1" ||
         path == "/proc/self/fd/1";
}

void check_output(std::string const& path, bool json)
{
  if (is_standard_output(path) && json)
    fail_usage("--output - and --json cannot be used together: both write to standard output", path,
               "name a file with --output, or remove --json");
}

void must_not_overwrite(std::vector<std::filesystem::path> const& inputs, std::string const& path)
{
  std::error_code ignored;
  for (auto const& input : inputs)
    for (auto const& file :
         {input, detail::sidecar_path(input), std::filesystem::path(input) += ".json"})
      if (std::filesystem::equivalent(file, path, ignored))
        fail_usage(fmt::format("{} is also an input", path), path,
                   "name another file with --output");
}

std::unique_ptr<output_file> create_output(std::string const& path)
{
  if (!is_standard_output(path)) return std::make_unique<output_file>(path);
  print_text_to_standard_error();
  return std::make_unique<output_file>(STDOUT_FILENO, "standard output");
}

std::unique_ptr<npy_writer> create_npy(std::string const& path, element_type const& type,
                                       std::span<std::size_t const> extents)
{
  return std::make_unique<npy_writer>(create_output(path), type, extents);
}

npy_reader open_npy(std::string const& path)
{
  if (is_stream(path)) return {STDIN_FILENO, "standard input"};
  return npy_reader(path);
}

}  // namespace fatlink::cli
