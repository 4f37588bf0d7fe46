// SPDX-License-Identifier: Apache-2.0
// `fatlink --manual FILE`: the build makes the manual page by it. The page's source,
// host/man/fatlink.1.in, has what no option states of itself.
#pragma once

#include <string>

#include "verbs.hpp"

namespace fatlink::cli {

/// `source`, a page in man(7), with two requests replaced:
///
///   .SYNOPSIS run       how the command is called
///   .OPTIONS run        its options and arguments, except those of every command
///   .OPTIONS TITLE      the options of the group TITLE, and which commands have them
///
/// @throws usage_error there is no such command or group, or the page lacks one of them.
std::string complete_manual(CLI::App const& program, std::string const& source);

}  // namespace fatlink::cli
