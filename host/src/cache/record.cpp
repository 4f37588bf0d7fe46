// SPDX-License-Identifier: Apache-2.0
#include "cache/record.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <set>

#include "fatlink/error.hpp"
#include "util/bytes/sha256.hpp"
#include "util/files/output_file.hpp"
#include "util/files/read_file.hpp"
#include "util/limits.hpp"
#include "util/process/environment.hpp"
#include "util/process/immortal.hpp"
#include "util/text/format.hpp"
#include "util/text/json.hpp"

namespace fatlink::cache {
namespace {

using known_texts = detail::made_once<std::string, bool>;

known_texts& appended()
{
  static detail::immortal<known_texts> const texts;
  return texts.get();
}

known_texts& compiled()
{
  static detail::immortal<known_texts> const texts;
  return texts.get();
}

/// `text` of the current record: the variable can change while the process runs.
std::string in_this_record(std::string const& text)
{
  return detail::environment(k_record_variable) + '\n' + text;
}

[[noreturn]] void fail_write(std::string const& file, int code)
{
  throw file_error(
      stage::cache,
      {.message = detail::format("the record {}: {}", file, std::strerror(code)),
       .input = file,
       .code = error_code::unwritable_file,
       .hint = detail::format("set {} to a file that can be written", k_record_variable)});
}

/// All of `line` or nothing: the lock keeps other writers out, and a part is removed again.
void append_line(std::string const& name, std::string_view line)
{
  detail::descriptor const file(detail::avoid_standard_streams(
      ::open(name.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600)));
  if (file.get() < 0) fail_write(name, errno);
  while (::flock(file.get(), LOCK_EX) != 0)
    if (errno != EINTR) fail_write(name, errno);
  struct ::stat status = {};
  if (::fstat(file.get(), &status) != 0) fail_write(name, errno);
  detail::signal_guard const no_signal(SIGXFSZ);
  if (detail::write_all(file.get(), std::as_bytes(std::span(line)))) return;
  auto const code = errno;
  (void)!::ftruncate(file.get(), status.st_size);
  fail_write(name, code);
}

nlohmann::json parse_line(std::string_view line, std::size_t number)
{
  if (!detail::is_nested_deeper(line, limits::k_json_depth)) {
    auto entry = nlohmann::json::parse(line, nullptr, false);
    if (entry.is_object()) return entry;
  }
  refuse_record(detail::format("line {} is not a JSON object", number));
}

int value_of(char digit)
{
  if (digit >= '0' && digit <= '9') return digit - '0';
  return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

}  // namespace

bool is_recording()
{
  return !detail::environment(k_record_variable).empty();
}

void append_record(nlohmann::json const& entry)
{
  using handler = nlohmann::json::error_handler_t;
  auto const line = entry.dump(-1, ' ', false, handler::replace) + '\n';
  auto const key =
      in_this_record(detail::to_hexadecimal(detail::sha256(std::as_bytes(std::span(line)))));
  if (appended().find(key) != nullptr) return;
  append_line(detail::environment(k_record_variable), line);
  (void)appended().keep(key, true);
}

std::vector<nlohmann::json> read_record(std::filesystem::path const& file)
{
  auto const bytes = detail::read_file(file, limits::k_file_bytes,
                                       "pass a file that fatlink cache record has written");
  std::string_view text(reinterpret_cast<char const*>(bytes.data()), bytes.size());
  std::vector<nlohmann::json> entries;
  std::set<std::string_view> known;
  for (std::size_t number = 1; !text.empty(); ++number) {
    auto const line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (known.insert(line).second) entries.push_back(parse_line(line, number));
  }
  return entries;
}

void note_compiled(std::string const& digest)
{
  (void)compiled().keep(in_this_record(digest), true);
}

bool was_compiled(std::string const& digest)
{
  return compiled().find(in_this_record(digest)) != nullptr;
}

std::string to_digits(bytes_view bytes)
{
  return detail::to_hexadecimal(bytes);
}

byte_buffer from_digits(std::string const& digits)
{
  byte_buffer bytes;
  if (digits.size() % 2 != 0) refuse_record("bytes are not hexadecimal digits");
  for (std::size_t index = 0; index + 1 < digits.size(); index += 2) {
    auto const high = value_of(digits[index]);
    auto const low = value_of(digits[index + 1]);
    if (high < 0 || low < 0) refuse_record("bytes are not hexadecimal digits");
    bytes.push_back(static_cast<std::byte>(16 * high + low));
  }
  return bytes;
}

void refuse_record(std::string const& cause)
{
  throw file_error(stage::cache, {.message = "a record of links and compiles: " + cause,
                                  .code = error_code::invalid_record,
                                  .hint = "write it again: fatlink cache record -- COMMAND"});
}

}  // namespace fatlink::cache
