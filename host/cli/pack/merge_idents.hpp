// SPDX-License-Identifier: Apache-2.0
// The ident of a fatbin that is packed from several: a member stays if every one of them states it
// with the same value. Threads: no shared state.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fatlink/preflight.hpp"

namespace fatlink::cli {

struct merged_ident {
  nlohmann::json members = {};             ///< without those about the entries
  std::vector<std::string> warnings = {};  ///< a contract that is not stated any more

  /// The ident text. An empty `package` keeps that of the modules; `opaque` as in ident.hpp.
  [[nodiscard]] std::string encode(std::string const& package,
                                   std::vector<std::string> const& opaque) const;
};

/// `result` names the packed fatbin. Appends a contract-mismatch for two different contracts. A
/// contract that some modules do not state is not kept, because their types were not compared
/// with it.
/// @throws file_error (foreign-ident) an ident of another tool, or of a newer fatlink.
merged_ident merge_idents(std::vector<fatbin> const& modules, std::string const& result,
                          std::vector<finding>& findings);

}  // namespace fatlink::cli
