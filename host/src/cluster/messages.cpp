// SPDX-License-Identifier: Apache-2.0
// Each content has one description, `code`, by which it is written and read.
// <text> and <bytes> as in util/text/sequence.hpp; a list is a u32 count and that many elements;
// enumerators and flags are u32.
#include "cluster/messages.hpp"

#include <algorithm>
#include <concepts>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "util/bytes/sha256.hpp"
#include "util/text/format.hpp"
#include "util/text/sequence.hpp"

namespace fatlink::detail {
namespace {

constexpr std::string_view k_magic = "FLRK";
constexpr std::uint32_t k_version = 1;
constexpr std::size_t k_check_size = std::tuple_size_v<digest256>;

class message_writer {
 public:
  explicit message_writer(sequence_writer& writer) : writer_(writer) {}

  template <typename Number>
  void number(Number value)
  {
    writer_.number(value);
  }
  template <typename Enumerator>
  void enumerator(Enumerator value, Enumerator /*first*/, Enumerator /*last*/)
  {
    number(static_cast<std::uint32_t>(value));
  }
  void flag(bool value) { number(std::uint32_t{value}); }
  void text(std::string const& value) { writer_.text(value); }
  void text(code_text const& value) { writer_.text(value.text()); }
  void long_text(std::string const& value) { writer_.long_text(value); }
  void bytes(bytes_view value) { writer_.bytes(value); }
  void digest(digest256 const& value) { writer_.raw(value.data(), value.size()); }
  void architecture(target value)
  {
    number(std::uint32_t{value.number()});
    number(static_cast<std::uint32_t>(value.suffix()));
  }
  template <typename Element, typename Code>
  void list(std::vector<Element> const& elements, std::size_t /*least_bytes*/, Code const& code_one)
  {
    number(static_cast<std::uint32_t>(elements.size()));
    for (auto const& element : elements) code_one(element);
  }

 private:
  sequence_writer& writer_;
};

/// Every member throws sequence_error if the bytes are something else.
class message_reader {
 public:
  explicit message_reader(sequence_reader& reader) : reader_(reader) {}

  template <typename Number>
  void number(Number& value)
  {
    value = reader_.number<Number>();
  }
  template <typename Enumerator>
  void enumerator(Enumerator& value, Enumerator first, Enumerator last)
  {
    auto const number = reader_.number<std::uint32_t>();
    if (number < static_cast<std::uint32_t>(first) || number > static_cast<std::uint32_t>(last))
      throw sequence_error("an enumerator is unknown");
    value = static_cast<Enumerator>(number);
  }
  void flag(bool& value)
  {
    auto const number = reader_.number<std::uint32_t>();
    if (number > 1) throw sequence_error("a flag is neither set nor unset");
    value = number != 0;
  }
  void text(std::string& value) { value = reader_.text(); }
  void text(code_text& value) { value = vendor_code(reader_.text()); }
  void long_text(std::string& value) { value = reader_.long_text(); }
  void bytes(byte_buffer& value) { value = reader_.bytes(); }
  void digest(digest256& value)
  {
    auto const read = reader_.view(value.size());
    std::copy(read.begin(), read.end(), value.begin());
  }
  void architecture(target& value)
  {
    auto const number = reader_.number<std::uint32_t>();
    auto const suffix = reader_.number<std::uint32_t>();
    if (suffix != 0 && suffix != 'a' && suffix != 'f')
      throw sequence_error("the suffix of a target is unknown");
    value = target(number, static_cast<char>(suffix));
  }
  /// Each element has at least `least_bytes`.
  template <typename Element, typename Code>
  void list(std::vector<Element>& elements, std::size_t least_bytes, Code const& code_one)
  {
    elements.resize(reader_.count_of(least_bytes));
    for (auto& element : elements) code_one(element);
  }

 private:
  sequence_reader& reader_;
};

/// `Content` or the same, const.
template <typename Type, typename Content>
concept maybe_const = std::same_as<std::remove_const_t<Type>, Content>;

template <typename Coder>
void code_texts(Coder& coder, auto& texts)
{
  coder.list(texts, 4, [&](auto& text) { coder.text(text); });
}

template <typename Coder, maybe_const<linked_image> Image>
void code(Coder& coder, Image& image)
{
  coder.enumerator(image.kind, image_kind{}, image_kind::ptx_set);
  coder.enumerator(image.mode, link_mode{}, link_mode::sass);
  coder.enumerator(image.cache, cache_outcome{}, cache_outcome::hit);
  coder.architecture(image.target);
  coder.list(image.hooks, 12, [&](auto& hook) {
    coder.text(hook.name);
    coder.flag(hook.inlined);
    coder.flag(hook.is_default);
  });
  code_texts(coder, image.warnings);
  coder.bytes(image.bytes);
  coder.list(image.parts, 12, [&](auto& part) {
    coder.text(part.name);
    coder.long_text(part.text);
  });
}

template <typename Coder, maybe_const<error_record> Record>
void code(Coder& coder, Record& record)
{
  coder.enumerator(record.type, error_type::base, error_type::rank);
  coder.enumerator(record.where, stage{}, stage::report);
  auto& details = record.details;
  coder.text(details.message);
  coder.text(details.input);
  coder.text(details.code);
  coder.text(details.log);
  coder.text(details.hint);
  coder.number(record.offset);
  coder.list(record.findings, 24, [&](auto& finding) {
    coder.enumerator(finding.id, finding_id{}, finding_ids().back());
    coder.enumerator(finding.severity, severity{}, severity::error);
    code_texts(coder, finding.files);
    for (auto* text : {&finding.symbol, &finding.message, &finding.hint}) coder.text(*text);
  });
  coder.list(record.ranks, 4, [&](auto& rank) { coder.number(rank); });
}

template <typename Coder, maybe_const<std::vector<link_group>> Groups>
void code(Coder& coder, Groups& groups)
{
  coder.list(groups, std::tuple_size_v<digest256> + 4, [&](auto& group) {
    coder.digest(group.key);
    coder.number(group.root);
  });
}

template <typename Coder, maybe_const<digest256> Digest>
void code(Coder& coder, Digest& digest)
{
  coder.digest(digest);
}

template <typename Coder, maybe_const<std::monostate> Nothing>
void code(Coder& /*coder*/, Nothing& /*nothing*/)
{
}

/// The part of `message` that the checksum covers.
bytes_view checked(bytes_view message)
{
  if (message.size() < k_check_size) throw sequence_error("it is truncated");
  auto const content = message.first(message.size() - k_check_size);
  if (!std::ranges::equal(message.last(k_check_size), sha256(content)))
    throw sequence_error("its checksum is wrong");
  return content;
}

/// The step of a message. What a reader of any version can tell comes first, so that another
/// version is named as such.
message_step read_header(sequence_reader& reader, bytes_view message)
{
  if (!std::ranges::equal(reader.view(k_magic.size()), std::as_bytes(std::span(k_magic))))
    throw sequence_error("it is not a message of fatlink");
  if (auto const version = reader.number<std::uint32_t>(); version != k_version)
    throw sequence_error(
        detail::format("its version is {}, this fatlink's is {}", version, k_version));
  (void)checked(message);
  return static_cast<message_step>(reader.number<std::uint32_t>());
}

template <typename Content>
outcome<Content> read_outcome(sequence_reader& reader)
{
  message_reader from(reader);
  auto has_content = false;
  from.flag(has_content);
  outcome<Content> result;
  if (has_content)
    code(from, result.template emplace<Content>());
  else
    code(from, result.template emplace<error_record>());
  (void)reader.view(k_check_size);
  reader.expect_end();
  return result;
}

}  // namespace

template <typename Content>
byte_buffer write_message(message_step step, outcome<Content> const& result)
{
  sequence_writer writer;
  writer.raw(k_magic.data(), k_magic.size());
  writer.number(k_version);
  message_writer to(writer);
  to.number(static_cast<std::uint32_t>(step));
  auto const* const content = std::get_if<Content>(&result);
  to.flag(content != nullptr);
  if (content != nullptr)
    code(to, *content);
  else
    code(to, std::get<error_record>(result));
  to.digest(sha256(writer.made()));
  return writer.take();
}

template <typename Content>
outcome<Content> read_message(bytes_view message, message_step step, unsigned sender)
try {
  sequence_reader reader(message);
  if (read_header(reader, message) != step) throw sequence_error("it belongs to another step");
  return read_outcome<Content>(reader);
} catch (sequence_error const& damage) {
  return damage_from(sender, damage.what());
}

template byte_buffer write_message(message_step, outcome<digest256> const&);
template byte_buffer write_message(message_step, outcome<std::vector<link_group>> const&);
template byte_buffer write_message(message_step, outcome<linked_image> const&);
template byte_buffer write_message(message_step, outcome<std::monostate> const&);
template outcome<digest256> read_message(bytes_view, message_step, unsigned);
template outcome<std::vector<link_group>> read_message(bytes_view, message_step, unsigned);
template outcome<linked_image> read_message(bytes_view, message_step, unsigned);
template outcome<std::monostate> read_message(bytes_view, message_step, unsigned);

}  // namespace fatlink::detail
