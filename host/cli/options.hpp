// SPDX-License-Identifier: Apache-2.0
// Options whose values are checked while the command line is parsed. Each error names the option,
// the value and the accepted values.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "fatlink/error.hpp"
#include "fatlink/target.hpp"
#include "verbs.hpp"

namespace fatlink::cli {

/// Headings of --help-all and sections of the manual for options that several verbs share.
constexpr char const* k_link_group = "Link options";
constexpr char const* k_source_group = "Source options";
/// Headings of a verb's own options; that of options that are added without a group is "Options".
constexpr char const* k_options_group = "Options";
constexpr char const* k_input_group = "What to run";
constexpr char const* k_data_group = "Data";
constexpr char const* k_result_group = "Check results";
constexpr char const* k_reference_device_group = "Reference device options";
constexpr char const* k_more_group = "More options";

/// The description of the inputs of a link.
constexpr char const* k_inputs_help = "the library, then the transforms: installed names or files";

/// The groups of the options of `app`: as they were added, but "Options" last.
std::vector<std::string> all_groups_of(CLI::App const& app);

/// Whether --help leaves the group out, and --help-all shows it.
bool is_group_of_more(std::string const& group);

/// Options that are added to `verb` while it lives belong to `group`.
class group_scope {
 public:
  group_scope(CLI::App& verb, char const* group)
      : defaults_(verb.option_defaults()), before_(defaults_->get_group())
  {
    defaults_->group(group);
  }
  ~group_scope() { defaults_->group(before_); }
  group_scope(group_scope const&) = delete;
  group_scope& operator=(group_scope const&) = delete;

 private:
  CLI::OptionDefaults* defaults_;
  std::string before_;
};

/// Both limits are inclusive.
struct count_range {
  std::uint64_t minimum = 0;
  std::uint64_t maximum = std::numeric_limits<std::uint64_t>::max();
};

/// A whole number in one of the forms of util/text/number.hpp.
/// @throws usage_error it is not a whole number, or out of range.
std::uint64_t parse_count(std::string const& option, std::string const& text, count_range range);

/// Adds an option that takes one count; `Integer`, or the integer of an optional without a default,
/// must be able to hold the range.
template <typename Integer>
CLI::Option* add_count(CLI::App& verb, std::string const& name, Integer& value, count_range range,
                       std::string const& help)
{
  auto const store = [&value, name, range](std::string const& text) {
    auto const count = parse_count(name, text, range);
    if constexpr (std::is_integral_v<Integer>)
      value = static_cast<Integer>(count);
    else
      value = static_cast<typename Integer::value_type>(count);
  };
  auto* const option = verb.add_option_function<std::string>(name, store, help)->type_name("N");
  if constexpr (std::is_integral_v<Integer>) option->default_str(std::to_string(value));
  return option;
}

/// Adds an option that takes several counts, separated by commas.
CLI::Option* add_counts(CLI::App& verb, std::string const& name, std::vector<std::size_t>& values,
                        count_range range, std::string const& help);

/// Adds an option that takes a number of seconds from `minimum` to `maximum`.
CLI::Option* add_seconds(CLI::App& verb, std::string const& name, double& value, double minimum,
                         double maximum, std::string const& help);

/// Adds an option that takes one text and can be repeated. --help and the manual show `type`, by
/// which complete.cpp also knows the values.
template <typename Text>
CLI::Option* add_texts(CLI::App& verb, std::string const& name, std::vector<Text>& values,
                       std::string const& type, std::string const& help)
{
  return verb.add_option(name, values, help)->type_name(type)->allow_extra_args(false);
}

/// Adds an option that takes one of `words`; `value` is its default.
CLI::Option* add_choice(CLI::App& verb, std::string const& name, std::string& value,
                        std::vector<std::string> const& words, std::string const& help);

/// Adds an option without default that takes one of `words` and passes it to `store`.
CLI::Option* add_choice(CLI::App& verb, std::string const& name,
                        std::function<void(std::string const&)> const& store,
                        std::vector<std::string> const& words, std::string const& help);

/// Adds an option without default that takes 0 or 1; `Value`: bool, or an optional one.
template <typename Value>
CLI::Option* add_switch(CLI::App& verb, std::string const& name, Value& value,
                        std::string const& help)
{
  return add_choice(
      verb, name, [&value](std::string const& text) { value = text == "1"; }, {"0", "1"}, help);
}

/// --use-fast-math, a flag that `verb` already has, excludes the options that it stands for.
void exclude_float_flags(CLI::App& verb);

/// Adds an option that takes several of `words`, separated by commas; `values` is its default.
CLI::Option* add_choices(CLI::App& verb, std::string const& name, std::vector<std::string>& values,
                         std::vector<std::string> const& words, std::string const& help);

/// @throws usage_error `text` is not one of `words`; suggests the nearest.
void check_choice(std::string const& option, std::string const& text,
                  std::vector<std::string> const& words);

/// @throws usage_error `text` is neither the name of a device nor a list of them; suggests the
/// nearest.
void check_device(std::string const& text);

/// The commands of the program or of a command.
std::vector<CLI::App const*> commands_of(CLI::App const& app);

/// "-o", "--output": the names of an option, as they are written on the command line.
std::vector<std::string> names_of(CLI::Option const& option);

/// {"ptx", "lto"} of an option that add_choice or add_choices added; else {}.
std::vector<std::string> choices_of(CLI::Option const& option);

/// "FILE": the type of an option's values; of a positional argument without one its name.
std::string value_type_of(CLI::Option const& option);

/// The default as people read it: "cubin, ptx" of the list "[cubin,ptx]"; "" if there is none.
std::string default_of(CLI::Option const& option);

/// Whether it is not a flag.
bool takes_value(CLI::Option const& option);

/// The word that `text` probably means: the only one that begins with it, or the nearest; "" if
/// there is neither.
std::string suggest(std::vector<std::string> const& words, std::string const& text);

/// "; did you mean 'run'?"; "" for an empty word.
std::string did_you_mean(std::string const& word);

/// @throws usage_error
[[noreturn]] void fail_usage(std::string message, std::string const& value, std::string hint,
                             error_code code = error_code::invalid_argument);

/// The targets of `words`, values of --target, in their order, without duplicates: architectures in
/// nvcc's spelling, `native` for the GPUs of this machine, and `all` for every one of CUDA 13.
/// @throws usage_error a word is not a target; suggests the nearest.
/// @throws unavailable_error `native` without a GPU.
std::vector<target> parse_targets(std::vector<std::string> const& words);

/// Adds --target, which takes several targets, separated by commas, and can be repeated; `words` is
/// its default. The meaning of `native` and `all` is added to `help`, and `more` after it.
CLI::Option* add_targets(CLI::App& verb, std::vector<std::string>& words, std::string const& help,
                         std::string const& more = "");

}  // namespace fatlink::cli
