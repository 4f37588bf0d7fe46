// SPDX-License-Identifier: Apache-2.0
// The input forms: which one a file has, and what turns it into fatbins, which the stages after
// this one read. fatbin/recognize_form.hpp recognizes a form by its content. A bare module (PTX,
// LTO-IR, a cubin) becomes a fatbin with one entry; an object gives one for each of its translation
// units; an archive those of its members. Threads: no shared state.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/bytes.hpp"
#include "fatlink/input.hpp"

namespace fatlink::detail {

/// The form that `bytes` begin like, whatever the file is called; nullopt for everything else. The
/// file may be damaged: its reader finds out.
std::optional<input_form> recognize(bytes_view bytes);

/// As above. `name` is the file's, for messages.
/// @throws format_error (stage input) empty-input; unknown-form: names what the file is, the eight
///   forms, and what to do.
input_form require_form(bytes_view bytes, std::string_view name);

/// The bytes of a fatbin.
struct module_bytes {
  std::string name = {};   ///< for messages: "t.ptx", "r.o[2]", "lib.a(b.o)"
  byte_buffer bytes = {};  ///< of one fatbin
};

/// The containers of a fatbin, each of which is a module: `cat a.fatbin b.fatbin` has two. Those
/// without entries are left out; a fatbin that is damaged is one.
std::vector<bytes_view> split_containers(bytes_view fatbin);

/// The modules of `bytes`, a file of the form `form` that messages call `name`. At least one.
/// The members of an archive that hold no device code that can be linked are left out.
/// @throws format_error (stage input) the codes of the form's reader; no-device-code;
///   above-limit: more than 65,536 modules, or 4 GiB of entries once decompressed; unknown-form: an
///   archive inside an archive, or a member that is named as an object and is none.
std::vector<module_bytes> read_modules(bytes_view bytes, input_form form, std::string const& name);

/// The name of a module: "x.ptx"; "r.o[2]", the second translation unit of an object; "lib.a(b.o)",
/// a member of an archive; "lib.a(b.o#2)", the second member of that name.
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
