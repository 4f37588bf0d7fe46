// SPDX-License-Identifier: Apache-2.0
// Initial values of variables. Source: PTX ISA 9.0, "Initializers".
#include <algorithm>
#include <bit>
#include <cstring>

#include "interpreter/machine.hpp"

namespace fatlink::interpreter {
namespace {

/// What an initialiser takes of an address.
std::uint64_t masked(syntax::initial_value const& value, std::uint64_t address) noexcept
{
  auto const bits = (address + static_cast<std::uint64_t>(value.addend)) & value.mask;
  return bits >> static_cast<unsigned>(std::countr_zero(value.mask));
}

}  // namespace

void program::initialise(unsigned module, syntax::variable const& variable, std::uint64_t address,
                         unsigned function)
{
  if (variable.initial.empty()) return;
  auto const& source = modules_.modules[module].name;
  if (variable.space == space::shared)
    throw failure(fault::syntax,
                  source + ": " + variable.name + ": shared memory cannot be initialised", source,
                  variable.line);
  auto const region =
      std::lower_bound(regions_.begin(), regions_.end(), address,
                       [](auto const& entry, std::uint64_t base) { return entry.base < base; });
  auto const width = size_of(variable.type);
  for (std::size_t i = 0; i < variable.initial.size(); ++i) {
    auto const& value = variable.initial[i];
    auto bits = value.bits;
    if (!value.symbol.empty())
      bits = masked(value, value.variable < 0 ? address_of(module, value.symbol, variable.line)
                                              : address_of(function, value, variable));
    std::memcpy(region->data + i * width, &bits, std::min<std::size_t>(width, sizeof bits));
  }
}

std::uint64_t program::address_of(unsigned module, std::string const& name, unsigned line)
{
  auto const& source = modules_.modules[module].name;
  auto const entry = modules_.names[module].find(name);
  if (entry != modules_.names[module].end()) {
    auto const& meaning = entry->second;
    if (meaning.kind == entity_kind::variable &&
        modules_.variables[meaning.index].syntax->space != space::shared)
      return addresses_.variables[meaning.index];
    if (meaning.kind == entity_kind::function) {
      addressed_.push_back(meaning.index);
      return k_function_window + meaning.index * k_function_stride;
    }
  }
  throw failure(fault::unresolved,
                source + ": " + name + " is not a function or a variable with a constant address",
                source, line);
}

/// Of a variable in the body of `function`.
std::uint64_t program::address_of(unsigned function, syntax::initial_value const& value,
                                  syntax::variable const& holder) const
{
  auto const index = static_cast<unsigned>(value.variable);
  if (auto const place = addresses_.inner.find({function, index}); place != addresses_.inner.end())
    return place->second;
  auto const& source = modules_.modules[modules_.functions[function].module].name;
  throw failure(
      fault::unresolved,
      source + ": " + value.symbol + " is not a function or a variable with a constant address",
      source, holder.line);
}

}  // namespace fatlink::interpreter
