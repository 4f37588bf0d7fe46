// SPDX-License-Identifier: Apache-2.0
#include "interpreter/machine.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "interpreter/decode/alignment.hpp"
#include "interpreter/execution/races.hpp"
#include "interpreter/launch_checks.hpp"
#include "interpreter/limits.hpp"
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
    throw failure(fault::syntax, error.what(), error.source(), error.line());
  throw failure(fault::refused,
                line_in_ptx(error.source(), error.line()) + ": " + unsupported(error.detail()),
                error.source(), error.line());
}

constexpr unsigned k_no_function = ~0U;

/// The memory of the barrier at which all blocks of a cooperative grid meet, for kernels that may.
/// Its layout is that of cooperative_groups/details/sync.h: 4 bytes for the size, then the barrier.
class grid_workspace {
 public:
  grid_workspace(program const& program, kernel const& kernel) : memory_(program.device_memory())
  {
    constexpr std::size_t k_bytes = 64;
    if (!kernel.is_cooperative()) return;
    auto const region = memory_->allocate(k_bytes, "the grid's barrier");
    std::memset(region.data, 0, k_bytes);
    address_ = region.base;
  }
  ~grid_workspace()
  {
    if (address_ != 0) memory_->release(address_);
  }
  grid_workspace(grid_workspace const&) = delete;
  grid_workspace& operator=(grid_workspace const&) = delete;
  [[nodiscard]] std::uint64_t address() const noexcept { return address_; }

 private:
  std::shared_ptr<memory> memory_;
  std::uint64_t address_ = 0;
};

std::vector<std::byte> packed_arguments(kernel const& kernel,
                                        std::span<std::span<std::byte const> const> arguments)
{
  auto const& slots = kernel.entry->parameters;
  if (slots.size() != arguments.size())
    fail_launch(kernel, "takes " + std::to_string(slots.size()) + " arguments, given " +
                            std::to_string(arguments.size()));
  std::vector<std::byte> packed(kernel.entry->parameter_bytes);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].size != arguments[i].size())
      fail_launch(kernel, "argument " + std::to_string(i) + " is of " +
                              std::to_string(slots[i].size) + " bytes, given " +
                              std::to_string(arguments[i].size()));
    std::copy(arguments[i].begin(), arguments[i].end(), packed.begin() + slots[i].offset);
  }
  return packed;
}

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
    refuse(module, variable, "more than 1 GiB of .global and .const variables in a module");
  requests_.push_back({variable.bytes(), variable.name, variable.space == space::constant});
  placeholders_.push_back(&address);
}

void program::refuse(unsigned module, syntax::variable const& variable,
                     std::string const& limit) const
{
  auto const& source = modules_.modules[module].name;
  throw failure(
      fault::refused,
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
    throw failure(fault::invalid,
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
  throw failure(fault::no_kernel, "there is no kernel " + name);
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

std::uint64_t launch(program& program, kernel const& kernel, launch_options const& options,
                     std::span<std::span<std::byte const> const> arguments)
{
  check_shape(kernel, options);
  grid_workspace const workspace(program, kernel);
  launch_state state;
  state.workspace = workspace.address();
  if (kernel.uses_heap()) state.heap = &program.heap();
  state.entry = kernel.entry;
  state.functions = kernel.functions;
  state.grid = options.grid;
  state.block = options.block;
  auto const& size = kernel.entry->launches.cluster;
  state.is_explicit_cluster = size.count() != 0;
  if (state.is_explicit_cluster)
    state.cluster = {static_cast<std::uint32_t>(size.extent[0]),
                     static_cast<std::uint32_t>(size.extent[1]),
                     static_cast<std::uint32_t>(size.extent[2])};
  state.parameters = packed_arguments(kernel, arguments);
  state.regions = program.device_memory()->snapshot();
  state.objects = program.device_memory()->textures().snapshot();
  state.static_shared = kernel.shared_bytes;
  state.dynamic_shared = options.shared_bytes;
  state.has_reserved_shared = kernel.uses_reserved_shared();
  state.budget = options.budget;
  race_map races;
  if (options.check_races) state.races = &races;
  state.checks_initialization = options.check_initialization;
  state.in_order = options.in_order;
  std::mutex printing;
  if (options.print)
    state.print = [&](std::string_view text) {
      std::lock_guard const lock(printing);
      options.print(text);
    };
  state.max_resident = max_resident_blocks(kernel, options);
  return run_blocks(state);
}

}  // namespace fatlink::interpreter
