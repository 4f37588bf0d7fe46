// SPDX-License-Identifier: Apache-2.0
// What code is, as JSON and as text: the entries of a fatbin, the resources of its kernels
// (--resources), and what the sidecar of an input states of its hooks, its elements and its state.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fatlink/fatbin.hpp"
#include "fatlink/input.hpp"
#include "fatlink/resources.hpp"
#include "verbs.hpp"

namespace fatlink::cli {

/// "ptx:sm_75".
std::string entry_name(fatbin_entry const& entry);
/// Of all entries, separated by `separator`.
std::string entry_names(fatbin const& code, char const* separator);

/// "reduce/1"; "none" of a fatbin whose ident states no contract.
std::string contract_name(fatbin const& code);

/// Adds --resources.
void add_resources(CLI::App& verb, bool& resources);

/// @throws usage_error --resources with images that are PTX: `cause` says why, `remedy` what to do.
[[noreturn]] void refuse_resources(std::string const& cause, std::string const& remedy);

/// A list of "kernel_resources" in docs/schemas/common.json. What is not known is absent.
nlohmann::json describe_resources(std::vector<kernel_resources> const& kernels);

/// Prints a line for each kernel, after `indentation`; `kernels`: a list that describe_resources
/// returned.
void print_resources(nlohmann::json const& kernels, char const* indentation);

/// The reference beside `file`, as docs/schemas/common.json describes it; null without one. Where
/// it cannot be used, "problem" says why: nothing that shows files depends on their references.
nlohmann::json describe_reference(std::filesystem::path const& file);
nlohmann::json describe_reference(input const& file);  ///< as above

/// One line for each hook, number of the state, element and error model: a title and a text, both
/// printable. `reference`: as describe_reference, not null.
std::vector<std::pair<std::string, std::string>> reference_lines(nlohmann::json const& reference);

}  // namespace fatlink::cli
