// SPDX-License-Identifier: Apache-2.0
// The ident: the description of its build that `fatlink_add_fatbin` writes into every entry. It is
// JSON, base64-encoded because it passes through a shell (nvcc -Xfatbin -ident=TEXT):
//   {"fatlink":1,"contract":"apply_transform","version":1,"header_sha256":"<64 hex>",
//    "toolkit":"13.0.88","float":"-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1",
//    "package":"fatlink-transforms 0.1.0","contract_package":"fatlink-runtime 0.1.0",
//    "hooks":{"user_transform":"FffE"},"includes":{"combine_4":1},
//    "elements":{"load_element":{"type":"__half","size":2,"alignment":2}},
//    "entries":["ptx:sm_75 <32 hex>","ltoir:sm_75 <32 hex>"],"check":"<32 hex>"}
// A package is written as its name, followed by a space and its version if that is known. The type
// of a hook is mangled as in the Itanium C++ ABI: FffE is float(float).
//
// "entries" and "check" hold digests, with which readers detect damage (fatbin::is_verified):
//   "entries"  lists all entries of the file, in its order; every ident of the file has the same
//              list. Each item has the kind, the architecture and the digest of the entry's bytes
//              as they are in the file: header and padded payload, without the ident text (from
//              the offset at 0x20 of the header, including its padding). The digest therefore
//              covers kind, architecture, flags, sizes, compression and options.
//   "check"    is the last member: the digest of the JSON text before `,"check":`. It detects
//              changes of the other members.
// Each digest is the first 16 bytes of a SHA-256, in lower-case hex. This keeps the ident small,
// and suffices to detect accidental damage; the digests are not signatures. Readers that do not
// know the two members ignore them.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/element_type.hpp"
#include "fatlink/export.hpp"

namespace FATLINK_API fatlink {

/// The newest format that this fatlink reads.
inline constexpr int k_ident_format = 1;

/// The type of the elements that a hook handles as bytes.
struct ident_element {
  std::string type = {};      ///< as C++ names it: "__half", "best"
  std::size_t size = 0;       ///< bytes, 1 to 4,096
  std::size_t alignment = 0;  ///< bytes, a power of two
};

/// What the ident of an entry states.
struct ident {
  std::string contract = {};       ///< "apply_transform"; empty: built without a CONTRACT
  int version = 0;                 ///< of the contract
  std::string header_sha256 = {};  ///< of the contract's header, lower-case hex; for information
  std::string toolkit = {};        ///< nvcc's version: "13.0.88"
  std::string producer = {};       ///< the compiler, if it was not nvcc: "NVRTC 13.0"
  std::string float_flags = {};    ///< as entries record them
  std::string package = {};        ///< the package that ships this fatbin; empty: unknown
  /// The package that ships a library with this contract, and the first version with it.
  std::string contract_package = {};
  /// The hooks that the contract declares, and their mangled types; empty: not recorded.
  std::map<std::string, std::string> hooks = {};
  /// Other contracts, with their versions, whose hooks the contract declares as well. A library of
  /// this contract takes transforms of these.
  std::map<std::string, int> includes = {};
  /// The types of the elements that hooks handle as bytes (FATLINK_ELEMENT), by hook.
  std::map<std::string, ident_element> elements = {};
  /// Targets ("sm_75") whose LTO-IR and PTX entries come from different files, so that the PTX does
  /// not show the types of the LTO-IR (is_opaque() in preflight.hpp). Written by `fatlink pack`.
  std::vector<std::string> opaque = {};
  /// The format of the ident. If it is above k_ident_format, a newer fatlink is needed, and the
  /// other fields are unknown.
  int format = k_ident_format;
};

/// Decodes an entry's ident text. Returns nullopt for any other text (empty, of another tool,
/// damaged). This is not an error; such an entry has no contract. @throws std::bad_alloc there is
/// no memory.
std::optional<ident> parse_ident(std::string_view text);

/// Whether `size` and `alignment` are possible for an element: `size` is 1 to 4,096 bytes and a
/// multiple of `alignment`, which is a power of two.
bool is_element_size(std::size_t size, std::size_t alignment) noexcept;

/// The type of the elements: float32 for "float", float16 for "__half", complex64 for "float2" and
/// "cuda::std::complex<float>"; opaque bytes of the same size for a type whose members are unknown.
element_type element_type_of(ident_element const& element);

/// The C++ declaration of a hook: "float user_transform(float)" for "user_transform" and "FffE".
/// For a type that is not a simple function type, the name and the mangled type.
std::string hook_declaration(std::string const& name, std::string const& type);

}  // namespace fatlink
