// SPDX-License-Identifier: Apache-2.0
// The options of `fatlink run`, those that name arguments of a launch plan (--input NAME=FILE,
// --set NAME=VALUE, --state NAME=FILE) among them, and how it runs once or again and again.
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/device.hpp"
#include "fatlink/launch_plan.hpp"
#include "link_flags.hpp"
#include "source_inputs.hpp"
#include "verbs.hpp"

namespace fatlink::cli {

/// Adds TRANSFORM without an option.
void add_positional_transforms(CLI::App& verb, std::vector<std::string>& transforms);
/// Adds --library.
void add_library(CLI::App& verb, std::string& library);

/// Adds --transform, which can be repeated; its help ends with `default_value`.
void add_transforms(CLI::App& verb, std::vector<std::string>& transforms);

/// Adds --set, which can be repeated.
void add_set(CLI::App& verb, std::vector<std::string>& values);

/// "did you mean scale? its fields: scale, offset", for `field`, which is none of those of `type`.
std::string field_hint(element_type const& type, std::string const& field);

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

struct run_arguments {
  std::string library;
  std::vector<std::string> positional;  ///< transforms as well
  std::vector<std::string> transforms;
  std::string watched;
  std::string kernel;
  std::string mode = "both";
  std::string device;
  cpu_options cpu;
  std::size_t elements = 65536;
  bool states_elements = false;  ///< whether --elements is given
  plan_texts plan;
  bool compare_cpu = false;
  std::uint64_t seed = 0;
  std::size_t print = 0;
  link_flags link;
  bool resources = false;
  bool json = false;
};

/// Adds the options of the verb to it; `arguments` must live as long as `verb`.
void add_run_arguments(CLI::App& verb, run_arguments& arguments);

/// `arguments` with the positional ones first among the transforms, and with the library that the
/// transforms are for, if none is given: library_for.
/// @throws usage_error a transform is a library, which has a launch plan; as library_for.
run_arguments with_library(run_arguments arguments);

/// Links, executes and verifies. Returns the exit status; prints the report. `compiles` gets
/// what was compiled, also if it throws later.
/// @throws error the inputs, the links or the device.
int run(run_arguments const& arguments, compile_report& compiles);

/// As run() with --transform of the watched file, again after each change of a file that it reads.
/// @throws file_error the file cannot be read at the start. @throws usage_error with --json.
int run_watching(run_arguments arguments);

}  // namespace fatlink::cli
