// SPDX-License-Identifier: Apache-2.0
// Installed contracts, as JSON and as text: `fatlink list --kind contract` and `fatlink inspect
// --contract NAME`. Also the form of names that differ in the size of their elements only:
// reduce_{1,2,4}.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace fatlink::cli {

/// "reduce_{1,2,4}" of reduce_1, reduce_2 and reduce_4, which differ in their sizes only; a single
/// name as it is.
std::string family_name(std::vector<std::string> const& names);

/// "combine_N" of combine_4; another name as it is.
std::string name_of_any_size(std::string const& name);

/// The installed contract `name`, as docs/schemas/common.json describes it.
/// @throws file_error as detail::find_contract.
nlohmann::json describe_contract(std::string const& name);

/// All installed contracts, sorted, or those of `names`. Of one that cannot be read, "problem" says
/// why.
/// @throws file_error one of `names` is not installed.
nlohmann::json describe_contracts(std::vector<std::string> names);

/// Prints what describe_contract returned.
void print_contract(nlohmann::json const& contract);

/// Prints what describe_contracts returned: contracts that differ in their sizes only as one.
void print_contracts(nlohmann::json const& contracts, bool in_detail);

}  // namespace fatlink::cli
