// SPDX-License-Identifier: Apache-2.0
// Usage errors: one form for what CLI11 refuses and for what a verb refuses, with the nearest word
// and the --help that describes it.
#pragma once

#include <string>
#include <vector>

#include "fatlink/error.hpp"
#include "verbs.hpp"

namespace fatlink::cli {

/// A first word that is no command, with the commands there are.
usage_error unknown_command(std::string const& word, std::vector<std::string> const& commands);

/// What CLI11 refused, in the program's words. `app` has parsed the command line.
usage_error translate(CLI::ParseError const& refusal, CLI::App const& app);

/// `failure` with "see fatlink VERB --help" in its hint, for the verb that `app` has parsed.
usage_error add_help(usage_error const& failure, CLI::App const& app);

}  // namespace fatlink::cli
