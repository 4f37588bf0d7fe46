// SPDX-License-Identifier: Apache-2.0
// The names of modules: "x.ptx"; "r.o[2]", the second translation unit of an object; "lib.a(b.o)",
// a member of an archive; "lib.a(b.o#2)", the second member of that name. Threads: no shared state.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fatlink::detail {

struct module_name {
  std::string_view file = {};    ///< "lib.a"
  std::string_view member = {};  ///< "b.o"; empty where the file is no archive
  std::string_view count = {};   ///< "2" of "lib.a(b.o#2)"; else empty
};

/// The parts of `name`, into which they point. A file may have such a name, too: only for messages.
module_name parse_module_name(std::string_view name) noexcept;

/// The name of a member of the archive `file`, the `count`-th of that name, from 1.
std::string name_member(std::string_view file, std::string_view member, std::size_t count);

}  // namespace fatlink::detail
