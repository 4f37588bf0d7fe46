// SPDX-License-Identifier: Apache-2.0
// nvJitLink's options of every verb that links: the fields of link_options as flags. Values are
// checked while the command line is parsed, the rest by check_link_options.
#pragma once

#include <string>

#include "fatlink/link_options.hpp"
#include "verbs.hpp"

namespace fatlink::cli {

/// Adds --ftz, --prec-div, --prec-sqrt, --fma and --use-fast-math, which set `options`.
void add_float_flags(CLI::App& verb, link_options& options);

/// Adds those of add_float_flags, --keep-variable, --drop-unused-variables, --max-registers, -O,
/// --fast-compile, --line-info,
/// --debug, --stack-protector, --latest-nvvm, --threads, --no-driver-cache,
/// --ptxas and --nvvm, which set `options`.
void add_option_flags(CLI::App& verb, link_options& options);

/// Adds --kernel, which can be repeated.
void add_kernels(CLI::App& verb, std::vector<std::string>& kernels, std::string const& help);

}  // namespace fatlink::cli
