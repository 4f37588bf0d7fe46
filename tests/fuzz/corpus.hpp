// SPDX-License-Identifier: Apache-2.0
// Corpora of fuzz targets: the inputs of a target in one file, <name>.corpus
// (tests/fuzz/README.md).
//   <corpus> ::= { <comment> | "input" <name> { <line> } | "file" <name> <path> }
//   <line>   ::= "|" { <byte> | "\\" | "\xNN" | "\xNN{N}" } [ "\" ]
// "\xNN{N}" is a byte N times. A line stands for its bytes and a newline, or only for its bytes if
// it ends in a single backslash. `path` is relative to the folder of the corpus.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace corpora {

/// A corpus that cannot be read; what() has its file and line.
class bad_corpus : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct input {
  std::string name;
  std::string bytes;
  std::string text;  ///< the lines of the corpus that have the bytes; empty: it names a file
};

/// @throws bad_corpus.
inline std::string read_bytes(std::filesystem::path const& path)
{
  std::ifstream stream(path, std::ios::binary);
  if (!stream || std::filesystem::is_directory(path))
    throw bad_corpus(path.string() + ": cannot be read");
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Writes the lines of an input. A run of a byte is shortened; lines have at most 140 characters.
class encoder {
 public:
  explicit encoder(std::string_view bytes) : bytes_(bytes) {}

  std::string encode()
  {
    while (!bytes_.empty()) {
      if (line_.size() > k_width) end_line("\\\n");
      if (bytes_.front() == '\n') {
        end_line("\n");
        bytes_.remove_prefix(1);
      } else {
        take_run();
      }
    }
    if (!line_.empty()) end_line("\\\n");
    return text_;
  }

 private:
  static constexpr std::size_t k_width = 125;

  void end_line(char const* end)
  {
    text_ += "|" + line_ + end;
    line_.clear();
    is_after_escape_ = false;
  }

  void take_run()
  {
    auto const run = std::min(bytes_.find_first_not_of(bytes_.front()), bytes_.size());
    if (is_plain() && run < 16)
      take_plain();
    else
      take_escaped(run);
  }

  /// Whether the next byte stands for itself. Blanks at the end of a line do not.
  [[nodiscard]] bool is_plain() const
  {
    auto const byte = static_cast<unsigned char>(bytes_.front());
    if (byte == ' ' || byte == '\t') return bytes_.size() > 1 && bytes_[1] != '\n';
    return byte > ' ' && byte < 0x7F && !(byte == '{' && is_after_escape_);
  }

  void take_plain()
  {
    if (bytes_.front() == '\\') line_ += '\\';
    line_ += bytes_.front();
    bytes_.remove_prefix(1);
    is_after_escape_ = false;
  }

  void take_escaped(std::size_t run)
  {
    char escape[8];
    std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned char>(bytes_.front()));
    line_ += escape;
    if (run > 2) line_.append(1, '{').append(std::to_string(run)).append(1, '}');
    bytes_.remove_prefix(run > 2 ? run : 1);
    is_after_escape_ = true;
  }

  std::string_view bytes_;
  std::string line_;
  std::string text_;
  bool is_after_escape_ = false;  ///< the line ends in one, and a brace would belong to it
};

/// Reads a corpus.
class reader {
 public:
  /// Reads the text of the corpus `path`.
  reader(std::filesystem::path path, std::string const& text) : path_(std::move(path)), text_(text)
  {
  }

  /// The inputs in the order of the corpus. @throws bad_corpus.
  std::vector<input> read()
  {
    for (std::string line; std::getline(text_, line);) {
      ++line_;
      take(line);
    }
    return std::move(inputs_);
  }

 private:
  [[noreturn]] void fail(std::string const& why) const
  {
    throw bad_corpus(path_.filename().string() + ":" + std::to_string(line_) + ": " + why);
  }

  void take(std::string const& line)
  {
    if (line.empty() || line.starts_with("#")) return;
    if (line.starts_with("|")) return take_bytes(line);
    std::istringstream words(line);
    std::string kind;
    std::string name;
    std::string file;
    std::string more;
    words >> kind >> name >> file >> more;
    auto const is_file = kind == "file";
    if ((kind != "input" && !is_file) || name.empty() || file.empty() == is_file || !more.empty())
      fail("a line is written: input NAME, file NAME PATH, or |BYTES");
    begin(name, file);
  }

  void begin(std::string const& name, std::string const& file)
  {
    for (auto const& other : inputs_)
      if (other.name == name) fail("there are two inputs '" + name + "'");
    is_open_ = file.empty();
    try {
      auto bytes = is_open_ ? std::string() : read_bytes(path_.parent_path() / file);
      inputs_.push_back({name, std::move(bytes), {}});
    } catch (bad_corpus const& why) {
      fail(why.what());
    }
  }

  void take_bytes(std::string const& line)
  {
    if (!is_open_) fail("there is no input before this line");
    auto& target = inputs_.back();
    target.text += line + "\n";
    rest_ = std::string_view(line).substr(1);
    while (!rest_.empty()) {
      if (rest_ == "\\") return;  // the line has no newline
      if (rest_.front() == '\\')
        take_escape(target.bytes);
      else
        target.bytes += take_letter();
    }
    target.bytes += '\n';
  }

  char take_letter()
  {
    auto const letter = rest_.front();
    rest_.remove_prefix(1);
    return letter;
  }

  void take_escape(std::string& bytes)
  {
    (void)take_letter();
    if (rest_.front() == '\\') {
      bytes += take_letter();
      return;
    }
    if (rest_.front() != 'x') fail("an escape is written \\\\, \\xNN or \\xNN{COUNT}");
    auto const byte = static_cast<char>(take_number(1, 2, 16));
    std::size_t count = 1;
    if (rest_.starts_with("{")) {
      auto const end = rest_.find('}');
      if (end == std::string_view::npos) fail("a count has no }");
      count = take_number(1, end - 1, 10);
      (void)take_letter();
    }
    bytes.append(count, byte);
  }

  /// The number of `digits` letters after the first `skipped`.
  std::size_t take_number(std::size_t skipped, std::size_t digits, int base)
  {
    auto const text = rest_.substr(skipped, digits);
    std::size_t number = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    if (error != std::errc() || text.size() != digits || end != text.data() + text.size() ||
        number > k_most)
      fail(std::string("'").append(text) + "' is not a number of this escape");
    rest_.remove_prefix(skipped + digits);
    return number;
  }

  static constexpr std::size_t k_most = 1 << 20;

  std::filesystem::path path_;
  std::istringstream text_;
  unsigned line_ = 0;
  bool is_open_ = false;   ///< the last input takes bytes
  std::string_view rest_;  ///< of the line that is read
  std::vector<input> inputs_;
};

/// @throws bad_corpus.
inline std::vector<input> read(std::filesystem::path const& path)
{
  return reader(path, read_bytes(path)).read();
}

}  // namespace corpora
