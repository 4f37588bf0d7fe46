// SPDX-License-Identifier: Apache-2.0
// What is installed, by name: NAME.fatbin in the folders of a search path, of which the first that
// has it is used. Needs neither CUDA nor a GPU. Threads: no shared state.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/export.hpp"
#include "fatlink/ident.hpp"
#include "fatlink/preflight.hpp"
#include "fatlink/search_path.hpp"
#include "fatlink/target.hpp"

namespace FATLINK_API fatlink {

/// Whether `text` is a name to look up, not a file: it has no slash and no ending ".fatbin".
bool is_fatbin_name(std::string_view text) noexcept;

/// The NAME.fatbin that goes first. @throws file_error there is none; lists the folders, and names
/// what is installed and like it.
std::filesystem::path find_fatbin(std::string const& name, std::vector<search_folder> const& path);

/// What a fatbin is there for: a library's kernels call hooks, a transform defines functions;
/// `other` does neither, or has no PTX to tell by.
enum class fatbin_role { library, transform, other };
/// "library", "transform", "other".
char const* to_string(fatbin_role role) noexcept;

/// A library that a transform is for.
struct fitting {
  std::string library = {};            ///< its name
  std::vector<finding> findings = {};  ///< errors, whatever the target; none: they work together
};

/// A fatbin on the search path.
struct installed_fatbin {
  std::string name = {};                 ///< name without the ending .fatbin
  std::filesystem::path file = {};       ///< path of the fatbin
  search_folder folder = {};             ///< the folder that holds the fatbin
  std::filesystem::path hidden_by = {};  ///< the file of that name that goes before; empty: none
  /// Why it cannot be used: damaged, or refused for its .json; what is below may be unknown then.
  std::string problem = {};
  fatbin_role role = fatbin_role::other;      ///< library, transform or other
  std::optional<fatlink::ident> ident = {};   ///< the ident, if the fatbin has one
  std::vector<fatlink::target> targets = {};  ///< it has entries for, each once
  std::vector<std::string> symbols = {};      ///< a library's hooks, a transform's definitions
  std::string summary = {};                   ///< of the .json beside it
  /// Of a transform: every library in use that has its contract's name, or a hook it defines.
  std::vector<fitting> libraries = {};
};

/// All that the path has, sorted by name, then in the order searched. Reads every file.
std::vector<installed_fatbin> list_installed(std::vector<search_folder> const& path);

}  // namespace fatlink
