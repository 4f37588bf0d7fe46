// SPDX-License-Identifier: Apache-2.0
// Finds installed fatbins by name: NAME.fatbin in the folders of a search path. The first match
// wins. Needs neither CUDA nor a GPU. Threads: no shared state.
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

/// Whether `text` is a name to look up rather than a file: it has no slash and does not end in
/// ".fatbin".
bool is_fatbin_name(std::string_view text) noexcept;

/// Whether input::find looks `text` up by name: is_fatbin_name is true, and `text` does not end in
/// .ptx, .ltoir, .cubin, .o, .a, .so, .cu, .ll or .bc.
bool is_input_name(std::string_view text) noexcept;

/// The first NAME.fatbin on `path`. @throws file_error no folder has it; the error lists the
/// folders and a similar name.
std::filesystem::path find_fatbin(std::string const& name, std::vector<search_folder> const& path);

/// The role of a fatbin. The kernels of a `library` call hooks; a `transform` defines functions. A
/// fatbin is `other` if it does neither, or if it has no PTX that would show it.
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
  /// Why the fatbin cannot be used: it is damaged, or its sidecar does not fit. Empty: no problem.
  /// If there is one, the fields below may be unknown.
  std::string problem = {};
  fatbin_role role = fatbin_role::other;      ///< library, transform or other
  std::optional<fatlink::ident> ident = {};   ///< the ident, if the fatbin has one
  std::vector<fatlink::target> targets = {};  ///< targets of its entries, each once
  std::vector<std::string> symbols = {};      ///< a library's hooks, a transform's definitions
  std::string summary = {};                   ///< from its sidecar
  /// For a transform: the libraries in use whose contract has the same name. If the transform or
  /// the library states no contract: libraries with a hook that the transform defines.
  std::vector<fitting> libraries = {};
};

/// All fatbins on the path, sorted by name, then in search order. Reads every file.
std::vector<installed_fatbin> list_installed(std::vector<search_folder> const& path);

}  // namespace fatlink
