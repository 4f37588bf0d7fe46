// SPDX-License-Identifier: Apache-2.0
#include "compiler/contract/find_hook_types.hpp"

#include <algorithm>
#include <functional>

#include "compiler/session/compile_key.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

/// Increased whenever fatlink itself would read other types from the same header.
constexpr char const* k_hooks_format = "1";

[[noreturn]] void refuse_header(installed_contract const& contract, std::string const& log)
{
  throw file_error(
      stage::compiler,
      {.message = detail::format("{}: the header of the contract {} does not compile on its own",
                                 contract.header_path, contract.title()),
       .input = contract.header_path,
       .code = error_code::invalid_contract,
       .log = log,
       .hint = "install the contract's package again"});
}

/// The probe with all declarations of CUDA; empty if it has them.
std::optional<program> without_minimal(program const& probe)
{
  if (probe.compiles.front().options.back() != "--minimal") return std::nullopt;
  auto full = probe;
  full.compiles.front().options.pop_back();
  return full;
}

cache_key hooks_key(installed_contract const& contract, program const& probe,
                    std::string const& compiler)
{
  cache_key key;
  key.add("hooks", k_hooks_format);
  key.add("contract", contract.title());
  add_program(key, probe);
  key.add("compiler", compiler);
  return key;
}

/// The PTX of `probe`, from the cache or by `compile`.
byte_buffer find_ptx(installed_contract const& contract, program const& probe,
                     compiler_state& state, compiler_helpers& helpers,
                     std::function<link_cache::product()> const& compile)
{
  auto const identity = state.locate(source_language::cuda).identity;
  if (!state.settings.cache || identity.empty()) return compile().link.bytes;
  return helpers.find_or_make(hooks_key(contract, probe, identity), compile).link->bytes;
}

/// The probe with the macros, the headers and the folders of `options`.
program probe_under(compile_options const& options, installed_contract const& contract,
                    compiler_state& state, compiler_helpers& helpers)
{
  auto const forced = forced_header_of(contract);
  cuda_headers const places(state.locate(source_language::cuda), state.settings.cache.get());
  auto const collected = collect_headers({.options = options, .forced = &forced}, places, helpers);
  auto probe = hook_probe(contract, collected.headers.headers(), collected.forced_name);
  for (auto const& definition : options.definitions)
    probe.compiles.front().options.push_back("--define-macro=" + definition);
  if (collected.headers.has_only_forced() && options.definitions.empty())
    probe.compiles.front().options.emplace_back("--minimal");
  return probe;
}

bool is_same(program const& left, program const& right)
{
  auto const is_same_header = [](memory_header const& one, memory_header const& other) {
    return one.name == other.name && one.text == other.text;
  };
  return left.source == right.source && left.compiles == right.compiles &&
         std::ranges::equal(left.headers, right.headers, is_same_header);
}

}  // namespace

forced_header forced_header_of(installed_contract const& contract)
{
  return {contract.header_name, contract.header_text, contract.folder, contract.header_below};
}

program find_hook_probe(installed_contract const& contract, compiler_state& state,
                        compiler_helpers& helpers)
{
  return probe_under({}, contract, state, helpers);
}

hook_types find_hook_types(installed_contract const& contract, program const& probe,
                           compiler_state& state, compiler_helpers& helpers)
{
  auto const compile_probe = [&] {
    auto reply = helpers.compile_trusted(helper_tool::nvrtc, probe);
    if (!reply.products.back().code.empty() && without_minimal(probe))
      reply = helpers.compile_trusted(helper_tool::nvrtc, *without_minimal(probe));
    auto& product = reply.products.back();
    if (!product.code.empty()) refuse_header(contract, product.log);
    return link_cache::product{.link = {.bytes = std::move(product.ptx)}};
  };
  auto const ptx = find_ptx(contract, probe, state, helpers, compile_probe);
  helpers.release();
  return read_hook_types({reinterpret_cast<char const*>(ptx.data()), ptx.size()}, contract);
}

declaration_state compare_declarations(installed_contract const& contract, program const& probe,
                                       hook_types const& types, compile_options const& options,
                                       compiler_state& state, compiler_helpers& helpers)
{
  auto const own = probe_under(options, contract, state, helpers);
  if (is_same(own, probe)) return declaration_state::same;
  auto const compile_probe = [&] {
    auto reply = helpers.compile(helper_tool::nvrtc, own);
    auto& product = reply.products.back();
    auto const is_compiled = product.code.empty();
    return link_cache::product{
        .link = {.bytes = is_compiled ? std::move(product.ptx) : byte_buffer()},
        .keep = is_compiled};
  };
  auto const ptx = find_ptx(contract, own, state, helpers, compile_probe);
  if (ptx.empty()) return declaration_state::unknown;
  try {
    auto const declared =
        read_hook_types({reinterpret_cast<char const*>(ptx.data()), ptx.size()}, contract);
    return declared.mangled == types.mangled ? declaration_state::same
                                             : declaration_state::different;
  } catch (file_error const&) {  // it declares another function
    return declaration_state::different;
  }
}

}  // namespace fatlink::detail
