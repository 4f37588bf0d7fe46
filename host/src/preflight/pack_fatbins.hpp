// SPDX-License-Identifier: Apache-2.0
// Combines fatbins of one translation unit into one. Threads: no shared state.
#pragma once

#include <string>
#include <vector>

#include "fatlink/fatbin.hpp"

namespace fatlink::detail {

struct pack_settings {
  std::string name = {};     ///< of the result, for messages
  std::string package = {};  ///< that the ident states; empty: as the modules state it
};

struct packed_fatbin {
  fatbin contents;
  std::vector<std::string> files = {};     ///< for each entry the module that it is from
  std::vector<std::string> warnings = {};  ///< what the ident does not state although a module does
};

/// Payloads stay as they are stored. The same modules in any order give the same bytes.
/// @throws refused_error duplicate-entry, interface-mismatch, contract-mismatch, not-relocatable.
/// @throws file_error an ident of another tool or of a newer fatlink.
/// @throws format_error PTX that does not decompress; above a limit.
packed_fatbin pack_fatbins(std::vector<fatbin> const& modules, pack_settings const& settings);

/// Idents state packages in messages. @throws usage_error `text` is not "NAME" or "NAME VERSION".
void check_package(std::string const& text);

}  // namespace fatlink::detail
