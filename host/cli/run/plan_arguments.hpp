// SPDX-License-Identifier: Apache-2.0
// The options of `fatlink run` that name arguments of a launch plan: --input NAME=FILE,
// --set NAME=VALUE, --state NAME=FILE.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/launch_plan.hpp"
#include "verbs.hpp"

namespace fatlink::cli {

/// Adds --set, which can be repeated.
void add_set(CLI::App& verb, std::vector<std::string>& values);

/// "NAME=REST" of an option that can be repeated.
struct named_text {
  std::string name = {};
  std::string text = {};
};

/// @throws usage_error an element is not NAME=TEXT, or a name is stated twice.
std::vector<named_text> parse_named(char const* option, std::vector<std::string> const& texts);

/// "did you mean scale? its fields: scale, offset", for `field`, which is none of `names`.
std::string field_hint(std::vector<std::string> const& names, std::string const& field);

/// The arguments of a plan that the command line states.
struct plan_arguments {
  std::map<std::string, std::string> inputs = {};    ///< .npy files by argument
  std::map<std::string, std::string> outputs = {};   ///< .npy files to write, by argument
  std::map<std::string, std::string> expected = {};  ///< .npy files to compare with, by argument
  std::map<std::string, std::string> states = {};    ///< files of bytes, by argument
  /// Values and sizes by argument; of structs and states an object of the fields that are set.
  std::map<std::string, nlohmann::json> values = {};
  /// Those whose type the plan leaves to the transforms.
  std::set<std::string> of_transforms = {};
};

/// Texts of options as they are on the command line.
struct plan_texts {
  std::vector<std::string> inputs = {};
  std::vector<std::string> outputs = {};
  std::vector<std::string> expected = {};
  std::vector<std::string> states = {};
  std::vector<std::string> values = {};
};

/// `plan` as its library states it, without the types that transforms bind.
/// A file without NAME= is that of the only argument of its role.
/// @throws usage_error a name that is no argument of the plan of this role (did you mean), one that
///   is stated twice, or a value that is no number.
plan_arguments match_arguments(launch_plan const& plan, plan_texts const& texts);

}  // namespace fatlink::cli
