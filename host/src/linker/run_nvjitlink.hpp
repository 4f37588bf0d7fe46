// SPDX-License-Identifier: Apache-2.0
// The part of a link that needs nvJitLink: in the helper or in this process, with the links that
// check what preflight cannot read.
#pragma once

#include <string>
#include <vector>

#include "linker/linker_state.hpp"
#include "nvjitlink/link_in_process.hpp"

namespace fatlink::detail {

struct nvjitlink_run {
  link_product product;
  std::string identity;               ///< of the nvJitLink that linked; empty: not known
  double open_ms = 0;                 ///< opening it, or starting its helper
  std::vector<std::string> warnings;  ///< of how it ran, not of the product
};

/// Links `inputs`, which passed preflight, with the nvJitLink of `file`, or with the one that is
/// found where that is empty.
/// @throws as linker::link.
nvjitlink_run run_nvjitlink(linker_state& linker, std::vector<fatbin> const& inputs,
                            link_options const& options, nvjitlink_file const& file);

/// Whether one of `findings` stops a link.
bool has_error(std::vector<finding> const& findings);

}  // namespace fatlink::detail
