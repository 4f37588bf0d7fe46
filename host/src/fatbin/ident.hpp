// SPDX-License-Identifier: Apache-2.0
// What an ident states beyond fatlink/ident.hpp: the identity of its contract, the types of
// elements; and how it is written, in base64. Threads: no shared state.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "fatlink/bytes.hpp"
#include "fatlink/ident.hpp"
#include "fatlink/ptx_interface.hpp"

namespace fatlink::detail {

/// A name as the Itanium C++ ABI mangles it: "float (float)" for "FffE", "void f<int>()" for
/// "_Z1fIiEvv"; empty if `name` is not mangled, or is above a limit of util/limits.hpp: names are
/// untrusted, and references to earlier parts may double the text many times.
std::string demangle(std::string const& name);

/// Whether `ptx` may have records of FATLINK_ELEMENT (kernels/include/fatlink/element.cuh), weak
/// functions fatlink_elements::HOOK<TYPE, SIZE, ALIGNMENT>(): a cheap test before its interface is
/// read.
bool may_record_elements(std::string_view ptx) noexcept;

/// The recorded elements of `interface`, by hook. Of a hook with several records, none.
std::map<std::string, ident_element> element_records(ptx_interface const& interface);

/// "apply_transform/1"
std::string contract_of(ident const& stated);

/// Whether there is an ident, and it states a contract: one of digests only states none.
bool states_contract(std::optional<ident> const& stated);

/// Whether both idents state the same contract: its name, its version, and its hooks with their
/// exact types. If one of them lists no hooks (early versions of
/// fatlink 0.1 wrote none), compares the digests of the headers instead.
bool same_contract(ident const& a, ident const& b);

/// Whether a library of `library`'s contract takes a transform of `transform`'s: its contract has
/// the same name, or includes that contract in the same version.
bool takes_contract(ident const& library, ident const& transform);

/// The first hook, by name, that the two declare differently; empty if one lists no hooks.
std::string differing_hook(ident const& a, ident const& b);

/// "declares float user_transform(float)", or "declares no user_transform".
std::string describe_hook(ident const& stated, std::string const& hook);

/// Whether the contract has this hook; true for an ident without a list of hooks.
bool may_declare(ident const& stated, std::string const& hook);

/// The members of `stated` in the order in which fatlink_add_fatbin writes them, without those that
/// are empty, `elements` and digests, which add_digests() writes. The same ident makes the same
/// text.
std::string encode_ident(ident const& stated);

/// `image`, a fatbin, with `text` as the ident of every entry, in the layout of nvcc's
/// -Xfatbin=-ident=TEXT: after the fixed fields of each entry's header, before the options.
/// Payloads and all other fields are kept. `name` is the file's, for messages.
/// @throws format_error as read_fatbin.
byte_buffer write_ident(bytes_view image, std::string_view text, std::string_view name = "fatbin");

/// Nothing where `text` is not base64 (a stray character, a wrong length, misplaced '=').
std::optional<std::string> decode_base64(std::string_view text);

/// With padding, on one line.
std::string encode_base64(std::string_view bytes);

}  // namespace fatlink::detail
