// SPDX-License-Identifier: Apache-2.0
// Archives, as `ar`, `llvm-ar` and `nvcc -lib` write them, in the GNU (System V) and the BSD
// variant. Units: bytes. Byte table: docs/input_forms.md.
//
//   <archive> ::= "!<arch>\n" { <header> <data> [ "\n" ] }   each header is at an even offset
//   <header>  ::= name[16] date[12] uid[6] gid[6] mode[8] size[10] "`\n"   padded with spaces
//
// Source: GNU binutils and LLVM sources; pinned by tests/unit/input/archives_test.cpp.
// Threads: no shared state.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/bytes.hpp"

namespace fatlink::detail {

struct archive_member {
  std::string name = {};     ///< safe to print; several members may have one name
  std::uint64_t offset = 0;  ///< of `bytes` in the archive
  bytes_view bytes = {};     ///< points into the archive
};

/// The members of `archive` in file order, without symbol tables and the table of long names.
/// `name` is the file's, for messages.
/// @throws format_error (stage input) corrupt-archive, with the byte offset; thin-archive;
///   above-limit: more than 65,536 members.
std::vector<archive_member> read_archive(bytes_view archive, std::string_view name);

}  // namespace fatlink::detail
