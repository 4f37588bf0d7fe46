// SPDX-License-Identifier: Apache-2.0
#include "compiler/make_fatbin.hpp"

#include <algorithm>
#include <span>

#include "compiler/compile_messages.hpp"
#include "compiler/compiler_state.hpp"
#include "fatbin/entry_digests.hpp"
#include "fatbin/ident.hpp"
#include "fatbin/write_fatbin.hpp"
#include "input/bare_entries.hpp"
#include "toolkit/nvvm.hpp"
#include "util/bytes/sha256.hpp"
#include "util/text/format.hpp"

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
        "{}: defines no function that a link sees (static and inline functions do not count)",
        name));
  if (agreement == ir_agreement::unknown)
    warnings.push_back(
        detail::format("{}: states no contract: in LLVM IR, the types of its hooks cannot be "
                       "compared with those of the contract {}",
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

namespace {

bytes_view as_view(std::string_view text)
{
  return std::as_bytes(std::span(text));
}

std::string ident_text(compile_options const& options, compile_facts const& facts)
{
  ident stated{.toolkit = facts.toolkit,
               .producer = facts.producer,
               .float_flags = to_string(options.float_flags)};
  if (facts.contract != nullptr) {
    auto const& contract = *facts.contract;
    stated.contract = contract.name;
    stated.version = contract.version;
    stated.header_sha256 = to_hexadecimal(sha256(as_view(contract.header_text)));
    stated.contract_package = contract.package;
    stated.hooks = facts.hooks;
    stated.includes = contract.includes;
  }
  return encode_ident(stated);
}

class assembler {
 public:
  assembler(compile_options const& options, std::string ident, std::string const& name)
      : ident_(std::move(ident)), float_flags_(to_string(options.float_flags)), name_(name)
  {
  }

  // `product`, of a compile for `architecture`, must outlive this.
  void add(compile_product const& product, target architecture)
  {
    if (!product.ptx.empty()) add_code(ptx_entry(read_ptx_text(product.ptx, name_)));
    if (product.ltoir.empty()) return;
    auto entry = ltoir_entry(product.ltoir, read_ltoir_header(product.ltoir, name_));
    entry.target = architecture;  // its header does not tell sm_100f from sm_100
    entry.flags = flags_of(architecture);
    add_code(std::move(entry));
  }
  void add_cubin(compile_product const& product)
  {
    if (!product.cubin.empty()) add_entry(cubin_entry(product.cubin, name_));
  }

  byte_buffer finish() { return add_digests(write_fatbin(entries_), name_); }

 private:
  /// With the float flags, which bare PTX and LTO-IR do not state.
  void add_code(fatbin_entry entry)
  {
    entry.options = float_flags_;
    entry.stored_options = as_view(float_flags_);
    add_entry(std::move(entry));
  }
  void add_entry(fatbin_entry entry)
  {
    entry.ident_text = ident_;
    entries_.push_back(std::move(entry));
  }

  std::string ident_;
  std::string float_flags_;
  std::string const& name_;
  std::vector<fatbin_entry> entries_;
};

bool is_one_of(std::vector<target> const& targets, target architecture)
{
  return std::find(targets.begin(), targets.end(), architecture) != targets.end();
}

}  // namespace

std::string stated_toolkit(bytes_view ptx)
{
  constexpr std::string_view k_mark = "// Cuda compilation tools, release ";
  constexpr std::size_t k_most_comments = 1024;
  constexpr std::size_t k_longest_version = 8;
  auto text = std::string_view(reinterpret_cast<char const*>(ptx.data()), ptx.size());
  text = text.substr(0, std::min(text.find(".version"), k_most_comments));
  auto const start = text.find(k_mark);
  if (start == std::string_view::npos) return {};
  auto const version = text.substr(start + k_mark.size());
  auto const size = std::min(version.find_first_not_of("0123456789."), version.size());
  return size > k_longest_version ? std::string() : std::string(version.substr(0, size));
}

byte_buffer assemble_fatbin(std::vector<compile_product> const& products,
                            compile_options const& options, compile_facts const& facts,
                            std::string const& name)
{
  assembler image(options, ident_text(options, facts), name);
  std::size_t index = 0;
  for (auto const architecture : options.architectures) {
    image.add(products.at(index), architecture);
    if (is_one_of(options.sass, architecture)) image.add_cubin(products.at(index));
    image.add(products.at(index + 1), architecture);
    index += 2;
  }
  for (; index < products.size(); ++index) image.add_cubin(products[index]);
  return image.finish();
}

}  // namespace fatlink::detail
