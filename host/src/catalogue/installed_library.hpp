// SPDX-License-Identifier: Apache-2.0
// Installed libraries, and the selection of those that fit a transform.
// Needs neither CUDA nor a GPU. Threads: no shared state.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fatlink/catalogue.hpp"
#include "fatlink/fatbin.hpp"

namespace fatlink {

/// A library of a search path: a fatbin with a kernel and a hook, or a weak default for one.
struct installed_library {
  std::string name = {};
  fatbin contents;
};

/// The libraries on `path`, sorted by name; the first match of a name wins. Omits unreadable files,
/// which list_installed shows. Reads every file.
std::vector<installed_library> read_libraries(std::vector<search_folder> const& path);

/// The elements of `libraries` that `transforms` are for, in the same order. For a transform that
/// states a contract: those with this contract in this version, or where there are none, those with
/// the contract in another version. For one that states none: those that declare a function it
/// defines with the same types, or where there are none, those that call one of its name.
std::vector<installed_library> select_libraries(std::span<installed_library const> libraries,
                                                std::span<fatbin const> transforms);

}  // namespace fatlink
