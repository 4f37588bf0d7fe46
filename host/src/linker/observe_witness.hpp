// SPDX-License-Identifier: Apache-2.0
// Links one opaque input with a witness (witness_ptx.hpp) and reads what nvJitLink reports of the
// names that both have. Measured with nvJitLink 13.0 to 13.5. Threads: no shared state.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "fatlink/linker.hpp"
#include "linker/link_function.hpp"

namespace fatlink::detail {

struct witness_observation {
  std::set<std::string> mismatched;  ///< of another type, size or memory space
  std::set<std::string> undefined;   ///< neither the input nor the witness defines it
};

/// What the link of `input` with `witness`, PTX, reports. `texts`: the result of check_options().
/// @throws link_error the link failed for another reason.
witness_observation observe_witness(fatbin const& input, std::string const& witness,
                                    link_options const& options,
                                    std::vector<std::string> const& texts,
                                    link_function const& link);

}  // namespace fatlink::detail
