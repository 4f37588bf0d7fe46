// SPDX-License-Identifier: Apache-2.0
// Checks by additional links of what an opaque input (LTO-IR without PTX that describes it) defines
// and calls, which preflight cannot read. Threads: no shared state.
//
// Types, by two links, measured with nvJitLink 13.0 and 13.5:
//   1. To PTX, without optimisation. The PTX shows which functions the input's kernels call or take
//      the address of, defined or not. It shows nothing for an input without kernels.
//   2. With a witness: PTX that defines and calls the functions with the types that the readable
//      inputs state. nvJitLink compares the prototypes of LTO-IR and PTX. It does not see functions
//      that the input both defines and calls from its kernels, because they are inlined first.
// Neither link distinguishes float from int of the same width, and neither sees a __forceinline__
// function that the input's kernels call. The second does not compare alignments.
//
// Symbols that are defined twice, which nvJitLink reports in two ways, measured with 13.0, 13.1 and
// 13.3:
//   1. LTO-IR and LTO-IR: the link fails with NVJITLINK_ERROR_NVVM_COMPILE, and its log names the
//      symbol and the later of the two files: "b.ltoir: link error: error: Linking globals named
//      'f': symbol multiply defined!". Inputs are added in order, so exactly one before it defines
//      the symbol too. Costs nothing where the link succeeds.
//   2. LTO-IR and PTX or SASS (allow_calls): the link succeeds, and ignores one of the two. A link
//      of the LTO-IR with a witness that only declares the function shows whether it defines it.
//
// Kernels and variables to keep (link_options::kernels and ::variables): nvJitLink ignores names
// that nothing has, and succeeds with an image without kernels.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fatlink/linker.hpp"
#include "linker/check_links.hpp"

namespace fatlink::detail {

/// Checks each opaque input. Returns only errors: signature-mismatch, missing-hook,
/// missing-variable, unchecked-types. Links nothing if every input is readable.
/// @throws link_error an additional link failed for another reason.
std::vector<finding> check_opaque_types(std::vector<fatbin> const& inputs,
                                        link_options const& options, link_function const& link);

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

/// unknown-kernel and unknown-variable of links with opaque inputs, which preflight cannot judge:
/// if a name is not in the PTX of the readable inputs, the opaque ones are linked without
/// optimization, each by itself. @throws link_error an additional link failed.
std::vector<finding> find_unknown_symbols(std::vector<fatbin> const& inputs,
                                          link_options const& options, link_function const& link);

/// After the link. `image`: a cubin, or the emitted PTX.
/// @throws refused_error unknown-kernel, unknown-variable: the image lacks a name.
void check_kept(bytes_view image, std::vector<fatbin> const& inputs, link_options const& options);

}  // namespace fatlink::detail
