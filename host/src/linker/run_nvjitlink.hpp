// SPDX-License-Identifier: Apache-2.0
// The part of a link that needs nvJitLink, in the helper or in this process, including the
// additional links that check what preflight cannot read.
#pragma once

#include <string>
#include <vector>

#include "linker/linker_state.hpp"
#include "nvjitlink/link_in_process.hpp"

namespace fatlink::detail {

struct nvjitlink_run {
  link_product product;
  std::string identity;               ///< of the nvJitLink that linked; empty: unknown
  double open_ms = 0;                 ///< time to open nvJitLink or start the helper
  std::vector<std::string> warnings;  ///< about the helper, not about the product
};

/// Links `inputs`, which passed preflight. `file`: the nvJitLink that was located; empty: searches.
/// @throws what linker::link throws.
nvjitlink_run run_nvjitlink(linker_state& linker, std::vector<fatbin> const& inputs,
                            link_options const& options, nvjitlink_file const& file);

/// What link() finds by additional links before it links `inputs`, which passed preflight.
/// @throws what linker::link throws.
std::vector<finding> check_with_nvjitlink(linker_state& linker, std::vector<fatbin> const& inputs,
                                          link_options const& options, nvjitlink_file const& file);

/// The text of a warning in linked_image::warnings.
std::string describe_warning(finding const& warning);

/// Whether `findings` contain an error, which stops a link.
bool has_error(std::vector<finding> const& findings);

}  // namespace fatlink::detail
