// SPDX-License-Identifier: Apache-2.0
// The ident: what `fatlink_add_fatbin` writes into every entry about how it was built,
// base64-encoded JSON (it passes through a shell; nvcc's -Xfatbin -ident=TEXT):
//   {"fatlink":1,"contract":"apply_transform","version":1,"header_sha256":"<64 hex>",
//    "toolkit":"13.0.88","float":"-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1"}
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fatlink {

struct ident {
  std::string contract;       ///< "apply_transform"; empty: built without a CONTRACT
  int version = 0;            ///< of the contract
  std::string header_sha256;  ///< of the contract's header, lower-case hex
  std::string toolkit;        ///< nvcc's version: "13.0.88"
  std::string float_flags;    ///< as entries record them
};

/// Decodes an entry's ident text. Anything that is not ours (empty, another tool's text,
/// damaged) is no ident, which is not an error: the entry is then uncontracted.
std::optional<ident> parse_ident(std::string_view text) noexcept;

}  // namespace fatlink
