// SPDX-License-Identifier: Apache-2.0
#include "cluster/message_parts.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace fatlink::detail {
namespace {

constexpr std::uint32_t k_inlined = 1;
constexpr std::uint32_t k_default = 2;

template <typename Enumerator>
void write_enumerator(sequence_writer& writer, Enumerator value)
{
  writer.number(static_cast<std::uint32_t>(value));
}

/// An enumerator from `first` to `last`.
template <typename Enumerator>
Enumerator read_enumerator(sequence_reader& reader, Enumerator last, Enumerator first = {})
{
  auto const number = reader.number<std::uint32_t>();
  if (number < static_cast<std::uint32_t>(first) || number > static_cast<std::uint32_t>(last))
    throw sequence_error("an enumerator is unknown");
  return static_cast<Enumerator>(number);
}

template <typename Element, typename Write>
void write_list(sequence_writer& writer, std::vector<Element> const& list, Write const& write_one)
{
  writer.number(static_cast<std::uint32_t>(list.size()));
  for (auto const& element : list) write_one(element);
}

/// A list whose elements have at least `least_bytes` each.
template <typename Element, typename Read>
void read_list(sequence_reader& reader, std::vector<Element>& list, std::size_t least_bytes,
               Read const& read_one)
{
  list.resize(reader.count_of(least_bytes));
  for (auto& element : list) read_one(element);
}

void write_texts(sequence_writer& writer, std::vector<std::string> const& texts)
{
  write_list(writer, texts, [&](std::string const& text) { writer.text(text); });
}
void read_texts(sequence_reader& reader, std::vector<std::string>& texts)
{
  read_list(reader, texts, 4, [&](std::string& text) { text = reader.text(); });
}

void write_ranks(sequence_writer& writer, std::vector<unsigned> const& ranks)
{
  write_list(writer, ranks, [&](unsigned rank) { writer.number(std::uint32_t{rank}); });
}
void read_ranks(sequence_reader& reader, std::vector<unsigned>& ranks)
{
  read_list(reader, ranks, 4, [&](unsigned& rank) { rank = reader.number<std::uint32_t>(); });
}

void write_target(sequence_writer& writer, target architecture)
{
  writer.number(std::uint32_t{architecture.number()});
  writer.number(static_cast<std::uint32_t>(architecture.suffix()));
}

target read_target(sequence_reader& reader)
{
  auto const number = reader.number<std::uint32_t>();
  auto const suffix = reader.number<std::uint32_t>();
  if (suffix != 0 && suffix != 'a' && suffix != 'f')
    throw sequence_error("the suffix of a target is unknown");
  return target(number, static_cast<char>(suffix));
}

void write_hook(sequence_writer& writer, hook_fact const& hook)
{
  writer.text(hook.name);
  writer.number((hook.inlined ? k_inlined : 0U) | (hook.is_default ? k_default : 0U));
}

void read_hook(sequence_reader& reader, hook_fact& hook)
{
  hook.name = reader.text();
  auto const bits = reader.number<std::uint32_t>();
  if (bits > (k_inlined | k_default)) throw sequence_error("the facts of a hook are unknown");
  hook.inlined = (bits & k_inlined) != 0;
  hook.is_default = (bits & k_default) != 0;
}

void write_part(sequence_writer& writer, ptx_part const& part)
{
  writer.text(part.name);
  writer.bytes(std::as_bytes(std::span(part.text)));
}

void read_part(sequence_reader& reader, ptx_part& part)
{
  part.name = reader.text();
  auto const text = reader.view(reader.number<std::uint64_t>());
  part.text.assign(reinterpret_cast<char const*>(text.data()), text.size());
}

void write_finding(sequence_writer& writer, finding const& entry)
{
  write_enumerator(writer, entry.id);
  write_enumerator(writer, entry.severity);
  write_texts(writer, entry.files);
  for (auto const* text : {&entry.symbol, &entry.message, &entry.hint}) writer.text(*text);
}

void read_finding(sequence_reader& reader, finding& entry)
{
  entry.id = read_enumerator(reader, finding_ids().back());
  entry.severity = read_enumerator(reader, severity::error);
  read_texts(reader, entry.files);
  for (auto* text : {&entry.symbol, &entry.message, &entry.hint}) *text = reader.text();
}

}  // namespace

void write(sequence_writer& writer, linked_image const& image)
{
  write_enumerator(writer, image.kind);
  write_enumerator(writer, image.mode);
  write_enumerator(writer, image.cache);
  write_target(writer, image.target);
  write_list(writer, image.hooks, [&](hook_fact const& hook) { write_hook(writer, hook); });
  write_texts(writer, image.warnings);
  writer.bytes(image.bytes);
  write_list(writer, image.parts, [&](ptx_part const& part) { write_part(writer, part); });
}

void read(sequence_reader& reader, linked_image& image)
{
  image.kind = read_enumerator(reader, image_kind::ptx_set);
  image.mode = read_enumerator(reader, link_mode::sass);
  image.cache = read_enumerator(reader, cache_outcome::hit);
  image.target = read_target(reader);
  read_list(reader, image.hooks, 8, [&](hook_fact& hook) { read_hook(reader, hook); });
  read_texts(reader, image.warnings);
  image.bytes = reader.bytes();
  read_list(reader, image.parts, 12, [&](ptx_part& part) { read_part(reader, part); });
}

void write(sequence_writer& writer, error_record const& record)
{
  write_enumerator(writer, record.type);
  write_enumerator(writer, record.where);
  auto const& [message, input, code, log, hint] = record.details;
  for (auto const* text : {&message, &input, &code.text(), &log, &hint}) writer.text(*text);
  writer.number(record.offset);
  write_list(writer, record.findings, [&](finding const& entry) { write_finding(writer, entry); });
  write_ranks(writer, record.ranks);
}

void read(sequence_reader& reader, error_record& record)
{
  record.type = read_enumerator(reader, error_type::rank, error_type::base);
  record.where = read_enumerator(reader, stage::report);
  auto& details = record.details;
  details.message = reader.text();
  details.input = reader.text();
  details.code = vendor_code(reader.text());
  details.log = reader.text();
  details.hint = reader.text();
  record.offset = reader.number<std::uint64_t>();
  read_list(reader, record.findings, 24, [&](finding& entry) { read_finding(reader, entry); });
  read_ranks(reader, record.ranks);
}

void write(sequence_writer& writer, tree_role const& role)
{
  writer.number(std::uint32_t{role.parent});
  writer.number(std::uint32_t{role.depth});
  write_ranks(writer, role.children);
}

void read(sequence_reader& reader, tree_role& role)
{
  role.parent = reader.number<std::uint32_t>();
  role.depth = reader.number<std::uint32_t>();
  read_ranks(reader, role.children);
}

void write(sequence_writer& writer, digest256 const& key)
{
  writer.raw(key.data(), key.size());
}

void read(sequence_reader& reader, digest256& key)
{
  auto const bytes = reader.view(key.size());
  std::copy(bytes.begin(), bytes.end(), key.begin());
}

void write(sequence_writer& writer, link_state state)
{
  write_enumerator(writer, state);
}

void read(sequence_reader& reader, link_state& state)
{
  state = read_enumerator(reader, link_state::has_no_image, link_state::done);
}

void write(sequence_writer& /*writer*/, std::monostate /*nothing*/) {}

void read(sequence_reader& /*reader*/, std::monostate& /*nothing*/) {}

}  // namespace fatlink::detail
