// SPDX-License-Identifier: Apache-2.0
// Installed libraries, the selection of those that fit a transform, and preflight of transforms
// without their library: with an installed one, or with findings that state why none can be used.
// Needs neither CUDA nor a GPU. Threads: no shared state.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fatlink/catalogue.hpp"
#include "fatlink/fatbin.hpp"
#include "fatlink/preflight.hpp"

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
/// states a contract: those with this contract in this version; where there are none, those whose
/// contract includes it; where there are none, those with the contract in another version. For one
/// that states none: those that declare a function it defines with the same types, or where there
/// are none, those that call one of its name.
std::vector<installed_library> select_libraries(std::span<installed_library const> libraries,
                                                std::span<fatbin const> transforms);

/// Whether `inputs` lack a library: none of them has a kernel. Inputs without PTX, whose kernels
/// are not known, count only where all inputs are such.
bool lacks_library(std::span<fatbin const> inputs);

/// preflight() of `library` with `transforms`, as select_modules() selects their modules. A missing
/// hook of the library is a warning if the transforms define another hook and no function with a
/// similar name.
/// @throws format_error as preflight.
std::vector<finding> preflight_with(installed_library const& library,
                                    std::span<input const> transforms,
                                    preflight_request const& request);

/// preflight() of `transforms`, for which select_libraries() selects none of `libraries`. Adds the
/// error `not-judged` (no library of the contract, no PTX) or `unused-definition` (no library
/// calls what a transform defines; a warning where the inputs declare hooks of their own).
/// @throws format_error as preflight.
std::vector<finding> preflight_without(std::span<installed_library const> libraries,
                                       std::span<input const> transforms,
                                       preflight_request const& request);

}  // namespace fatlink
