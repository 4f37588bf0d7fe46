// SPDX-License-Identifier: Apache-2.0
#include "compiler/hook_types.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/compile_with_headers.hpp"
#include "fatlink/error.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr char const* k_probe = "fatlink_hook_";

/// The type of a parameter that holds the result of a hook. With such a parameter in the program,
/// NVRTC 13.0 declares the result of a hook that is not called with the right alignment; without,
/// it states 4 for float2.
constexpr char const* k_result_types =
    "template <typename Hook> struct fatlink_result { using type = int; };\n"
    "template <typename Result, typename... Parameters>\n"
    "struct fatlink_result<Result(Parameters...)> { struct type { Result value; }; };\n"
    "template <typename... Parameters>\n"
    "struct fatlink_result<void(Parameters...)> { using type = int; };\n";

/// The mangled type in "_Z14fatlink_hook_0PFffE"; empty if no function of `module` has it.
std::string mangled_type(ptx_interface const& module, std::size_t index)
{
  auto const name = detail::format("{}{}", k_probe, index);
  auto const prefix = detail::format("_Z{}{}P", name.size(), name);
  for (auto const& function : module.definitions)
    if (function.name.starts_with(prefix)) return function.name.substr(prefix.size());
  return {};
}

[[noreturn]] void fail_hook_types(installed_contract const& contract, std::string const& hook)
{
  throw file_error(
      stage::compiler,
      {.message = detail::format("{}: {} is not a device function that it declares extern \"C\"",
                                 contract.header_path, hook),
       .input = contract.header_path,
       .code = error_code::invalid_contract,
       .hint =
           detail::format("correct the header or the hooks of the contract {}", contract.title())});
}

/// The program whose PTX states the types of the hooks of `contract`. `options`: of NVRTC, which
/// include the header of the contract.
program hook_probe(installed_contract const& contract, std::vector<std::string> const& options)
{
  program probe{
      .name = contract.name + "_hooks.cu",
      .compiles = {{.options = {"--relocatable-device-code=true", "--std=c++17",
                                "--gpu-architecture=compute_75", "--modify-stack-limit=false"}}}};
  auto& list = probe.compiles.front().options;
  list.insert(list.end(), options.begin(), options.end());
  probe.source = k_result_types;
  for (std::size_t i = 0; i < contract.hooks.size(); ++i)
    probe.source += detail::format(
        "__device__ void fatlink_result_{1}(fatlink_result<decltype({2})>::type) {{}}\n"
        "__device__ void {0}{1}(decltype({2})*) {{}}\n"
        "__device__ void* fatlink_address_{1}() {{ return (void*)&{2}; }}\n",
        k_probe, i, contract.hooks[i]);
  return probe;
}

/// @throws file_error (invalid_contract) the header does not declare a hook as extern "C".
hook_types read_hook_types(std::string_view ptx, installed_contract const& contract)
{
  auto const module = read_ptx_interface(ptx, contract.header_name);
  hook_types types;
  for (std::size_t i = 0; i < contract.hooks.size(); ++i) {
    auto const& name = contract.hooks[i];
    auto const mangled = mangled_type(module, i);
    auto const hook = std::find_if(module.hooks.begin(), module.hooks.end(),
                                   [&](auto const& function) { return function.name == name; });
    if (mangled.empty() || hook == module.hooks.end()) fail_hook_types(contract, name);
    types.mangled.emplace(name, mangled);
    types.declarations.push_back(*hook);
  }
  return types;
}

/// Increased whenever fatlink itself would read other types from the same header.
constexpr char const* k_hooks_format = "3";

/// The header does not compile.
struct refused_header {
  std::string log = {};
};

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

/// Compiles the header of a contract with the macros, the headers and the folders of `options`.
class header_probe {
 public:
  header_probe(installed_contract const& contract, compile_options const& options,
               compiler_state& state, compiler_helpers& helpers)
      : contract_(contract),
        options_(options),
        state_(state),
        helpers_(helpers),
        files_(options, &contract, [this] { helpers_.check_time(); }),
        places_(state.locate(source_language::cuda), state.settings.cache.get())
  {
    files_.set_cuda_folders(places_.folders());
  }

  [[nodiscard]] header_files& files() noexcept { return files_; }
  /// The PTX, from the cache or by NVRTC. `is_trusted`: the helper may serve others afterwards.
  /// @throws refused_header
  byte_buffer find_ptx(bool is_trusted)
  {
    auto const compile = [&] { return cached_link{.bytes = compile_ptx(is_trusted)}; };
    auto const identity = state_.locate(source_language::cuda).identity;
    auto const& cache = state_.settings.cache;
    auto ptx = !cache || identity.empty()
                   ? compile().bytes
                   : find_or_compile(key(identity), files_, *cache, helpers_, compile).link->bytes;
    helpers_.release();
    return ptx;
  }

 private:
  [[nodiscard]] program make_program(bool is_minimal) const
  {
    auto probe = hook_probe(contract_, files_.options());
    auto& list = probe.compiles.front().options;
    for (auto const& definition : options_.definitions)
      list.push_back("--define-macro=" + definition);
    if (is_minimal) list.emplace_back("--minimal");
    return probe;
  }
  [[nodiscard]] cache_key key(std::string const& compiler) const
  {
    cache_key key;
    key.add("hooks", k_hooks_format);
    key.add("contract", contract_.title());
    add_program(key, make_program(false), files_.memory());
    key.add("compiler", compiler);
    return key;
  }
  byte_buffer compile_ptx(bool is_trusted)
  {
    auto const answer = [&](std::string const& path) { return files_.answer(path); };
    header_compile const work{
        .make_program = [&](bool is_minimal) { return make_program(is_minimal); },
        .compile =
            [&](program const& probe) {
              auto reply = is_trusted ? helpers_.compile_trusted(helper_tool::nvrtc, probe, answer)
                                      : helpers_.compile(helper_tool::nvrtc, probe, answer);
              return std::move(reply.products);
            }};
    std::string ignored;
    auto product = std::move(compile_with_headers(work, files_, places_, helpers_, ignored).back());
    if (!product.code.empty()) throw refused_header{std::move(product.log)};
    return std::move(product.ptx);
  }

  installed_contract const& contract_;
  compile_options const& options_;
  compiler_state& state_;
  compiler_helpers& helpers_;
  header_files files_;
  cuda_headers places_;
};

hook_types read_types(byte_buffer const& ptx, installed_contract const& contract)
{
  return read_hook_types({reinterpret_cast<char const*>(ptx.data()), ptx.size()}, contract);
}

}  // namespace

stated_types find_hook_types(installed_contract const& contract, compiler_state& state,
                             compiler_helpers& helpers)
{
  compile_options const no_options;
  header_probe probe(contract, no_options, state, helpers);
  try {
    auto const ptx = probe.find_ptx(true);
    return {read_types(ptx, contract), probe.files().record()};
  } catch (refused_header const& refused) {
    refuse_header(contract, refused.log);
  }
}

declaration_state compare_declarations(installed_contract const& contract,
                                       stated_types const& stated, compile_options const& options,
                                       compiler_state& state, compiler_helpers& helpers,
                                       std::set<std::string>& record)
{
  header_probe probe(contract, options, state, helpers);
  if (options.definitions.empty() && !probe.files().has_own_of(stated.record))
    return declaration_state::same;
  byte_buffer ptx;
  try {
    ptx = probe.find_ptx(false);
  } catch (refused_header const&) {
    return declaration_state::unknown;
  }
  record.insert(probe.files().record().begin(), probe.files().record().end());
  try {
    return read_types(ptx, contract).mangled == stated.types.mangled ? declaration_state::same
                                                                     : declaration_state::different;
  } catch (file_error const&) {  // it declares another function
    return declaration_state::different;
  }
}

}  // namespace fatlink::detail
