// SPDX-License-Identifier: Apache-2.0
// Whether each kernel, with the functions of other inputs that it reaches, is within the limits
// that the linker checks. Each compiler saw its own input only, so none of them could. Measured
// with nvJitLink 13.0: static shared memory is the sum over all functions that a kernel reaches, by
// a call or by their address; a function with more registers than the launch bounds of a kernel
// leave fails an sass or ptx link. PTX states no registers, so in ptx mode only the link knows.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cubin/cubin.hpp"
#include "preflight/entries.hpp"
#include "preflight/findings.hpp"
#include "preflight/rules.hpp"
#include "preflight/symbols.hpp"
#include "ptx/ptx_code.hpp"
#include "ptx/ptx_source.hpp"
#include "util/limits.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

/// A function, or a __shared__ variable of a module, of one input.
struct used_symbol {
  preflight_input const* input = nullptr;
  std::string name = {};
  bool is_kernel = false;
  bool is_private = false;              ///< other inputs cannot name it
  bool is_weak = false;                 ///< a link prefers any other definition
  std::uint64_t shared_bytes = 0;       ///< of itself
  std::uint32_t registers = 0;          ///< 0: not known
  std::uint32_t max_registers = 0;      ///< of a kernel; 0: not known
  std::vector<std::string> names = {};  ///< what its code may mean: functions and variables
};

/// What the inputs define, and which of it a name means.
class used_symbols {
 public:
  void add(used_symbol symbol)
  {
    auto const position = symbols_.size();
    own_.emplace(std::pair(symbol.input, symbol.name), position);
    if (!symbol.is_private) {
      auto const [entry, is_new] = shared_.try_emplace(symbol.name, position);
      if (!is_new && !symbol.is_weak) entry->second = position;
    }
    symbols_.push_back(std::move(symbol));
  }

  [[nodiscard]] std::vector<used_symbol> const& all() const noexcept { return symbols_; }

  /// All that `kernel` reaches, with itself.
  [[nodiscard]] std::vector<used_symbol const*> reached_by(used_symbol const& kernel) const
  {
    std::vector<used_symbol const*> reached{&kernel};
    std::set<used_symbol const*> seen{&kernel};
    for (std::size_t next = 0; next < reached.size(); ++next)
      for (auto const& name : reached[next]->names)
        if (auto const* symbol = find(*reached[next]->input, name);
            symbol != nullptr && seen.insert(symbol).second)
          reached.push_back(symbol);
    return reached;
  }

 private:
  [[nodiscard]] used_symbol const* find(preflight_input const& input, std::string const& name) const
  {
    auto const own = own_.find(std::pair(&input, name));
    if (own != own_.end() && symbols_[own->second].is_private) return &symbols_[own->second];
    auto const shared = shared_.find(name);
    return shared == shared_.end() ? nullptr : &symbols_[shared->second];
  }

  std::vector<used_symbol> symbols_;
  std::map<std::pair<preflight_input const*, std::string>, std::size_t> own_;
  std::map<std::string, std::size_t> shared_;  ///< of the names that inputs share
};

/// The words of a function's text, and the bytes of the __shared__ variables that it declares.
void read_function(std::string_view text, used_symbol& symbol)
{
  std::set<std::string_view> names;
  ptx_source source(text, symbol.name);
  for (auto is_start = false; !source.at_end();) {
    auto const word = source.next();
    if (word == ".shared" && is_start) {
      for (auto const& variable : read_variables(source, "shared"))
        symbol.shared_bytes += bytes_of(variable);
      continue;
    }
    is_start = word == "{" || word == "}" || word == ";" || word == ":";
    if (!word.starts_with('.') && !word.starts_with('%') && word.size() > 1) names.insert(word);
  }
  symbol.names.assign(names.begin(), names.end());
}

/// `text`: `.shared .align 4 .b8 v[4];`
std::uint64_t shared_bytes(std::string_view text, std::string_view name)
{
  ptx_source source(text, name);
  source.next();  // ".shared"
  std::uint64_t bytes = 0;
  for (auto const& variable : read_variables(source, "shared")) bytes += bytes_of(variable);
  return bytes;
}

void add_ptx(preflight_input const& input, fatbin_entry const& entry, used_symbols& symbols)
{
  name_set const weak(input.interface.weak);
  auto const ptx = read_ptx(entry, input.file->name());
  for (auto const& [name, definition] : read_ptx_definitions(ptx, input.file->name())) {
    used_symbol symbol{.input = &input,
                       .name = std::string(name),
                       .is_kernel = definition.is_kernel,
                       .is_private = !definition.has_linkage,
                       .is_weak = weak.contains(name)};
    if (definition.text.starts_with(".shared"))
      symbol.shared_bytes = shared_bytes(definition.text, input.file->name());
    else if (definition.is_kernel || definition.text.starts_with(".func"))
      read_function(definition.text, symbol);
    else
      continue;
    symbols.add(std::move(symbol));
  }
}

void add_cubin(preflight_input const& input, fatbin_entry const& entry, used_symbols& symbols)
{
  name_set const weak(input.interface.weak);
  auto const functions =
      read_function_calls(read_elf(entry, input.file->name()), {input.file->name()});
  for (auto const& function : functions) {
    if (function.registers == 0) continue;  // a declaration
    used_symbol symbol{.input = &input,
                       .name = function.name,
                       .is_kernel = function.is_kernel,
                       .is_private = function.is_private,
                       .is_weak = weak.contains(function.name),
                       .registers = function.registers,
                       .max_registers = function.max_registers};
    for (auto const callee : function.callees) symbol.names.push_back(functions[callee].name);
    symbols.add(std::move(symbol));
  }
}

/// "k of a.fatbin", and of the others with bytes: "f of b.fatbin (24000 bytes)".
finding excess_of_shared(used_symbol const& kernel, std::vector<used_symbol const*> const& reached,
                         std::uint64_t bytes, link_mode mode)
{
  std::vector<std::string> files{kernel.input->file->name()};
  std::vector<std::string> parts;
  for (auto const* symbol : reached) {
    if (symbol->shared_bytes == 0) continue;
    auto const& file = symbol->input->file->name();
    if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
    parts.push_back(detail::format("{} of {} has {}", symbol->name, file, symbol->shared_bytes));
  }
  return {.id = finding_id::kernel_resources,
          .severity = mode == link_mode::lto ? severity::warning : severity::error,
          .files = std::move(files),
          .symbol = kernel.name,
          .message = detail::format(
              "kernel {} reaches {} bytes of __shared__ variables, above {}, the limit: {}{}",
              kernel.name, bytes, limits::k_static_shared_bytes, list_names(parts),
              mode == link_mode::lto ? "; the link fails unless optimisation removes some" : ""),
          .hint =
              "make the arrays of the kernel and of the functions that it calls smaller, or use "
              "dynamic shared memory (extern __shared__)"};
}

finding excess_of_registers(used_symbol const& kernel, used_symbol const& function)
{
  std::vector<std::string> files{kernel.input->file->name()};
  if (function.input != kernel.input) files.push_back(function.input->file->name());
  return {
      .id = finding_id::kernel_resources,
      .severity = severity::error,
      .files = std::move(files),
      .symbol = function.name,
      .message = detail::format("kernel {} of {} may use {} registers, as its __launch_bounds__ "
                                "or options state, and calls {} of {}, which uses {}",
                                kernel.name, kernel.input->file->name(), kernel.max_registers,
                                function.name, function.input->file->name(), function.registers),
      .hint = detail::format("compile {} with -maxrregcount={}, link in lto mode, which compiles "
                             "both together, or change the kernel's __launch_bounds__",
                             function.name, kernel.max_registers)};
}

/// Whether all inputs together have more shared memory than one kernel may: nearly none do, and
/// then nothing is read again.
bool may_exceed_shared(preflight_inputs const& inputs)
{
  std::uint64_t bytes = 0;
  for (auto const& input : inputs) bytes += input.interface.shared_bytes;
  return bytes > limits::k_static_shared_bytes;
}

bool is_kept(used_symbol const& kernel, preflight_request const& request)
{
  auto const& kept = request.kernels;
  return kept.empty() || std::find(kept.begin(), kept.end(), kernel.name) != kept.end();
}

used_symbols read_symbols(preflight_inputs const& inputs, preflight_request const& request)
{
  used_symbols symbols;
  for (auto const& input : inputs) {
    auto const* const entry = readable_entry(*input.file, choice_of(request));
    if (entry == nullptr) continue;
    if (entry->kind == entry_kind::ptx) add_ptx(input, *entry, symbols);
    if (entry->kind == entry_kind::elf) add_cubin(input, *entry, symbols);
  }
  return symbols;
}

}  // namespace

void check_kernel_resources(preflight_inputs const& inputs, preflight_request const& request,
                            std::vector<finding>& findings)
{
  if (request.mode != link_mode::sass && !may_exceed_shared(inputs)) return;
  auto const symbols = read_symbols(inputs, request);
  finding_limit excesses(findings);
  for (auto const& kernel : symbols.all()) {
    if (!kernel.is_kernel || !is_kept(kernel, request)) continue;
    auto const reached = symbols.reached_by(kernel);
    std::uint64_t bytes = 0;
    for (auto const* symbol : reached) {
      bytes += symbol->shared_bytes;
      if (symbol != &kernel && kernel.max_registers != 0 &&
          symbol->registers > kernel.max_registers)
        excesses.add([&] { return excess_of_registers(kernel, *symbol); });
    }
    if (bytes > limits::k_static_shared_bytes)
      excesses.add([&] { return excess_of_shared(kernel, reached, bytes, request.mode); });
  }
  excesses.finish();
}

}  // namespace fatlink::detail
