// SPDX-License-Identifier: Apache-2.0
#include "interpreter/machine.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "interpreter/execution/races.hpp"
#include "interpreter/limits.hpp"
#include "ptx/parser.hpp"
#include "ptx/syntax_error.hpp"
#include "util/limits.hpp"

namespace fatlink::interpreter {
namespace {

constexpr std::uint64_t k_least_bytes = 1024;  // that a variable takes, however small it is
static_assert(limits::k_shared_bytes == 64U << 20U && limits::k_module_bytes == 1U << 30U);
constexpr std::uint32_t k_most_threads = 1024;
constexpr std::uint32_t k_most_dynamic = 227 * 1024;  // as an H200's

[[noreturn]] void fail_launch(kernel const& which, std::string const& why)
{
  throw failure(fault::launch, "kernel " + which.entry->name + ": " + why, which.entry->source);
}

syntax::module parse(module_text const& module)
try {
  return ptx::parse_module(module.text, module.name);
} catch (ptx::syntax_error const& error) {
  if (error.category() == ptx::syntax_error::kind::malformed)
    throw failure(fault::syntax, error.what(), error.source(), error.line());
  throw failure(
      fault::refused,
      error.source() + ":" + std::to_string(error.line()) + ": " + unsupported(error.detail()),
      error.source(), error.line());
}

void check_shape(kernel const& which, launch_options const& how)
{
  auto const& [grid, block] = std::pair{how.grid, how.block};
  auto const fits = block.x <= k_most_threads && block.y <= k_most_threads && block.z <= 64;
  if (!fits || block.count() == 0 || block.count() > k_most_threads)
    fail_launch(which, "a block of other than 1 to 1024 threads");
  if (grid.count() == 0 || grid.x > 0x7FFFFFFF || grid.y > 0xFFFF || grid.z > 0xFFFF)
    fail_launch(which, "a grid that no device takes");
  if (how.shared_bytes > k_most_dynamic)
    fail_launch(which, std::to_string(how.shared_bytes) +
                           " bytes of dynamic shared memory, of at most " +
                           std::to_string(k_most_dynamic));
}

std::vector<std::byte> packed_arguments(kernel const& which,
                                        std::span<std::span<std::byte const> const> arguments)
{
  auto const& slots = which.entry->parameters;
  if (slots.size() != arguments.size())
    fail_launch(which, "takes " + std::to_string(slots.size()) + " arguments, given " +
                           std::to_string(arguments.size()));
  std::vector<std::byte> packed(which.entry->parameter_bytes);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].size != arguments[i].size())
      fail_launch(which, "argument " + std::to_string(i) + " is of " +
                             std::to_string(slots[i].size) + " bytes, given " +
                             std::to_string(arguments[i].size()));
    std::copy(arguments[i].begin(), arguments[i].end(), packed.begin() + slots[i].offset);
  }
  return packed;
}

}  // namespace

program::program(std::shared_ptr<memory> in, std::span<module_text const> modules)
    : memory_(std::move(in))
{
  std::vector<syntax::module> parsed;
  for (auto const& module : modules) parsed.push_back(parse(module));
  modules_ = link(std::move(parsed));
  codes_.resize(modules_.functions.size());
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

/// Global and constant variables get memory, in allocate(); shared ones an offset in every block's.
void program::place(unsigned module, syntax::variable const& one, std::uint64_t& address)
{
  if (one.space != space::shared) {
    module_bytes_ += std::max(one.bytes(), k_least_bytes);
    if (module_bytes_ > limits::k_module_bytes)
      refuse(module, one, "more than 1 GiB of .global and .const variables in a module");
    requests_.push_back({one.bytes(), one.name, one.space == space::constant});
    placeholders_.push_back(&address);
    return;
  }
  auto const at = (std::uint64_t{shared_bytes_} + one.align - 1) / one.align * one.align;
  if (at + one.bytes() > limits::k_shared_bytes)
    refuse(module, one, "more than 64 MiB of .shared variables in all kernels of a module");
  shared_bytes_ = static_cast<std::uint32_t>(at + one.bytes());
  address = at;
}

void program::refuse(unsigned module, syntax::variable const& one, std::string const& limit) const
{
  auto const& source = modules_.modules[module].name;
  throw failure(
      fault::refused,
      source + ":" + std::to_string(one.line) + ": " + one.name + ": " + unsupported(limit), source,
      one.line);
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
    place(modules_.variables[i].module, *modules_.variables[i].what, addresses_.variables[i]);
  for (unsigned i = 0; i < modules_.functions.size(); ++i) {
    auto const& inner = modules_.functions[i].what->variables;
    for (unsigned k = 0; k < inner.size(); ++k)
      if (inner[k].space != space::param && inner[k].space != space::local)
        place(modules_.functions[i].module, inner[k], addresses_.inner[{i, k}]);
  }
  allocate();
  constexpr std::uint32_t k_alignment = 128;
  shared_bytes_ = (shared_bytes_ + k_alignment - 1) / k_alignment * k_alignment;
  addresses_.dynamic_shared = shared_bytes_;
  for (std::size_t i = 0; i < modules_.variables.size(); ++i)
    initialise(modules_.variables[i].module, *modules_.variables[i].what, addresses_.variables[i]);
  for (auto const& [where, address] : addresses_.inner)
    initialise(modules_.functions[where.first].module,
               modules_.functions[where.first].what->variables[where.second], address);
}

void program::initialise(unsigned module, syntax::variable const& one, std::uint64_t address)
{
  if (one.initial.empty()) return;
  auto const& source = modules_.modules[module].name;
  if (one.space == space::shared)
    throw failure(fault::syntax, source + ": " + one.name + ": shared memory has no first values",
                  source, one.line);
  auto const at =
      std::lower_bound(regions_.begin(), regions_.end(), address,
                       [](region const& r, std::uint64_t base) { return r.base < base; });
  auto const width = size_of(one.type);
  for (std::size_t i = 0; i < one.initial.size(); ++i) {
    auto const& value = one.initial[i];
    auto bits = value.bits;
    if (!value.symbol.empty())
      bits = address_of(module, value.symbol, one.line) + static_cast<std::uint64_t>(value.addend);
    std::memcpy(at->data + i * width, &bits, width);
  }
}

std::uint64_t program::address_of(unsigned module, std::string const& name, unsigned line)
{
  auto const& source = modules_.modules[module].name;
  auto const found = modules_.names[module].find(name);
  if (found != modules_.names[module].end()) {
    auto const& what = found->second;
    if (what.is == entity::kind::variable &&
        modules_.variables[what.index].what->space != space::shared)
      return addresses_.variables[what.index];
    if (what.is == entity::kind::function) {
      addressed_.push_back(what.index);
      return k_function_window + what.index * k_function_stride;
    }
  }
  throw failure(fault::unresolved, source + ": no address of " + name + " is known", source, line);
}

code const& program::decoded(unsigned function)
{
  auto& made = codes_[function];
  if (!made) made = std::make_unique<code>(decode_function(modules_, function, addresses_));
  return *made;
}

void program::reach(unsigned function, std::vector<code const*>& to)
{
  std::vector<unsigned> next{function};
  while (!next.empty()) {
    auto const at = next.back();
    next.pop_back();
    if (to[at] != nullptr) continue;
    to[at] = &decoded(at);
    next.insert(next.end(), to[at]->references.begin(), to[at]->references.end());
  }
}

kernel const& program::find(std::string const& name)
{
  std::lock_guard const lock(mutex_);
  if (auto const found = kernels_.find(name); found != kernels_.end()) return *found->second;
  for (unsigned i = 0; i < modules_.functions.size(); ++i) {
    auto const& one = *modules_.functions[i].what;
    if (!one.is_entry || one.name != name) continue;
    auto made = std::make_unique<kernel>();
    made->functions.resize(modules_.functions.size());
    reach(i, made->functions);
    for (auto const addressed : addressed_) reach(addressed, made->functions);
    made->entry = made->functions[i];
    return *(kernels_[name] = std::move(made));
  }
  throw failure(fault::no_kernel, "there is no kernel " + name);
}

std::uint64_t launch(program& in, kernel const& which, launch_options const& how,
                     std::span<std::span<std::byte const> const> arguments)
{
  check_shape(which, how);
  launch_state state;
  state.entry = which.entry;
  state.functions = which.functions;
  state.grid = how.grid;
  state.block = how.block;
  state.parameters = packed_arguments(which, arguments);
  state.regions = in.where()->snapshot();
  state.static_shared = in.shared_bytes();
  state.dynamic_shared = how.shared_bytes;
  state.budget = how.budget;
  race_map races;
  if (how.check_races) state.races = &races;
  std::mutex printing;
  if (how.print)
    state.print = [&](std::string_view text) {
      std::lock_guard const lock(printing);
      how.print(text);
    };
  return run_blocks(state);
}

}  // namespace fatlink::interpreter
