// SPDX-License-Identifier: Apache-2.0
// What the messages between ranks hold, as bytes. Numbers are little-endian; <text>, <texts> and
// <bytes> as in util/text/sequence.hpp, but a list has as many elements as it needs. The reader
// trusts nothing: it checks each size, count and enumerator. Threads: no shared state.
//
// <image>   ::= u32 kind, u32 mode, u32 cache, <target>, <list> <hook>, <list> <text> warnings,
//               <bytes>, <list> <part>
// <target>  ::= u32 number, u32 suffix: 0, 'a' or 'f'
// <hook>    ::= <text> name, u32: bit 0 inlined, bit 1 default
// <part>    ::= <text> name, <bytes> PTX
// <error>   ::= u32 type, u32 stage, <text> message, input, code, log, hint, u64 offset,
//               <list> <finding>, <list> u32 ranks
// <finding> ::= u32 id, u32 severity, <list> <text> files, <text> symbol, message, hint
// <role>    ::= u32 parent, u32 depth, <list> u32 children
// <key>     ::= 32 bytes
// <state>   ::= u32: 1 done, 2 the rank that links has failed
// <nothing> ::=
// <list> x  ::= u32 count, then that many x
#pragma once

#include <cxxabi.h>

#include <cstdint>
#include <exception>
#include <variant>

#include "cluster/error_record.hpp"
#include "cluster/rank_tree.hpp"
#include "fatlink/bytes.hpp"
#include "fatlink/image.hpp"
#include "util/text/sequence.hpp"

namespace fatlink::detail {

/// How the link of a rank ended, as it confirms it.
enum class link_state : std::uint32_t {
  done = 1,      ///< the rank has the image and has used it
  has_no_image,  ///< another rank reports why
};

void write(sequence_writer& writer, linked_image const& image);
void write(sequence_writer& writer, error_record const& record);
void write(sequence_writer& writer, tree_role const& role);
void write(sequence_writer& writer, digest256 const& key);
void write(sequence_writer& writer, link_state state);
void write(sequence_writer& writer, std::monostate nothing);

/// Read what write() wrote. @throws sequence_error it is something else.
void read(sequence_reader& reader, linked_image& image);
void read(sequence_reader& reader, error_record& record);
void read(sequence_reader& reader, tree_role& role);
void read(sequence_reader& reader, digest256& key);
void read(sequence_reader& reader, link_state& state);
void read(sequence_reader& reader, std::monostate& nothing);

/// A content, or the error because of which there is none.
template <typename Content>
using outcome = std::variant<Content, error_record>;

/// What `work` returns, or the error that it throws.
template <typename Content, typename Work>
outcome<Content> attempt(Work const& work)
try {
  return work();
} catch (abi::__forced_unwind const&) {  // the thread is being cancelled
  throw;
} catch (...) {
  return record_error(std::current_exception());
}

/// <outcome> ::= u32 1 <content> | u32 0 <error>
template <typename Content>
byte_buffer encode(outcome<Content> const& result)
{
  sequence_writer writer;
  auto const* const content = std::get_if<Content>(&result);
  writer.number(std::uint32_t{content != nullptr});
  if (content != nullptr)
    write(writer, *content);
  else
    write(writer, std::get<error_record>(result));
  return writer.take();
}

/// @throws sequence_error `bytes` are not an outcome of this type.
template <typename Content>
outcome<Content> decode(bytes_view bytes)
{
  sequence_reader reader(bytes);
  outcome<Content> result;
  auto const has_content = reader.number<std::uint32_t>();
  if (has_content > 1) throw sequence_error("an outcome is neither a content nor an error");
  if (has_content == 1)
    read(reader, result.template emplace<Content>());
  else
    read(reader, result.template emplace<error_record>());
  reader.expect_end();
  return result;
}

}  // namespace fatlink::detail
