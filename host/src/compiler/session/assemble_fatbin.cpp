// SPDX-License-Identifier: Apache-2.0
#include "compiler/session/assemble_fatbin.hpp"

#include <algorithm>
#include <span>

#include "fatbin/entry_digests.hpp"
#include "fatbin/ident.hpp"
#include "fatbin/write_fatbin.hpp"
#include "input/bare_entries.hpp"
#include "util/bytes/sha256.hpp"

namespace fatlink::detail {
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
