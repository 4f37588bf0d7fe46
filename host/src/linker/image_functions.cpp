// SPDX-License-Identifier: Apache-2.0
#include "linker/image_functions.hpp"

#include <elf.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "cubin/cubin_file.hpp"
#include "fatlink/error.hpp"
#include "fatlink/preflight.hpp"
#include "fatlink/ptx_interface.hpp"
#include "preflight/rules.hpp"
#include "preflight/symbols.hpp"
#include "ptx/lexer.hpp"
#include "util/bytes/elf_reader.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

[[noreturn]] void fail_cubin(std::uint64_t offset, std::string const& cause)
{
  throw file_error(stage::image,
                   {.message = detail::format("linked image: {}, at byte {}", cause, offset),
                    .input = "linked image",
                    .code = error_code::invalid_image,
                    .hint = "link again; if it happens again, report it with the inputs"});
}

constexpr std::uint8_t k_entry_flag = 0x10;  // of st_other: a kernel (STO_CUDA_ENTRY)

/// Calls `visit` for each function and variable of `cubin`.
template <typename Visit>
void visit_symbols(bytes_view cubin, Visit const& visit)
{
  read_image(cubin, [&](elf_reader const& elf) {
    if (elf.machine() != k_elf_machine_cuda)
      fail_cubin(offsetof(Elf64_Ehdr, e_machine), "is not a CUDA ELF file");
    for (std::uint32_t index = 0; index < elf.section_count(); ++index)
      if (auto const section = elf.section(index); section.type == SHT_SYMTAB) {
        elf_symbols const symbols(elf, section);
        for (std::uint64_t i = 0; i < symbols.count(); ++i) visit(symbols[i], symbols.name(i));
      }
  });
}

image_symbols symbols_in_cubin(bytes_view cubin)
{
  image_symbols symbols;
  visit_symbols(cubin, [&](elf_symbol const& symbol, std::string name) {
    if (symbol.section == SHN_UNDEF) return;
    if (symbol.type == STT_OBJECT)
      symbols.variables.push_back(std::move(name));
    else if (symbol.type == STT_FUNC && (symbol.other & k_entry_flag) != 0)
      symbols.kernels.push_back(std::move(name));
  });
  return symbols;
}

template <typename Declaration>
std::vector<std::string> names_of(std::vector<Declaration> const& declarations)
{
  std::vector<std::string> names;
  for (auto const& declaration : declarations) names.push_back(declaration.name);
  return names;
}

std::string_view text_of(bytes_view ptx)
{
  return {reinterpret_cast<char const*>(ptx.data()), ptx.size()};
}

bool is_before(std::string const& a, std::string const& b)
{
  return std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

}  // namespace

void read_image(bytes_view cubin, std::function<void(elf_reader const&)> const& read)
try {
  read(elf_reader(cubin));
} catch (elf_error const& error) {
  fail_cubin(error.offset, error.cause);
} catch (out_of_bytes const& end) {
  fail_cubin(end.offset,
             detail::format("truncated: {} bytes are needed, it has {}", end.wanted, end.size));
}

void check_executable(bytes_view cubin)
{
  read_image(cubin, [](elf_reader const& elf) {
    if (elf.type() != ET_EXEC)
      fail_cubin(
          offsetof(Elf64_Ehdr, e_type),
          detail::format("has the ELF type {:#x}, not that of an executable, so no GPU loads it",
                         elf.type()));
  });
}

std::vector<std::string> functions_in_cubin(bytes_view cubin)
{
  std::vector<std::string> functions;
  visit_symbols(cubin, [&](elf_symbol const& symbol, std::string name) {
    if (symbol.type == STT_FUNC) functions.push_back(std::move(name));
  });
  return functions;
}

image_symbols symbols_in(image_kind kind, bytes_view image)
{
  if (kind == image_kind::cubin || kind == image_kind::relocatable) return symbols_in_cubin(image);
  auto const interface = read_ptx_interface(text_of(image), "linked image");
  return {names_of(interface.kernels), names_of(interface.variables)};
}

std::vector<std::string> functions_in_ptx(std::string_view ptx)
{
  std::vector<std::string> functions;
  ptx::lexer lexer(ptx);
  auto const is_end = [](ptx::token const& token) { return token.kind == ptx::token_kind::end; };
  for (auto token = lexer.next(); !is_end(token); token = lexer.next()) {
    if (token.text != ".func" && token.text != ".entry") continue;
    token = lexer.next();
    if (token.text == "(") {
      while (!is_end(token) && token.text != ")") token = lexer.next();
      token = lexer.next();
    }
    functions.emplace_back(token.text);
  }
  return functions;
}

std::vector<std::string> functions_in(linked_image const& image)
{
  if (image.kind == image_kind::cubin || image.kind == image_kind::relocatable)
    return functions_in_cubin(image.bytes);
  if (image.kind == image_kind::ptx) return functions_in_ptx(text_of(image.bytes));
  std::vector<std::string> functions;
  for (auto const& part : image.parts)
    for (auto& name : functions_in_ptx(part.text)) functions.push_back(std::move(name));
  return functions;
}

linked_functions::linked_functions(std::vector<std::string> names) : names_(std::move(names))
{
  std::sort(names_.begin(), names_.end(), is_before);
}

bool linked_functions::inlined(std::string const& hook) const
{
  return !std::binary_search(names_.begin(), names_.end(), hook, is_before) &&
         !has_ending('$' + hook);
}

bool linked_functions::has_ending(std::string const& ending) const
{
  auto const name = std::lower_bound(names_.begin(), names_.end(), ending, is_before);
  return name != names_.end() && name->ends_with(ending);
}

namespace {

void read_callgraph(elf_reader const& elf, elf_section const& section,
                    std::vector<image_call>& calls)
{
  elf_symbols const symbols(elf, elf.section(section.link));
  byte_reader const table(elf.view(section));
  for (std::uint64_t offset = 0; offset + 8 <= table.size(); offset += 8) {
    auto const caller = table.read<std::uint32_t>(offset);
    auto const callee = table.read<std::uint32_t>(offset + 4);
    if (caller != 0 && caller < symbols.count() && callee < symbols.count())
      calls.push_back({symbols.name(caller), symbols.name(callee)});
  }
}

/// The name of the function whose head begins after `.func` or `.entry`.
std::string_view read_name(ptx::lexer& lexer)
{
  auto token = lexer.next();
  if (token.text != "(") return token.text;
  while (token.kind != ptx::token_kind::end && token.text != ")") token = lexer.next();
  return lexer.next().text;
}

}  // namespace

image_call split_inner_name(std::string_view name)
{
  if (!name.starts_with('$')) return {};
  auto const middle = name.find('$', 1);
  if (middle == std::string_view::npos) return {};
  return {std::string(name.substr(1, middle - 1)), std::string(name.substr(middle + 1))};
}

std::vector<image_call> calls_in_cubin(bytes_view cubin)
{
  std::vector<image_call> calls;
  read_image(cubin, [&](elf_reader const& elf) {
    for (std::uint32_t index = 0; index < elf.section_count(); ++index)
      if (auto const section = elf.section(index); section.type == cuda_elf::k_callgraph)
        read_callgraph(elf, section, calls);
  });
  for (auto const& name : functions_in_cubin(cubin))
    if (auto call = split_inner_name(name); !call.callee.empty()) calls.push_back(std::move(call));
  return calls;
}

std::vector<image_call> calls_in_ptx(std::string_view ptx)
{
  std::vector<image_call> calls;
  ptx::lexer lexer(ptx);
  std::string_view function;
  for (auto token = lexer.next(); token.kind != ptx::token_kind::end; token = lexer.next()) {
    if (token.text == ".func" || token.text == ".entry") function = read_name(lexer);
    if (token.text != "call") continue;
    // call.uni (result), function, (arguments); of which only the function is no variable
    for (; token.kind != ptx::token_kind::end && token.text != ";"; token = lexer.next())
      if (token.kind == ptx::token_kind::word && token.text != "call")
        calls.push_back({std::string(function), std::string(token.text)});
  }
  return calls;
}

namespace {

/// The calls in an image of an LTO link. @throws file_error as calls_in_cubin.
std::vector<image_call> calls_in(linked_image const& image)
{
  if (image.kind == image_kind::cubin || image.kind == image_kind::relocatable)
    return calls_in_cubin(image.bytes);
  return calls_in_ptx({reinterpret_cast<char const*>(image.bytes.data()), image.bytes.size()});
}

}  // namespace

}  // namespace fatlink::detail

namespace fatlink {
namespace {

std::set<std::string> without_system_functions(std::set<std::string> names)
{
  std::erase_if(names, [](std::string const& name) { return detail::is_system_function(name); });
  return names;
}

bool has_opaque(std::vector<fatbin> const& inputs, entry_choice const& choice)
{
  return std::ranges::any_of(inputs, [&](fatbin const& input) { return is_opaque(input, choice); });
}

/// Which inputs define which functions and kernels.
class definers {
 public:
  definers(std::vector<fatbin> const& inputs, entry_choice const& choice)
  {
    for (auto const& input : inputs) {
      auto const& interface = interface_of(input, choice);
      for (auto const& kernel : interface.kernels) inputs_of_[kernel.name].insert(&input);
      for (auto const* functions : {&interface.definitions, &interface.weak})
        for (auto const& function : *functions) {
          inputs_of_[function.name].insert(&input);
          functions_.insert(function.name);
        }
    }
  }

  [[nodiscard]] bool define(std::string const& function) const
  {
    return functions_.contains(function);
  }

  /// Whether the inputs that define `function` define `caller`.
  [[nodiscard]] bool define_both(std::string const& caller, std::string const& function) const
  {
    auto const inputs = inputs_of_.find(caller);
    return inputs != inputs_of_.end() && inputs->second == inputs_of_.at(function);
  }

 private:
  std::map<std::string, std::set<fatbin const*>> inputs_of_;
  std::set<std::string> functions_;
};

/// The functions left in the image that an input defines and others than its own functions and
/// kernels call, or whose callers are unknown: among them are the hooks that an opaque input calls.
std::set<std::string> find_called(linked_image const& image, definers const& inputs)
{
  std::map<std::string, std::vector<std::string>> callers;
  for (auto const& call : detail::calls_in(image)) callers[call.callee].push_back(call.caller);
  std::set<std::string> called;
  for (auto const& function : detail::functions_in(image)) {
    auto const inner = detail::split_inner_name(function).callee;
    auto const& name = inner.empty() ? function : inner;
    auto const is_own = [&](auto const& caller) { return inputs.define_both(caller, name); };
    if (inputs.define(name) &&
        (callers[name].empty() || !std::ranges::all_of(callers[name], is_own)))
      called.insert(name);
  }
  return called;
}

/// The hooks of all inputs that another input defines, and those that have a default.
std::set<std::string> filled_hooks(std::vector<fatbin> const& inputs, entry_choice const& choice)
{
  std::set<std::string> hook_names;
  std::set<std::string> defined;
  for (auto const& input : inputs) {
    auto const& interface = interface_of(input, choice);
    for (auto const& hook : interface.hooks) hook_names.insert(hook.name);
    hook_names.merge(detail::weak_hooks(input, choice));
    for (auto const& function : interface.definitions) defined.insert(function.name);
    for (auto const& function : interface.weak) defined.insert(function.name);
  }
  // The hooks of an opaque library cannot be read, so each definition may fill one.
  auto const is_readable = !has_opaque(inputs, choice);
  if (!is_readable && hook_names.empty()) return defined;
  if (!is_readable)
    return without_system_functions(std::move(hook_names));  // the link has succeeded
  std::erase_if(hook_names, [&](std::string const& name) { return !defined.contains(name); });
  return hook_names;
}

}  // namespace

void detail::record_inlining(linked_image& image, std::vector<fatbin> const& inputs,
                             entry_choice const& choice)
{
  detail::linked_functions const functions(detail::functions_in(image));
  auto hooks = filled_hooks(inputs, choice);
  if (has_opaque(inputs, choice)) hooks.merge(find_called(image, definers(inputs, choice)));
  auto const defaults = detail::default_hooks(inputs, choice);
  for (auto const& hook : hooks) {
    auto const inlined = functions.inlined(hook);
    auto const is_default = defaults.contains(hook);
    image.hooks.push_back({hook, inlined, is_default});
    if (image.mode == link_mode::lto && !inlined && !is_default)
      image.warnings.push_back(
          detail::format("{} was not inlined: the LTO link left a call to it", hook));
  }
}

void detail::check_inlined(linked_image const& image, std::vector<fatbin> const& inputs)
{
  for (auto const& hook : image.hooks) {
    if (hook.inlined || hook.is_default) continue;
    std::string names;
    for (auto const& input : inputs) names += (names.empty() ? "" : ", ") + input.name();
    throw link_error(
        stage::linker,
        {.message = detail::format("{}: {} was not inlined: the {} link left a call to it", names,
                                   hook.name, to_string(image.mode)),
         .input = names,
         .code = error_code::not_inlined,
         .hint = "recursive, very large and __noinline__ functions are not inlined, nor are "
                 "functions of PTX or SASS; <link_options::optimization 0> and "
                 "<link_options::fast_compile> max leave all calls"});
  }
}

}  // namespace fatlink
