// SPDX-License-Identifier: Apache-2.0
#include "plan/read_plan.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "expression/words.hpp"
#include "fatbin/json_file.hpp"
#include "fatbin/sidecar.hpp"
#include "fatlink/error.hpp"
#include "fatlink/launch_plan.hpp"
#include "input/find_sidecar.hpp"
#include "plan/bind_types.hpp"
#include "plan/plan_formulas.hpp"
#include "util/limits.hpp"
#include "util/text/format.hpp"
#include "util/text/nearest.hpp"

namespace fatlink::detail {
namespace {

/// The struct types of a plan, by name.
using plan_types = std::map<std::string, element_type>;

constexpr std::array k_taken_names{"min",           "max",       "ceil",
                                   "sizeof",        "occupancy", "multiprocessors",
                                   "shared_memory", "element",   "index"};

/// @throws file_error (at `place`) `name` has a meaning of its own in formulas.
void check_free_name(json_place const& place, std::string const& name)
{
  place.check_identifier(name);
  if (std::ranges::find(k_taken_names, name) != k_taken_names.end() || parse_element_type(name))
    place.fail(detail::format("\"{}\" has a meaning of its own in formulas", name),
               "choose another name");
}

/// "types"; none if it is missing.
plan_types read_types(json_place const& plan)
{
  plan_types types;
  auto const place = plan.find("types");
  if (!place) return types;
  for (auto const& [name, fields] : place->members(limits::k_plan_parts)) {
    check_free_name(fields, name);
    types.emplace(name, read_record(fields, name, {"name", "type"}));
  }
  return types;
}

void check_integer(json_place const& place, element_type const& type)
{
  auto const& value = place.value();
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() >
          static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    if (type.kind == scalar_kind::uint64) return;
  } else if (value.is_number_integer() && fits(value.get<std::int64_t>(), type)) {
    return;
  }
  place.fail(detail::format("{} is not a value of {}", value.dump(), to_string(type)),
             "write a whole number in the range of the type");
}

void check_real(json_place const& place)
{
  auto const& value = place.value();
  if (value.is_number()) return;
  if (value.is_string() && (value == "inf" || value == "-inf" || value == "nan")) return;
  place.fail(detail::format("{} is not a number", value.dump()),
             R"(write a number, or "inf", "-inf" or "nan")");
}

void check_complex(json_place const& place)
{
  if (place.value().is_number()) return;
  if (!place.value().is_array() || place.value().size() != 2)
    place.fail("is not a complex number",
               "write the real and the imaginary part: [1, 0], or a number");
  for (auto const& part : place.elements(2)) check_real(part);
}

void check_number(json_place const& place, element_type const& type)
{
  if (is_integer(type))
    check_integer(place, type);
  else if (type.kind == scalar_kind::complex64 || type.kind == scalar_kind::complex128)
    check_complex(place);
  else
    check_real(place);
}

void check_record(json_place const& place, element_type const& type)
{
  std::vector<std::string> names;
  for (auto const& field : type.fields) names.push_back(field.name);
  place.check_keys(names);
  for (auto const& field : type.fields) check_number(place.member(field.name), field.type);
}

/// Of a type that is not known yet.
void check_null(json_place const& place)
{
  if (!place.value().is_null())
    place.fail("the default of an input is null", "write null, or remove it");
}

void check_any(json_place const& place)
{
  if (place.value().is_object())
    for (auto const& [name, member] : place.members(limits::k_plan_parts)) {
      if (member.value().is_array())
        check_complex(member);
      else
        check_real(member);
    }
  else if (place.value().is_array())
    check_complex(place);
  else
    check_real(place);
}

/// plan_argument::default_value: the JSON text of a whole number in range (sizes and integers), a
/// number, "inf", "-inf" or "nan" in quotes (floating point), an array of two numbers or a number
/// (complex), or an object with one of these for each field (structs). Of the type that a transform
/// binds, any of these; of an input, null. @throws file_error it is none of them, or `argument` is
/// of bytes without meaning.
std::string read_default(json_place const& place, plan_argument const& argument)
{
  if (argument.role == argument_role::input)
    check_null(place);
  else if (!argument.type)
    check_any(place);
  else if (argument.type->kind == scalar_kind::record)
    check_record(place, *argument.type);
  else if (argument.type->kind == scalar_kind::bytes)
    place.fail("bytes without meaning have no default", "remove it, or state a struct type");
  else
    check_number(place, *argument.type);
  if (argument.role == argument_role::size && !place.value().is_number_integer())
    place.fail("a size is a whole number", "write a whole number");
  if (argument.role == argument_role::size && place.value().is_number_unsigned() &&
      place.value().get<std::uint64_t>() >
          static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    place.fail("is above 2^63 - 1", "write a smaller size");
  return place.value().dump();
}

constexpr std::array k_roles{argument_role::input, argument_role::output, argument_role::scratch,
                             argument_role::size,  argument_role::value,  argument_role::state};
constexpr std::size_t k_most_dimensions = 8;
constexpr std::uint64_t k_largest_alignment = 4096;  // bytes

argument_role read_role(json_place const& place)
{
  auto const text = place.text();
  std::vector<std::string> names;
  for (auto const role : k_roles) {
    if (text == to_string(role)) return role;
    names.emplace_back(to_string(role));
  }
  place.fail_unknown("role", text, names);
}

bool is_array(argument_role role)
{
  return role == argument_role::input || role == argument_role::output ||
         role == argument_role::scratch;
}

/// The keys that an argument of `role` has beside name and role.
std::vector<std::string> keys_of(argument_role role)
{
  std::vector<std::string> keys{"name", "role"};
  if (role != argument_role::state) keys.emplace_back("type");
  if (role != argument_role::size) keys.emplace_back("hook");
  if (is_array(role)) keys.insert(keys.end(), {"count", "shape"});
  if (role == argument_role::input || role == argument_role::output || role == argument_role::state)
    keys.emplace_back("alignment");
  if (role == argument_role::output) keys.insert(keys.end(), {"length", "may_overlap"});
  if (role == argument_role::value || role == argument_role::size || role == argument_role::input)
    keys.emplace_back("default");
  if (role == argument_role::size) keys.insert(keys.end(), {"maximum", "limit"});
  return keys;
}

void check_keys(json_place const& place, argument_role role)
{
  static std::vector<std::string> const all{"name",  "role",      "type",        "count",
                                            "shape", "length",    "may_overlap", "default",
                                            "hook",  "alignment", "maximum",     "limit"};
  place.check_keys(all);
  auto const keys = keys_of(role);
  for (auto const& [key, ignored] : place.value().items())
    if (std::ranges::find(keys, key) == keys.end())
      place.fail(detail::format("\"{}\" has no meaning for an argument of the role {}", key,
                                to_string(role)),
                 "remove it, or state another role");
}

element_type read_size_type(json_place const& argument)
{
  auto const place = argument.find("type");
  if (!place) return scalar_type(scalar_kind::uint64);
  auto const text = place->text();
  auto const type = parse_element_type(text);
  if (!type || !is_integer(*type) || type->size < 4)
    place->fail_unknown("type of a size", text, {"uint64", "uint32", "int64", "int32"});
  return *type;
}

/// Nothing for "element".
std::optional<element_type> read_type(json_place const& place, plan_types const& types)
{
  auto const text = place.text();
  if (text == "element") return std::nullopt;
  if (auto const record = types.find(text); record != types.end()) return record->second;
  if (auto type = parse_element_type(text)) return type;
  std::vector<std::string> names{"element", "bytes8"};
  for (auto kind = scalar_kind::float16; kind != scalar_kind::bytes;
       kind = static_cast<scalar_kind>(static_cast<int>(kind) + 1))
    names.emplace_back(to_string(kind));
  for (auto const& [name, record] : types) names.push_back(name);
  place.fail_unknown("type", text, names);
}

std::vector<formula_text> read_extents(json_place const& place)
{
  std::vector<formula_text> shape;
  for (auto const& extent : place.elements(k_most_dimensions)) shape.push_back(extent.formula());
  if (shape.empty()) place.fail("has no extent", R"(write at least two: ["height", "width"])");
  if (shape.size() == 1)
    place.fail("has one extent", detail::format(R"(write "count": "{}" instead)", shape[0]));
  return shape;
}

std::vector<formula_text> read_shape(json_place const& argument, argument_role role)
{
  auto const count = argument.find("count");
  auto const shape = argument.find("shape");
  if (count && shape)
    argument.fail(R"("count" and "shape" are both stated)", "state one of the two");
  if (shape) return read_extents(*shape);
  if (count) return {count->formula()};
  if (role == argument_role::output) return {"1"};
  argument.fail(R"("count" is missing)",
                R"(state how many elements the array has: "count": "n", or its "shape")");
}

/// Empty where it is not stated.
formula_text read_length(json_place const& place, plan_argument const& output)
{
  auto const length = place.find("length");
  if (!length) return {};
  if (output.shape.size() > 1)
    length->fail("has no meaning for an array with a \"shape\"",
                 "remove it, or state \"count\" instead of \"shape\"");
  return length->formula();
}

/// Empty where it is not stated.
std::string read_hook(json_place const& place, plan_argument const& argument)
{
  auto const hook = place.find("hook");
  if (!hook) return {};
  if (argument.type)
    hook->fail(R"("hook" has no meaning for an argument whose type is stated)",
               R"(remove it, or write "type": "element")");
  return hook->identifier();
}

/// 0 where it is not stated.
std::size_t read_alignment(json_place const& argument)
{
  auto const place = argument.find("alignment");
  if (!place) return 0;
  auto const& value = place->value();
  auto const bytes = value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
  if (!std::has_single_bit(bytes) || bytes > k_largest_alignment)
    place->fail(detail::format("{} is not an alignment", value.is_number() ? value.dump() : "it"),
                "write a power of two from 1 to 4096, in bytes");
  return bytes;
}

plan_argument read_argument(json_place const& place, plan_types const& types)
{
  if (!place.value().is_object()) place.check_keys({});
  plan_argument argument{.name = place.member("name").identifier(),
                         .role = read_role(place.member("role"))};
  check_keys(place, argument.role);
  check_free_name(place.member("name"), argument.name);
  if (types.contains(argument.name))
    place.member("name").fail(detail::format("\"{}\" is also the name of a type", argument.name),
                              "rename one of them");
  if (argument.role == argument_role::size)
    argument.type = read_size_type(place);
  else if (argument.role != argument_role::state)
    argument.type = read_type(place.member("type"), types);
  argument.hook = read_hook(place, argument);
  argument.alignment = read_alignment(place);
  if (is_array(argument.role)) argument.shape = read_shape(place, argument.role);
  argument.length = read_length(place, argument);
  if (auto const stated = place.find("default"))
    argument.default_value = read_default(*stated, argument);
  if (auto const stated = place.find("maximum")) argument.maximum = stated->formula();
  return argument;
}

/// "may_overlap", which may name later arguments.
void read_overlaps(json_place const& place, plan_argument& output,
                   std::vector<plan_argument> const& arguments)
{
  auto const list = place.find("may_overlap");
  if (!list) return;
  std::vector<std::string> names;
  for (auto const& other : arguments)
    if (other.name != output.name &&
        (other.role == argument_role::input || other.role == argument_role::output))
      names.push_back(other.name);
  for (auto const& item : list->elements(limits::k_plan_parts)) {
    auto const name = item.text();
    if (std::ranges::find(names, name) == names.end())
      item.fail_unknown("input or other output", name, names);
    output.may_overlap.push_back(name);
  }
}

/// Whether a size may have this argument as its limit.
bool is_limit(plan_argument const& argument)
{
  return argument.role == argument_role::input && argument.default_value &&
         argument.type == scalar_type(scalar_kind::uint64) &&
         argument.shape == std::vector<formula_text>{"1"};
}

/// "limit", which may name a later argument.
void read_limit(json_place const& place, plan_argument& size,
                std::vector<plan_argument> const& arguments)
{
  auto const stated = place.find("limit");
  if (!stated) return;
  size.limit = stated->text();
  std::vector<std::string> names;
  for (auto const& other : arguments)
    if (is_limit(other)) names.push_back(other.name);
  if (std::ranges::find(names, size.limit) == names.end())
    stated->fail_unknown("input of one uint64 with the default null", size.limit, names);
}

/// "arguments".
std::vector<plan_argument> read_arguments(json_place const& plan, plan_types const& types)
{
  auto const places = plan.member("arguments").elements(limits::k_plan_parts);
  std::vector<plan_argument> arguments;
  for (auto const& place : places) {
    auto argument = read_argument(place, types);
    if (std::ranges::find(arguments, argument.name, &plan_argument::name) != arguments.end())
      place.member("name").fail(
          detail::format("\"{}\" is the name of an earlier argument", argument.name),
          "rename one of them");
    arguments.push_back(std::move(argument));
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    read_overlaps(places[i], arguments[i], arguments);
    read_limit(places[i], arguments[i], arguments);
  }
  return arguments;
}

/// "let", in the order of its names; none if it is missing. `arguments` have other names.
std::vector<plan_let> read_lets(json_place const& plan, std::vector<plan_argument> const& arguments)
{
  std::vector<plan_let> lets;
  auto const place = plan.find("let");
  if (!place) return lets;
  for (auto const& [name, member] : place->members(limits::k_plan_parts)) {
    check_free_name(member, name);
    if (std::ranges::find(arguments, name, &plan_argument::name) != arguments.end())
      member.fail(detail::format("\"{}\" is also the name of an argument", name),
                  "rename one of them");
    lets.push_back({.name = name, .formula = member.formula()});
  }
  return lets;
}

/// The name of a kernel, as in the PTX.
std::string read_kernel(json_place const& place)
{
  auto name = place.text();
  auto const is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$';
  };
  if (!std::ranges::all_of(name, is_part) || (name.front() >= '0' && name.front() <= '9') ||
      name.size() > limits::k_name_bytes)
    place.fail(detail::format("is not the name of a kernel"),
               "write the kernel's name as in the PTX: mangled, unless it is extern \"C\"");
  return name;
}

std::array<formula_text, 3> read_extent(json_place const& launch, char const* key)
{
  std::array<formula_text, 3> extent{"1", "1", "1"};
  auto const place = launch.member(key);
  if (!place.value().is_array()) {
    extent[0] = place.formula();
    return extent;
  }
  auto const formulas = place.elements(extent.size());
  if (formulas.empty()) place.fail("is empty", "write one to three formulas: x, y, z");
  for (std::size_t i = 0; i < formulas.size(); ++i) extent.at(i) = formulas[i].formula();
  return extent;
}

launch_argument read_formula(json_place const& place)
{
  place.check_keys({"value", "type"});
  auto const stated = place.member("type");
  auto const type = parse_element_type(stated.text());
  if (!type || !is_integer(*type))
    stated.fail_unknown("integer type", stated.text(),
                        {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"});
  return {.formula = place.member("value").formula(), .type = *type};
}

launch_argument read_launch_argument(json_place const& place, launch_plan const& stated)
{
  if (place.value().is_object()) return read_formula(place);
  auto const name = place.text();
  if (stated.find(name) != nullptr) return {.argument = name};
  if (std::ranges::find(stated.lets, name, &plan_let::name) != stated.lets.end())
    return {.formula = name, .type = scalar_type(scalar_kind::uint64)};
  std::vector<std::string> names;
  for (auto const& argument : stated.arguments) names.push_back(argument.name);
  for (auto const& let : stated.lets) names.push_back(let.name);
  place.fail_unknown("argument", name, names);
}

bool read_overlap(json_place const& place)
{
  if (!place.value().is_boolean())
    place.fail("is not true or false", "write true, or leave it out");
  return place.value().get<bool>();
}

plan_launch read_launch(json_place const& place, launch_plan const& stated)
{
  place.check_keys({"kernel", "grid", "block", "shared", "overlap", "arguments"});
  plan_launch launch{.kernel = read_kernel(place.member("kernel")),
                     .grid = read_extent(place, "grid"),
                     .block = read_extent(place, "block")};
  if (auto const shared = place.find("shared")) launch.shared_bytes = shared->formula();
  if (auto const overlap = place.find("overlap")) launch.overlap = read_overlap(*overlap);
  for (auto const& argument : place.member("arguments").elements(limits::k_parameters))
    launch.arguments.push_back(read_launch_argument(argument, stated));
  return launch;
}

/// "launches"; `stated` has the arguments and lets.
std::vector<plan_launch> read_launches(json_place const& plan, launch_plan const& stated)
{
  std::vector<plan_launch> launches;
  auto const list = plan.member("launches");
  for (auto const& place : list.elements(limits::k_plan_parts))
    launches.push_back(read_launch(place, stated));
  if (launches.empty()) list.fail("is empty", "state at least one launch");
  return launches;
}

constexpr std::array k_results{operation::map,
                               operation::fold,
                               operation::scan,
                               operation::exclusive_scan,
                               operation::filter,
                               operation::count,
                               operation::segmented_fold,
                               operation::sort,
                               operation::rejected,
                               operation::histogram,
                               operation::unique,
                               operation::unique_count,
                               operation::sort_by,
                               operation::run_lengths,
                               operation::fold_runs,
                               operation::scan_runs,
                               operation::segmented_sort,
                               operation::merge,
                               operation::lower_bound,
                               operation::upper_bound,
                               operation::filter_equal,
                               operation::filter_above,
                               operation::count_equal};
constexpr std::int64_t k_largest_offset = 0x7FFFFFFF;

[[noreturn]] void fail_unknown(char const* what, std::string_view name,
                               std::vector<std::string> const& known)
{
  auto const similar = nearest(known, name);
  throw expression_error(detail::format("{} is no {}", printable_line(name), what),
                         !similar.empty() ? detail::format("did you mean {}?", similar)
                         : known.empty()
                             ? "the plan has none; add one to \"arguments\""
                             : detail::format("write {}{}", known.size() == 1 ? "" : "one of ",
                                              fmt::join(known, ", ")));
}

/// What an output is computed by: "fold(combine, map(square, in), init)".
///
///   <result>  ::= "map" "(" <hook> {"," <operand>} ")"
///               | "fold" "(" <hook> "," <array> "," <value> ")"
///               | "scan" "(" <hook> "," <array> ")"
///               | ( "filter" | "count" | … ) "(" <hook> "," <array> ")"
///               | "segmented_fold" "(" <hook> "," <array> "," <input> "," <value> ")"
///               | ( "sort" | "unique" ) "(" <hook> "," <array> [ "," <input> ] ")"
///               | "sort_by" "(" <hook> "," <array> [ "," ( <input> | "index" ) ]
///                 [ "," "low_bits" "(" <size> ")" ] ")"
///               | "segmented_sort" "(" <hook> "," <array> "," <input> [ "," <input> ] ")"
///               | ( "merge" | "lower_bound" | … ) "(" <hook> "," <array> "," <input> ")"
///               | ( "fold_runs" | "scan_runs" ) "(" <hook> "," <array> "," <runs> ")"
///               | ( "filter_equal" | … ) "(" <hook> "," <array> "," <number> ")"
///   <runs>    ::= "unique" "(" <hook> "," <array> ")"
///   <array>   ::= <input> | "map" "(" <hook> {"," <operand>} ")"
///   <operand> ::= <array> | <value> | "index" | "neighbor" "(" <input> "," <offset> ")"
///               | "window" "(" <input> "," <offset> "," <offset> ")"
///   <offset>  ::= ["-"] <number>
///
/// <input> and <value> are arguments of these roles; <hook> is the name of a hook. window(a, -1, 1)
/// is neighbor(a, -1), neighbor(a, 0), neighbor(a, 1).
class computation_parser {
 public:
  computation_parser(std::string const& text, launch_plan const& plan)
      : words_(text, "docs/launch_plans.md"), plan_(plan)
  {
  }

  computation parse()
  {
    auto result = parse_result();
    words_.expect_end();
    return result;
  }

 private:
  computation parse_result()
  {
    auto const word = words_.take_name("an operation, such as map");
    std::vector<std::string> names;
    for (auto const kind : k_results) {
      if (word == to_string(kind)) return parse_operation(kind);
      names.emplace_back(to_string(kind));
    }
    fail_unknown("operation", word, names);
  }

  computation parse_operation(operation kind)
  {
    nesting_level const level(depth_);
    words_.expect("(");
    computation node{.kind = kind, .name = std::string(words_.take_name("the name of a hook"))};
    if (kind == operation::map) {
      while (words_.take_if(",")) parse_operand(node.operands);
    } else {
      words_.expect(",");
      node.operands.push_back(parse_array());
      parse_more(node);
    }
    words_.expect(")");
    return node;
  }

  /// The operands behind the array.
  void parse_more(computation& node)
  {
    switch (node.kind) {
      case operation::fold:
      case operation::exclusive_scan:
        return add_argument(node.operands, {argument_role::value});
      case operation::segmented_fold:
        add_argument(node.operands, {argument_role::input});
        return add_argument(node.operands, {argument_role::value});
      case operation::segmented_sort:
        add_argument(node.operands, {argument_role::input});
        [[fallthrough]];
      case operation::sort:
      case operation::unique:
        if (words_.is(",")) add_argument(node.operands, {argument_role::input});
        return;
      case operation::sort_by:
        return parse_moved_and_bits(node);
      case operation::merge:
      case operation::lower_bound:
      case operation::upper_bound:
        return add_argument(node.operands, {argument_role::input});
      case operation::histogram:
        return add_argument(node.operands, {argument_role::size});
      case operation::fold_runs:
      case operation::scan_runs:
        return parse_runs(node);
      case operation::filter_equal:
      case operation::filter_above:
      case operation::count_equal:
        words_.expect(",");
        node.offset = take_offset();
        return;
      default:
        return;
    }
  }

  /// What moves together with the sorted array, an input or the index; and how many bits of the
  /// keys are compared.
  void parse_moved_and_bits(computation& node)
  {
    auto has_moved = false;
    while (words_.take_if(",")) {
      auto const word = words_.take_name("an input, index or low_bits(…)");
      if (word == to_string(operation::low_bits) && words_.is("(")) return parse_low_bits(node);
      if (has_moved) fail_unknown("operand", word, {"low_bits"});
      add(node.operands, word == "index" ? computation{.kind = operation::index}
                                         : argument(word, {argument_role::input}));
      has_moved = true;
    }
  }

  void parse_low_bits(computation& node)
  {
    words_.expect("(");
    auto size = argument(words_.take_name("a size"), {argument_role::size});
    words_.expect(")");
    add(node.operands, {.kind = operation::low_bits, .operands = {std::move(size)}});
  }

  /// ", unique(HOOK, INPUT)"
  void parse_runs(computation& node)
  {
    words_.expect(",");
    auto const word = words_.take_name("unique(…)");
    if (word != to_string(operation::unique)) fail_unknown("operand", word, {"unique"});
    auto runs = parse_operation(operation::unique);
    if (runs.operands.size() > 1)
      throw expression_error("unique(…) has two arrays here", "leave out the second array");
    node.operands.push_back(std::move(runs));
  }

  /// ", NAME"
  void add_argument(std::vector<computation>& operands, std::vector<argument_role> const& roles)
  {
    words_.expect(",");
    add(operands, argument(words_.take_name("an argument"), roles));
  }

  computation parse_array()
  {
    auto const word = words_.take_name("an input or map(…)");
    if (word == "map" && words_.is("(")) return parse_operation(operation::map);
    return argument(word, {argument_role::input});
  }

  void parse_operand(std::vector<computation>& operands)
  {
    auto const word = words_.take_name("an operand");
    if (!words_.is("("))
      add(operands, word == "index" ? computation{.kind = operation::index}
                                    : argument(word, {argument_role::input, argument_role::value,
                                                      argument_role::size}));
    else if (word == "map")
      add(operands, parse_operation(operation::map));
    else if (word == "neighbor")
      parse_neighbors(operands, false);
    else if (word == "window")
      parse_neighbors(operands, true);
    else
      fail_unknown("operand", word, {"map", "neighbor", "window"});
  }

  void parse_neighbors(std::vector<computation>& operands, bool is_window)
  {
    words_.expect("(");
    auto const array = argument(words_.take_name("an input"), {argument_role::input});
    words_.expect(",");
    auto const first = take_offset();
    auto last = first;
    if (is_window) {
      words_.expect(",");
      last = take_offset();
    }
    words_.expect(")");
    if (last < first)
      throw expression_error(detail::format("a window from {} to {} is empty", first, last),
                             "write the smaller offset first: window(a, -1, 1)");
    for (auto offset = first; offset <= last; ++offset)
      add(operands, {.kind = operation::neighbor, .offset = offset, .operands = {array}});
  }

  std::int64_t take_offset()
  {
    auto const is_negative = words_.take_if("-");
    auto const value = words_.take_number();
    if (value > k_largest_offset)
      throw expression_error(detail::format("an offset of {}, above 2^31 - 1", value),
                             "write a smaller offset");
    return is_negative ? -value : value;
  }

  void add(std::vector<computation>& operands, computation operand)
  {
    if (++count_ > limits::k_operands)
      throw expression_error(detail::format("more than {} operands, the limit", limits::k_operands),
                             "use fewer operands, or a smaller window");
    operands.push_back(std::move(operand));
  }

  [[nodiscard]] computation argument(std::string_view name,
                                     std::vector<argument_role> const& roles) const
  {
    std::vector<std::string> names;
    std::string what;
    for (auto const role : roles)
      what += (what.empty() ? "" : " or ") + std::string(to_string(role));
    for (auto const& each : plan_.arguments) {
      if (std::ranges::find(roles, each.role) == roles.end()) continue;
      if (each.name == name) return {.kind = operation::argument, .name = each.name};
      names.push_back(each.name);
    }
    fail_unknown(what.c_str(), name, names);
  }

  expression_words words_;
  launch_plan const& plan_;
  std::size_t count_ = 0;
  unsigned depth_ = 0;
};

/// @throws expression_error the text has another form, or uses a name that `plan` does not have;
/// more
///   than limits::k_operands operands, windows expanded.
computation read_computation(std::string const& text, launch_plan const& plan)
{
  return computation_parser(text, plan).parse();
}

std::vector<std::string> list_outputs(launch_plan const& stated)
{
  std::vector<std::string> names;
  for (auto const& argument : stated.arguments)
    if (argument.role == argument_role::output) names.push_back(argument.name);
  return names;
}

plan_result read_result(std::string const& output, json_place const& place,
                        launch_plan const& stated)
try {
  return {.output = output, .value = read_computation(place.text(), stated)};
} catch (expression_error const& error) {
  fail_formula(stated.file, place.path(), place.text(), error);
}

/// "computes" and "depth", in the order of the arguments; none if they are missing. `stated` has
/// the arguments.
std::vector<plan_result> read_results(json_place const& plan, launch_plan const& stated)
{
  std::vector<plan_result> results;
  std::vector<std::string> computed;
  auto const outputs = list_outputs(stated);
  if (auto const computes = plan.find("computes")) {
    computes->check_keys(outputs);
    for (auto const& output : outputs)
      if (auto const place = computes->find(output)) {
        results.push_back(read_result(output, *place, stated));
        computed.push_back(output);
      }
  }
  if (auto const depth = plan.find("depth")) {
    depth->check_keys(computed);
    for (auto& result : results)
      if (auto const place = depth->find(result.output)) result.depth = place->formula();
  }
  return results;
}

/// Keys that only a plan has.
constexpr std::array k_own_keys{"arguments", "let", "launches", "computes", "depth", "types"};
/// Keys of a transform's reference, which a sidecar may have beside a plan.
constexpr std::array k_reference_keys{"hook",  "hooks",   "reference",  "tolerance_ulp",
                                      "state", "element", "error_model"};

std::vector<std::string> const& reference_keys()
{
  static std::vector<std::string> const keys(k_reference_keys.begin(), k_reference_keys.end());
  return keys;
}

/// "reduce/1"
std::string read_contract(json_place const& plan)
{
  auto const place = plan.find("contract");
  if (!place) return {};
  auto text = place->text();
  auto const slash = text.find('/');
  auto const version = slash == text.npos ? std::string() : text.substr(slash + 1);
  auto const is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (slash == text.npos || version.empty() || !std::ranges::all_of(version, is_digit))
    place->fail(detail::format("{} is not a contract", in_quotes(text)),
                R"(write its name and version: "reduce/1")");
  place->check_identifier(text.substr(0, slash));
  return text;
}

/// Sorts the lets in the order in which they are computed. Parses all formulas.
void sort_lets(launch_plan& plan)
{
  plan_formulas const formulas(plan);
  std::vector<plan_let> sorted;
  for (auto const value : formulas.order)
    if (value < formulas.first_occupancy())
      sorted.push_back(plan.lets[value - formulas.first_let()]);
  plan.lets = std::move(sorted);
}

/// @throws file_error an array that no launch takes.
void check_launched(json_place const& whole, launch_plan const& plan)
{
  auto const is_taken = [&](std::string const& name) {
    return std::ranges::any_of(plan.launches, [&](plan_launch const& launch) {
      return std::ranges::find(launch.arguments, name, &launch_argument::argument) !=
             launch.arguments.end();
    });
  };
  auto const places = whole.member("arguments").elements(limits::k_plan_parts);
  for (std::size_t i = 0; i < plan.arguments.size(); ++i) {
    auto const& argument = plan.arguments[i];
    if (!argument.shape.empty() && !is_taken(argument.name))
      places[i].fail(
          detail::format("no launch takes the {} {}", to_string(argument.role), argument.name),
          "pass it in \"arguments\" of a launch, or remove it");
  }
}

void check_source_keys(json_place const& plan)
{
  if (auto const digest = plan.find("sha256"))
    digest->fail("is stated in a PLAN", "remove it: the build adds it");
  for (auto const& key : reference_keys())
    if (auto const member = plan.find(key))
      member->fail("describes a transform, not a plan", "state it in the REFERENCE, another file");
}

/// The plan in a sidecar, which may also state a digest and a reference.
launch_plan read_sidecar_plan(json_file const& sidecar)
{
  sidecar.check_unique_keys(error_code::invalid_plan);
  auto other_keys = reference_keys();
  other_keys.emplace_back("sha256");
  return read_plan(sidecar.json(), sidecar.name(), other_keys);
}

std::optional<launch_plan> find_plan(sidecar_ptr const& sidecar)
{
  if (!sidecar || !states_plan(sidecar->json())) return std::nullopt;
  return read_sidecar_plan(*sidecar);
}

}  // namespace

std::vector<std::string> const& plan_keys()
{
  static std::vector<std::string> const keys{"name", "summary",  "contract", "types", "arguments",
                                             "let",  "launches", "computes", "depth"};
  return keys;
}

bool states_plan(nlohmann::json const& sidecar)
{
  return std::ranges::any_of(k_own_keys, [&](char const* key) { return sidecar.contains(key); });
}

launch_plan read_plan(nlohmann::json const& json, std::string const& file,
                      std::vector<std::string> const& other_keys)
{
  json_place const whole(json, file, error_code::invalid_plan);
  auto keys = plan_keys();
  keys.insert(keys.end(), other_keys.begin(), other_keys.end());
  whole.check_keys(keys);
  auto const summary = whole.find("summary");
  launch_plan plan{.name = whole.member("name").text(),
                   .summary = summary ? summary->text() : std::string(),
                   .contract = read_contract(whole),
                   .file = file};
  plan.arguments = read_arguments(whole, read_types(whole));
  plan.lets = read_lets(whole, plan.arguments);
  plan.launches = read_launches(whole, plan);
  plan.results = read_results(whole, plan);
  sort_lets(plan);
  check_lengths(plan);
  check_launched(whole, plan);
  return plan;
}

bool compares_number(operation kind) noexcept
{
  return kind == operation::filter_equal || kind == operation::filter_above ||
         kind == operation::count_equal;
}

bool has_segments(operation kind) noexcept
{
  return kind == operation::segmented_fold || kind == operation::segmented_sort;
}

}  // namespace fatlink::detail

namespace fatlink {

launch_plan launch_plan::read(std::filesystem::path const& sidecar)
{
  return detail::read_sidecar_plan(*detail::json_file::read(sidecar));
}

launch_plan launch_plan::read_source(std::filesystem::path const& path)
{
  auto const file = detail::json_file::read(path);
  file->check_unique_keys(error_code::invalid_plan);
  detail::check_source_keys({file->json(), file->name(), error_code::invalid_plan});
  return detail::read_plan(file->json(), file->name(), {});
}

std::optional<launch_plan> launch_plan::beside(std::filesystem::path const& file)
{
  return detail::find_plan(detail::find_sidecar(file));
}

std::optional<launch_plan> launch_plan::beside(input const& file)
{
  return detail::find_plan(detail::sidecar_of(file));
}

}  // namespace fatlink
