// SPDX-License-Identifier: Apache-2.0
// Programs: parsed and linked modules, whose variables are in the memory of the device.
#include "interpreter/machine.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "interpreter/decode/address_space.hpp"
#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/races.hpp"
#include "ptx/lexer.hpp"
#include "ptx/parser.hpp"
#include "util/limits.hpp"

namespace fatlink::interpreter {
namespace {

constexpr std::uint64_t k_min_bytes = 1024;  // counted for a variable, however small it is
static_assert(limits::k_constant_bytes == 64U << 10U && limits::k_module_bytes == 1U << 30U);

syntax::module parse(module_text const& module)
try {
  return ptx::parse_module(module.text, module.name);
} catch (ptx::syntax_error const& error) {
  if (error.category() == ptx::syntax_error::kind::malformed)
    throw code_error(error_kind::syntax, error.what(), error.source(), error.line());
  throw code_error(error_kind::refused,
                   line_in_ptx(error.source(), error.line()) + ": " + unsupported(error.detail()),
                   error.source(), error.line());
}

constexpr unsigned k_no_function = ~0U;

}  // namespace

program::program(std::shared_ptr<memory> memory, std::span<module_text const> modules)
    : memory_(std::move(memory))
{
  std::vector<syntax::module> parsed;
  for (auto const& module : modules) parsed.push_back(parse(module));
  modules_ = link(std::move(parsed));
  check_constants();
  try {
    place_variables();
  } catch (...) {
    memory_->release(regions_);
    throw;
  }
}

program::~program()
{
  memory_->release(regions_);
}

/// Shared variables have no place until decode_kernel().
void program::place(unsigned module, syntax::variable const& variable, std::uint64_t& address)
{
  module_bytes_ += std::max(variable.bytes(), k_min_bytes);
  if (module_bytes_ > limits::k_module_bytes)
    fail_variable(module, variable, "more than 1 GiB of .global and .const variables in a module");
  requests_.push_back({variable.bytes(), variable.name, variable.space == space::constant});
  placeholders_.push_back(&address);
}

void program::fail_variable(unsigned module, syntax::variable const& variable,
                            std::string const& limit) const
{
  auto const& source = modules_.modules[module].name;
  throw code_error(
      error_kind::refused,
      line_in_ptx(source, variable.line) + ": " + variable.name + ": " + unsupported(limit), source,
      variable.line);
}

void program::allocate()
{
  regions_ = memory_->allocate(requests_);
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    std::memset(regions_[i].data, 0, regions_[i].size);
    *placeholders_[i] = regions_[i].base;
  }
  requests_ = {};
  placeholders_ = {};
}

void program::place_variables()
{
  addresses_.variables.resize(modules_.variables.size());
  for (std::size_t i = 0; i < modules_.variables.size(); ++i)
    if (modules_.variables[i].syntax->space != space::shared)
      place(modules_.variables[i].module, *modules_.variables[i].syntax, addresses_.variables[i]);
  for (unsigned i = 0; i < modules_.functions.size(); ++i) {
    auto const& inner = modules_.functions[i].syntax->variables;
    for (unsigned k = 0; k < inner.size(); ++k)
      if (inner[k].space == space::global || inner[k].space == space::constant)
        place(modules_.functions[i].module, inner[k], addresses_.inner[{i, k}]);
  }
  allocate();
  for (std::size_t i = 0; i < modules_.variables.size(); ++i)
    initialise(modules_.variables[i].module, *modules_.variables[i].syntax, addresses_.variables[i],
               k_no_function);
  for (unsigned i = 0; i < modules_.functions.size(); ++i) {
    auto const& inner = modules_.functions[i].syntax->variables;
    for (unsigned k = 0; k < inner.size(); ++k)
      if (inner[k].space == space::global || inner[k].space == space::constant ||
          inner[k].space == space::shared)
        initialise(modules_.functions[i].module, inner[k],
                   inner[k].space == space::shared ? 0 : addresses_.inner[{i, k}], i);
  }
}

/// Decodes all that the kernel `index` reaches: the places of shared variables depend on it.
std::unique_ptr<kernel> program::decode_kernel(unsigned index) const
{
  auto roots = addressed_;
  roots.push_back(index);
  auto const functions = reachable_functions(modules_, roots);
  placement const places{&addresses_, lay_out_shared(modules_, functions)};
  auto result = std::make_unique<kernel>();
  result->shared_bytes = static_cast<std::uint32_t>(places.shared.bytes);
  result->functions.resize(modules_.functions.size());
  for (auto const function : functions) {
    result->codes.push_back(std::make_unique<code>(decode_function(modules_, function, places)));
    result->functions[function] = result->codes.back().get();
  }
  result->entry = result->functions[index];
  return result;
}

void program::check_constants() const
{
  std::uint64_t bytes = 0;
  for (auto const& [module, variable] : modules_.variables) {
    if (variable->space != space::constant) continue;
    bytes = aligned(bytes, variable->align) + variable->bytes();
    if (bytes <= limits::k_constant_bytes) continue;
    auto const& source = modules_.modules[module].name;
    throw code_error(error_kind::invalid,
                     line_in_ptx(source, variable->line) + ": " + variable->name +
                         ": the .const variables of a module have more than 64 KiB",
                     source, variable->line);
  }
}

kernel const& program::find(std::string const& name)
{
  std::lock_guard const lock(mutex_);
  if (auto const entry = kernels_.find(name); entry != kernels_.end()) return *entry->second;
  for (unsigned i = 0; i < modules_.functions.size(); ++i) {
    auto const& function = *modules_.functions[i].syntax;
    if (!function.is_entry || function.name != name) continue;
    return *(kernels_[name] = decode_kernel(i));
  }
  throw code_error(error_kind::no_kernel, "there is no kernel " + name);
}

device_heap& program::heap()
{
  std::lock_guard const lock(mutex_);
  if (!heap_) heap_ = std::make_unique<device_heap>(memory_);
  return *heap_;
}

std::optional<placed_variable> program::find_variable(std::string const& name) const
{
  for (auto const& names : modules_.names) {
    auto const entry = names.find(name);
    if (entry == names.end() || entry->second.kind != entity_kind::variable) continue;
    auto const index = entry->second.index;
    auto const& variable = *modules_.variables[index].syntax;
    if (variable.linkage == syntax::linkage::local || variable.space == space::shared) continue;
    return placed_variable{addresses_.variables[index], variable.bytes()};
  }
  return std::nullopt;
}

std::uint64_t program::constant_bytes() const noexcept
{
  std::uint64_t bytes = 0;
  for (auto const& variable : modules_.variables)
    if (variable.syntax->space == space::constant) bytes += variable.syntax->bytes();
  return bytes;
}

namespace {

// Initial values of variables. Source: PTX ISA 9.0, "Initializers".

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
    throw code_error(error_kind::syntax,
                     source + ": " + variable.name + ": shared memory cannot be initialised",
                     source, variable.line);
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
  throw code_error(
      error_kind::unresolved,
      source + ": " + name + " is not a function or a variable with a constant address", source,
      line);
}

/// Of a variable in the body of `function`.
std::uint64_t program::address_of(unsigned function, syntax::initial_value const& value,
                                  syntax::variable const& holder) const
{
  auto const index = static_cast<unsigned>(value.variable);
  if (auto const place = addresses_.inner.find({function, index}); place != addresses_.inner.end())
    return place->second;
  auto const& source = modules_.modules[modules_.functions[function].module].name;
  throw code_error(
      error_kind::unresolved,
      source + ": " + value.symbol + " is not a function or a variable with a constant address",
      source, holder.line);
}

}  // namespace fatlink::interpreter
