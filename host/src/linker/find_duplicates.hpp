// SPDX-License-Identifier: Apache-2.0
// Finds symbols that opaque inputs define twice. LTO-IR does not show its symbols, so preflight
// cannot. nvJitLink reports a second definition in two ways, measured with 13.0, 13.1 and 13.3:
//   1. LTO-IR and LTO-IR: the link fails with NVJITLINK_ERROR_NVVM_COMPILE, and its log names the
//      symbol and the later of the two files: "b.ltoir: link error: error: Linking globals named
//      'f': symbol multiply defined!". Inputs are added in order, so exactly one before it defines
//      the symbol too. Costs nothing where the link succeeds.
//   2. LTO-IR and PTX or SASS (allow_calls): the link succeeds, and ignores one of the two. A link
//      of the LTO-IR with a witness that only declares the function shows whether it defines it.
// Threads: no shared state.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fatlink/linker.hpp"
#include "linker/link_function.hpp"

namespace fatlink::detail {

/// A second definition that nvJitLink's log reports.
struct reported_duplicate {
  std::string symbol;
  std::string file;  ///< the name of the later of the two inputs
};

/// The first second definition that `log` reports.
std::optional<reported_duplicate> read_duplicate(std::string const& log);

/// The finding duplicate-symbol for the second definition that `log`, of a failed link of `inputs`,
/// reports; nothing if it reports none, or of an input that is not there. Links halves of the
/// opaque inputs to find the first definition, if several may hold it.
std::vector<finding> find_reported_duplicate(std::string const& log,
                                             std::vector<fatbin> const& inputs,
                                             link_options const& options,
                                             link_function const& link);

/// The findings duplicate-symbol for hooks that an opaque input defines and another as PTX or SASS.
/// Links each opaque input once more if an input linked as PTX or SASS defines a hook that another
/// one declares; else nothing. @throws link_error an additional link failed for another reason.
std::vector<finding> find_ignored_duplicates(std::vector<fatbin> const& inputs,
                                             link_options const& options,
                                             link_function const& link);

}  // namespace fatlink::detail
