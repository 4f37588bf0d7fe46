// SPDX-License-Identifier: Apache-2.0
#include "preflight/double_arithmetic.hpp"

#include <algorithm>
#include <set>

#include "ptx/double_arithmetic.hpp"
#include "ptx/parser.hpp"
#include "ptx/syntax_error.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr std::uint64_t k_most_text = std::uint64_t{16} << 20;

/// A parameter that is a float, or that nothing accesses: PTX declares both as b32.
bool may_be_float(ptx_parameter const& parameter)
{
  auto const is_float = parameter.accessed_as == "f32" || parameter.type == "f32";
  return parameter.count == 0 &&
         (is_float || (parameter.type == "b32" && parameter.accessed_as.empty()));
}

bool is_float(ptx_parameter const& parameter)
{
  return may_be_float(parameter) && !parameter.accessed_as.empty();
}

bool is_double(ptx_parameter const& parameter)
{
  return parameter.accessed_as == "f64" || parameter.type == "f64";
}

/// Takes or returns a float, and no double.
bool is_float_function(ptx_function const& function)
{
  auto values = function.parameters;
  values.insert(values.end(), function.results.begin(), function.results.end());
  if (std::ranges::any_of(values, is_double)) return false;
  auto const may_all_be = function.results.size() == 1 && !function.parameters.empty() &&
                          std::ranges::all_of(values, may_be_float);
  return may_all_be || std::ranges::any_of(values, is_float);
}

std::vector<std::string> float_functions(ptx_interface const& interface)
{
  std::vector<std::string> names;
  for (auto const* functions : {&interface.definitions, &interface.weak})
    for (auto const& function : *functions)
      if (is_float_function(function)) names.push_back(function.name);
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<ptx::double_arithmetic> read_uses(fatbin_entry const& entry, std::string const& name)
try {
  return ptx::find_double_arithmetic(ptx::parse_module(read_ptx(entry, name), name));
} catch (ptx::syntax_error const&) {
  return {};  // a link reports it
}

finding make_warning(ptx::double_arithmetic const& use, std::string const& file)
{
  auto const place = use.place.empty() ? detail::format("line {} of the PTX", use.line) : use.place;
  return {
      .id = finding_id::double_arithmetic,
      .severity = severity::warning,
      .files = {file},
      .symbol = use.function,
      .message = detail::format("{}: {} is a function on float that computes in double ({}, {})",
                                file, use.function, use.instruction, place),
      .hint =
          "write float literals (0.5F; in Python numpy.float32(0.5)) and call float functions "
          "(sinf); double takes 2 to 64 times the time of float, by GPU"};
}

}  // namespace

std::vector<finding> find_double_arithmetic(fatbin const& module)
{
  std::vector<finding> findings;
  std::set<std::string> known;
  for (auto const& entry : module.entries()) {
    if (entry.kind != entry_kind::ptx || !shows_interface(entry) ||
        entry.uncompressed_size > k_most_text)
      continue;
    auto const names = float_functions(module.interface(entry));
    if (names.empty()) continue;
    for (auto const& use : read_uses(entry, module.name()))
      if (std::binary_search(names.begin(), names.end(), use.function) &&
          known.insert(use.function).second)
        findings.push_back(make_warning(use, module.name()));
  }
  return findings;
}

}  // namespace fatlink::detail
