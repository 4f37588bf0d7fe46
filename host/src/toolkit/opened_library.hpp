// SPDX-License-Identifier: Apache-2.0
// One of the vendor's shared libraries, opened at run time. Threads: no shared state.
#pragma once

#include <string>

#include "toolkit/vendor_library.hpp"
#include "util/files/shared_library.hpp"

namespace fatlink::detail {

struct opened_library {
  shared_library file = {};
  std::string path = {};      ///< the real file
  std::string reason = {};    ///< which rule of the search chose it
  std::string identity = {};  ///< see library_file; empty: the file was replaced since
};

/// Loads the file of `candidate`, and never one that is truncated. Converts to false if it cannot
/// be loaded; `problem` then says why.
shared_library load_library(library_candidate const& candidate, std::string& problem);

/// Opens `candidate` as `library`. Returns why it cannot be used; empty on success. `function`: an
/// exported name, by which the mapped file is compared with the one at the path.
std::string open_library(library_candidate const& candidate, vendor_library const& library,
                         char const* function, opened_library& opened);

/// Looks up the exported `name`. Returns it if it is missing; empty on success.
template <typename Function>
std::string bind(shared_library const& file, char const* name, Function& function)
{
  function = reinterpret_cast<Function>(file.find({name}));
  return function == nullptr ? name : "";
}

}  // namespace fatlink::detail
