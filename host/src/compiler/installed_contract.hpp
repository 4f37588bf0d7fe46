// SPDX-License-Identifier: Apache-2.0
// Installed contracts: contracts/NAME.json and the header that it names, in the folders of the
// search path (fatlink/search_path.hpp). fatlink_add_contract writes the .json:
//   {"fatlink_contract":1,"contract":"apply_transform","version":1,
//    "header":"apply_transform/apply_transform.cuh","hooks":["user_transform"],
//    "package":"fatlink-runtime 0.1.0"}
// "header" is relative to the .json, and stays below its folder. Also what is wrong with a use of
// the macros of <fatlink/typed_hooks.cuh>, which define the hooks of the contracts of algorithms.
// Threads: no shared state.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fatlink::detail {

struct installed_contract {
  std::string name = {};
  int version = 0;
  std::string header_name = {};  ///< "apply_transform.cuh"
  std::string header_path = {};  ///< where it was read, for messages
  std::string header_text = {};
  std::string folder = {};              ///< of the .json, in which the header is
  std::string header_below = {};        ///< the header's path in that folder
  std::vector<std::string> hooks = {};  ///< names, as declared
  /// Contracts whose hooks it declares as well, with their versions.
  std::map<std::string, int> includes = {};
  std::string package = {};  ///< that ships the library; empty: unknown

  /// "apply_transform/1"
  [[nodiscard]] std::string title() const;
  /// The declaration of `hook` in the header, in one line, up to its ";"; empty if a macro or
  /// another header declares it.
  [[nodiscard]] std::string declaration_of(std::string const& hook) const;
  /// "the contract apply_transform/1 declares: …", or where the declaration is.
  [[nodiscard]] std::string declaration_hint(std::string const& hook) const;
};

/// The first contract `name` on the search path.
/// @throws file_error (not_installed) there is none: the log lists the folders, the hint names
///   that of a library of this name, or a similar one; (invalid_contract) it is malformed;
///   unreadable.
installed_contract find_contract(std::string const& name);

/// The folders DATA/include of the search path and of installed data, where there is one: headers
/// of fatlink and of packages, for <fatlink/element.cuh>.
std::vector<std::filesystem::path> data_include_folders();

/// The names of all installed contracts, sorted.
std::vector<std::string> list_contracts();

/// The names of installed contracts whose header has the identifier `word`, sorted. Contracts that
/// cannot be read have none.
std::vector<std::string> contracts_with(std::string_view word);

/// The installed contract for which `source` defines hooks with macros: "combine_4" of
/// FATLINK_COMBINE(float, a, b); load_combine_4 with FATLINK_LOAD as well. Empty: it uses no macro,
/// those of several contracts or sizes, or a type of unknown size; or it includes the header that
/// defines the macros itself.
std::string contract_of_macros(std::string_view source);

/// Of a compile that failed: a macro in `log` that does not exist, or defines a hook of another
/// contract; or the contract for the size of the type. `contract`: null for none. Empty where the
/// log has no macro, or nothing is known to be wrong with it.
std::string macro_hint(std::string_view log, installed_contract const* contract);

/// The installed contracts by the hooks that they declare, each list sorted. Contracts that cannot
/// be read have none.
std::map<std::string, std::vector<std::string>> contracts_by_hook();

/// "keep is a hook of keep_4 and keep_store_4: pass a library with one of them: select_4"; empty
/// where `function` is no hook of another installed contract, or `contract` has it.
std::string other_contract_hint(std::string const& function, installed_contract const& contract);

/// "FATLINK_COMBINE(type, a, b) { … }", which defines `hook` of `contract`; empty where no macro
/// does.
std::string macro_of(std::string_view hook, installed_contract const& contract);

}  // namespace fatlink::detail
