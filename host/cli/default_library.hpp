// SPDX-License-Identifier: Apache-2.0
// The library that is used where no --library is given.
#pragma once

#include <string>
#include <vector>

namespace fatlink::cli {

/// `library`; if it is empty, the file of the installed library whose contract the transforms
/// state, or --contract, `contract`, for those that are sources. Empty where they state none or
/// that of the shipped library, where no library of it is installed, and where a transform cannot
/// be read, which reading it later reports.
/// @throws usage_error several libraries of the contract are installed; the message lists them.
std::string library_for(std::string const& library, std::vector<std::string> const& transforms,
                        std::string const& contract);

}  // namespace fatlink::cli
