// SPDX-License-Identifier: Apache-2.0
#include "compiler/session/make_fatbin.hpp"

#include "compiler/compiler_version.hpp"
#include "compiler/messages/compile_messages.hpp"
#include "compiler/session/assemble_fatbin.hpp"
#include "util/text/format.hpp"
#include "vendor_compiler/nvvm.hpp"

namespace fatlink::detail {
namespace {

void check_size(std::vector<compile_product> const& products, compile_subject const& subject)
{
  constexpr std::size_t k_most_product_mib = 64;
  std::size_t size = 0;
  for (auto const& product : products)
    size += product.ptx.size() + product.ltoir.size() + product.cubin.size();
  if (size <= k_most_product_mib << 20) return;
  throw compile_error(stage::compiler,
                      {.message = detail::format("{}: compiles to more than {} MiB", subject.name,
                                                 k_most_product_mib),
                       .input = subject.name,
                       .code = error_code::above_limit,
                       .hint = "use smaller arrays with initial values, or fewer architectures"});
}

/// What the ident states. Without the version of the compiler's file, that which its PTX states.
compile_facts facts_of(compile_inputs const& inputs, hook_types const& types, bytes_view ptx)
{
  auto const version = version_of(inputs.library.identity);
  compile_facts facts{.contract = inputs.subject.contract,
                      .hooks = types.mangled,
                      .producer = inputs.producer,
                      .toolkit = version};
  if (is_known(version)) return facts;
  facts.toolkit = stated_toolkit(ptx);
  facts.producer = title_of(inputs.producer.c_str(), facts.toolkit);
  return facts;
}

std::vector<std::string> warnings_of(fatbin const& module, compile_inputs const& inputs,
                                     ir_agreement agreement)
{
  std::vector<std::string> warnings;
  auto const& name = inputs.subject.program_name;
  if (is_empty(module))
    warnings.push_back(detail::format(
        "{}: defines no function that a link sees (a static or inline one does not count)", name));
  if (agreement == ir_agreement::unknown)
    warnings.push_back(
        detail::format("{}: states no contract: whether its hooks have the types of the contract "
                       "{} cannot be established for LLVM IR",
                       name, inputs.contract->title()));
  return warnings;
}

void check_code(fatbin const& module, compile_inputs const& inputs, hook_types const& types,
                ir_agreement agreement)
{
  auto const& subject = inputs.subject;
  if (!inputs.is_cuda()) check_libdevice(module, subject, libdevice_of(inputs.library.path));
  if (!inputs.contract) return;
  check_hooks(module, subject, types);
  if (!inputs.is_cuda()) check_ir_types(inputs.code.text(), subject, types, agreement);
}

}  // namespace

cached_link make_fatbin(std::vector<compile_product> const& products, compile_inputs const& inputs,
                        hook_types const& types, ir_agreement agreement)
{
  check_size(products, inputs.subject);
  auto facts = facts_of(inputs, types, products.front().ptx);
  if (agreement == ir_agreement::unknown) facts.contract = nullptr;
  auto const& name = inputs.subject.name;
  cached_link link{.bytes = assemble_fatbin(products, inputs.options, facts, name),
                   .warnings = compile_warnings(products)};
  auto const module = fatbin::from_bytes(link.bytes, name);
  check_code(module, inputs, types, agreement);
  for (auto& warning : warnings_of(module, inputs, agreement))
    link.warnings.push_back(std::move(warning));
  return link;
}

}  // namespace fatlink::detail
