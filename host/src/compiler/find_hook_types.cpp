// SPDX-License-Identifier: Apache-2.0
#include "compiler/find_hook_types.hpp"

#include "compiler/compile_key.hpp"
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

}  // namespace

forced_header forced_header_of(installed_contract const& contract)
{
  return {contract.header_name, contract.header_text,
          std::filesystem::path(contract.header_path).parent_path()};
}

program find_hook_probe(installed_contract const& contract, compiler_state& state,
                        compiler_helpers& helpers)
{
  auto const forced = forced_header_of(contract);
  compile_options const options;
  cuda_headers const places(state.locate(source_language::cuda), state.settings.cache.get());
  auto const collected = collect_headers({.options = options, .forced = &forced}, places, helpers);
  auto probe = hook_probe(contract, collected.headers.headers(), collected.forced_name);
  if (collected.headers.has_only_forced()) probe.compiles.front().options.emplace_back("--minimal");
  return probe;
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
  auto const& cache = state.settings.cache;
  auto const find_ptx = [&] {
    if (!cache) return compile_probe().link.bytes;
    auto const identity = state.locate(source_language::cuda).identity;
    return helpers.find_or_make(hooks_key(contract, probe, identity), compile_probe).link->bytes;
  };
  auto const ptx = find_ptx();
  return read_hook_types({reinterpret_cast<char const*>(ptx.data()), ptx.size()}, contract);
}

}  // namespace fatlink::detail
