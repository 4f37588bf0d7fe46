// SPDX-License-Identifier: Apache-2.0
// Installed fatbins by name: NAME.fatbin in the folders of a search path. The first match wins.
// Needs neither CUDA nor a GPU. Threads: no shared state.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/export.hpp"
#include "fatlink/finding.hpp"
#include "fatlink/ident.hpp"
#include "fatlink/search_path.hpp"
#include "fatlink/target.hpp"

namespace FATLINK_API fatlink {

/// Whether `text` is a name to look up, not a file: it has no slash and no ending ".fatbin".
bool is_fatbin_name(std::string_view text) noexcept;

/// Whether input::find looks `text` up: a name (is_fatbin_name) without the ending of another input
/// file: .ptx, .ltoir, .cubin, .o, .a, .so, .cu, .ll or .bc.
bool is_input_name(std::string_view text) noexcept;

/// The first NAME.fatbin on `path`. @throws file_error there is none; lists the folders and a
/// similar name.
std::filesystem::path find_fatbin(std::string const& name, std::vector<search_folder> const& path);

/// The role of a fatbin: the kernels of a library call hooks, a transform defines functions;
/// `other` does neither, or has no PTX that shows it.
enum class fatbin_role { library, transform, other };
/// "library", "transform", "other".
char const* to_string(fatbin_role role) noexcept;

/// A library that a transform is for.
struct fitting {
  std::string library = {};            ///< its name
  std::vector<finding> findings = {};  ///< errors for any target; empty: they work together
};

/// A fatbin on the search path.
struct installed_fatbin {
  std::string name = {};                 ///< name without the ending .fatbin
  std::filesystem::path file = {};       ///< path of the fatbin
  search_folder folder = {};             ///< the folder that holds the fatbin
  std::filesystem::path hidden_by = {};  ///< the file used instead; empty: none
  /// The reason why it cannot be used: damaged, or refused because of its sidecar. The fields below
  /// may then be unknown.
  std::string problem = {};
  fatbin_role role = fatbin_role::other;      ///< library, transform or other
  std::optional<fatlink::ident> ident = {};   ///< the ident, if the fatbin has one
  std::vector<fatlink::target> targets = {};  ///< targets of its entries, each once
  std::vector<std::string> symbols = {};      ///< a library's hooks, a transform's definitions
  std::string summary = {};                   ///< from its sidecar
  /// For a transform: every library in use of its contract's name; where one of the two states no
  /// contract, those with a hook that it defines.
  std::vector<fitting> libraries = {};
};

/// All fatbins on the path, sorted by name, then in search order. Reads every file.
std::vector<installed_fatbin> list_installed(std::vector<search_folder> const& path);

}  // namespace fatlink
