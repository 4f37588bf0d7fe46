// SPDX-License-Identifier: Apache-2.0
#include "input/archive.hpp"

#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include "input/refuse.hpp"
#include "util/bytes/byte_reader.hpp"
#include "util/limits.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr std::string_view k_magic = "!<arch>\n";
constexpr std::string_view k_thin_magic = "!<thin>\n";
constexpr std::string_view k_header_end = "`\n";
constexpr std::string_view k_bsd_long_name = "#1/";
constexpr std::uint64_t k_header_size = 60;
constexpr std::uint64_t k_name_size = 16;
constexpr std::uint64_t k_size_field = 48;
constexpr std::uint64_t k_size_digits = 10;

std::string_view without_spaces(std::string_view field)
{
  return field.substr(0, field.find_last_not_of(' ') + 1);
}

std::optional<std::uint64_t> read_decimal_digits(std::string_view digits)
{
  std::uint64_t value = 0;
  auto const* const end = digits.data() + digits.size();
  auto const [stop, code] = std::from_chars(digits.data(), end, value);
  if (code != std::errc{} || stop != end) return std::nullopt;
  return value;
}

bool is_symbol_table(std::string_view name)
{
  return name == "/" || name == "/SYM64/" || name == "__.SYMDEF" || name == "__.SYMDEF SORTED" ||
         name == "__.SYMDEF_64" || name == "__.SYMDEF_64 SORTED";
}

class archive_reader {
 public:
  archive_reader(bytes_view archive, std::string_view name)
      : bytes_(archive),
        file_{name, error_code::corrupt_archive, "build it again, or copy it again in full"}
  {
  }

  std::vector<archive_member> read()
  try {
    auto const magic = bytes_.text(0, k_magic.size());
    if (magic == k_thin_magic) fail_thin();
    if (magic != k_magic) refuse_damaged(file_, 0, "does not begin with !<arch>");
    for (auto offset = k_magic.size(); offset < bytes_.size();) offset = read_member(offset);
    return std::move(members_);
  } catch (out_of_bytes const& end) {
    refuse_truncated(file_, end);
  }

 private:
  [[noreturn]] void fail_thin() const
  {
    refuse_input(error_code::thin_archive, file_.name,
                 "is a thin archive, which names its members instead of holding them",
                 "make it again without the option T of ar (--thin), or pass the members");
  }

  /// Returns the offset after the member, its data and its padding.
  std::uint64_t read_member(std::uint64_t offset)
  {
    if (bytes_.text(offset + k_header_size - k_header_end.size(), k_header_end.size()) !=
        k_header_end)
      refuse_damaged(file_, offset, "expected a member header here");
    auto const size = size_of(offset);
    auto const begin = offset + k_header_size;
    add_member(offset, {.offset = begin, .bytes = bytes_.view(begin, size)});
    auto const end = begin + size;
    if (size % 2 == 0) return end;
    if (bytes_.read<char>(end) != '\n') refuse_damaged(file_, end, "expected padding here");
    return end + 1;
  }

  [[nodiscard]] std::uint64_t size_of(std::uint64_t offset) const
  {
    auto const field = bytes_.text(offset + k_size_field, k_size_digits);
    auto const size = read_decimal_digits(without_spaces(field));
    if (!size) refuse_damaged(file_, offset + k_size_field, "a member's size is not a number");
    return *size;
  }

  void add_member(std::uint64_t header, archive_member member)
  {
    auto const field = bytes_.text(header, k_name_size);
    auto const name = without_spaces(field);
    if (is_symbol_table(name)) return;
    if (name == "//") return read_long_names(header, member.bytes);
    auto const text = name.starts_with(k_bsd_long_name) ? take_bsd_name(header, name, member)
                      : name.starts_with('/')           ? long_name(header, name)
                                                        : std::string(short_name(name));
    if (is_symbol_table(text)) return;
    if (text.empty() || text.find('\n') != std::string::npos)
      refuse_damaged(file_, header, "a member has no name of one line");
    if (members_.size() == limits::k_members) fail_members();
    member.name = printable(text);
    members_.push_back(std::move(member));
  }

  [[noreturn]] void fail_members() const
  {
    refuse_input(error_code::above_limit, file_.name,
                 detail::format("holds more than {} members, the limit", limits::k_members),
                 "split it into several archives");
  }

  void read_long_names(std::uint64_t header, bytes_view names)
  {
    if (long_names_) refuse_damaged(file_, header, "a second table of long names");
    long_names_ = {reinterpret_cast<char const*>(names.data()), names.size()};
  }

  /// GNU: "a.o/"; BSD: "a.o".
  static std::string_view short_name(std::string_view name)
  {
    return name.ends_with('/') ? name.substr(0, name.size() - 1) : name;
  }

  /// GNU: "/18", where in the table of long names the name begins, which ends with "/\n".
  [[nodiscard]] std::string long_name(std::uint64_t header, std::string_view name) const
  {
    auto const begin = read_decimal_digits(name.substr(1));
    if (!begin || !long_names_ || *begin >= long_names_->size())
      refuse_damaged(file_, header, "a member's name is not in the table of long names");
    auto const rest = long_names_->substr(static_cast<std::size_t>(*begin));
    auto const end = rest.find('\n');  // npos: no end
    if (end > limits::k_name_bytes) refuse_damaged(file_, header, "a member's name does not end");
    return std::string(short_name(rest.substr(0, end)));
  }

  /// BSD: "#1/20", a name of 20 bytes, padded with NUL, is at the begin of the data.
  [[nodiscard]] std::string take_bsd_name(std::uint64_t header, std::string_view name,
                                          archive_member& member) const
  {
    auto const size = read_decimal_digits(name.substr(k_bsd_long_name.size()));
    if (!size || *size > member.bytes.size() || *size > limits::k_name_bytes)
      refuse_damaged(file_, header, "a member's name is longer than the member");
    auto const bytes = byte_reader(member.bytes).view(0, *size);
    std::string_view const text(reinterpret_cast<char const*>(bytes.data()), bytes.size());
    member.offset += *size;
    member.bytes = member.bytes.subspan(bytes.size());
    return std::string(text.substr(0, text.find('\0')));
  }

  byte_reader bytes_;
  input_file file_;
  std::optional<std::string_view> long_names_;
  std::vector<archive_member> members_;
};

}  // namespace

std::vector<archive_member> read_archive(bytes_view archive, std::string_view name)
{
  return archive_reader(archive, name).read();
}

}  // namespace fatlink::detail
