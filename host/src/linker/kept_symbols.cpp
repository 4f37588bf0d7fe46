// SPDX-License-Identifier: Apache-2.0
#include "linker/kept_symbols.hpp"

#include "linker/image_functions.hpp"
#include "linker/reachable_functions.hpp"
#include "preflight/entries.hpp"
#include "preflight/rules.hpp"

namespace fatlink::detail {
namespace {

void add(image_symbols& symbols, ptx_interface const& interface)
{
  for (auto const& kernel : interface.kernels) symbols.kernels.push_back(kernel.name);
  for (auto const& variable : interface.variables) symbols.variables.push_back(variable.name);
}

std::vector<std::string> names_of(std::vector<fatbin> const& inputs)
{
  std::vector<std::string> names;
  for (auto const& input : inputs) names.push_back(input.name());
  return names;
}

/// The findings for the names in `options` that `symbols` lacks.
std::vector<finding> find_missing(image_symbols const& symbols, std::vector<fatbin> const& inputs,
                                  link_options const& options)
{
  return find_unknown(options.kernels, options.variables,
                      {names_of(inputs), symbols.kernels, symbols.variables});
}

}  // namespace

std::vector<finding> find_unknown_symbols(std::vector<fatbin> const& inputs,
                                          link_options const& options, link_function const& link)
{
  if (options.kernels.empty() && options.variables.empty()) return {};
  image_symbols symbols;
  std::vector<fatbin const*> opaque;
  for (auto const& input : inputs)
    if (is_opaque(input, choice_of(options)))
      opaque.push_back(&input);
    else
      add(symbols, interface_of(input, choice_of(options)));
  auto findings = find_missing(symbols, inputs, options);
  if (findings.empty() || opaque.empty()) return findings;
  auto const texts = check_options(inputs, options);
  for (auto const* input : opaque) add(symbols, read_reachable(*input, options, texts, link));
  return find_missing(symbols, inputs, options);
}

void check_kept(bytes_view image, std::vector<fatbin> const& inputs, link_options const& options)
{
  if (options.kernels.empty() && options.variables.empty()) return;
  auto findings = find_missing(symbols_in(options.emit, image), inputs, options);
  if (!findings.empty()) throw refused_error(options.target, std::move(findings));
}

}  // namespace fatlink::detail
