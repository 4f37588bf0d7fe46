// SPDX-License-Identifier: Apache-2.0
// Usage errors of CLI11 and of the verbs in one form: with the nearest word, and the --help that
// describes the verb.
#pragma once

#include <string>
#include <vector>

#include "fatlink/error.hpp"
#include "verbs.hpp"

namespace fatlink::cli {

/// The error for a first word that is not one of `commands`.
usage_error unknown_command(std::string const& word, std::vector<std::string> const& commands);

/// CLI11's error in the program's form. `app` has parsed the command line.
usage_error translate(CLI::ParseError const& refusal, CLI::App const& app);

/// `failure` with "see fatlink VERB --help" in its hint, for the verb that `app` has parsed.
usage_error add_help(usage_error const& failure, CLI::App const& app);

}  // namespace fatlink::cli
