// SPDX-License-Identifier: Apache-2.0
#include "compiler/assemble_fatbin.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "fatbin/add_digests.hpp"
#include "fatbin/write_fatbin.hpp"
#include "input/cubin_module.hpp"
#include "input/entry_flags.hpp"
#include "input/ltoir.hpp"
#include "input/ptx_text.hpp"
#include "util/bytes/base64.hpp"
#include "util/bytes/sha256.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

bytes_view as_view(std::string_view text)
{
  return std::as_bytes(std::span(text));
}

/// The members in the order in which fatlink_add_fatbin writes them.
std::string ident_text(compile_options const& options, compile_facts const& facts)
{
  nlohmann::ordered_json json{{"fatlink", k_ident_format}};
  if (facts.contract != nullptr) {
    json["contract"] = facts.contract->name;
    json["version"] = facts.contract->version;
    json["header_sha256"] = to_hexadecimal(sha256(as_view(facts.contract->header_text)));
    json["contract_package"] = facts.contract->package;
    json["hooks"] = facts.hooks;
  }
  json["toolkit"] = facts.toolkit;
  json["float"] = to_string(options.float_flags);
  json["producer"] = facts.producer;
  return encode_base64(json.dump());
}

class assembler {
 public:
  assembler(compile_options const& options, std::string ident, std::string const& name)
      : ident_(std::move(ident)), float_flags_(to_string(options.float_flags)), name_(name)
  {
  }

  // `product` must outlive this.
  void add(compile_product const& product)
  {
    if (!product.ptx.empty()) add_ptx(product.ptx);
    if (!product.ltoir.empty()) add_ltoir(product.ltoir);
  }
  void add_cubin(compile_product const& product)
  {
    if (!product.cubin.empty()) add_entry(cubin_entry(product.cubin, name_));
  }

  byte_buffer finish() { return add_digests(write_fatbin(entries_), name_); }

 private:
  void add_ptx(byte_buffer const& bytes)
  {
    auto const ptx = read_ptx_text(bytes, name_);
    fatbin_entry entry;
    entry.kind = entry_kind::ptx;
    entry.target = ptx.target;
    entry.version_major = ptx.version_major;
    entry.version_minor = ptx.version_minor;
    entry.payload = as_view(ptx.text);
    add_code(entry);
  }
  void add_ltoir(byte_buffer const& bytes)
  {
    auto const header = read_ltoir_header(bytes, name_);
    fatbin_entry entry;
    entry.kind = entry_kind::ltoir;
    entry.target = header.target;
    entry.version_major = static_cast<std::uint16_t>(header.container.major);
    entry.version_minor = static_cast<std::uint16_t>(header.container.minor);
    entry.payload = bytes;
    add_code(entry);
  }
  void add_code(fatbin_entry& entry)
  {
    entry.flags = flags_of(entry.target);
    entry.uncompressed_size = entry.payload.size();
    entry.options = float_flags_;
    entry.stored_options = as_view(float_flags_);
    add_entry(entry);
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

bool is_in(std::vector<target> const& targets, target architecture)
{
  return std::find(targets.begin(), targets.end(), architecture) != targets.end();
}

}  // namespace

std::string stated_toolkit(std::vector<compile_product> const& products)
{
  constexpr std::string_view k_mark = "// Cuda compilation tools, release ";
  for (auto const& product : products) {
    std::string_view const ptx(reinterpret_cast<char const*>(product.ptx.data()),
                               product.ptx.size());
    auto const head = ptx.substr(0, ptx.find("\n.version"));
    auto const start = head.find(k_mark);
    if (start == std::string_view::npos) continue;
    auto const version = head.substr(start + k_mark.size());
    return std::string(version.substr(0, version.find_first_not_of("0123456789.")));
  }
  return {};
}

byte_buffer assemble_fatbin(std::vector<compile_product> const& products,
                            compile_options const& options, compile_facts const& facts,
                            std::string const& name)
{
  assembler image(options, ident_text(options, facts), name);
  std::size_t index = 0;
  for (auto const architecture : options.architectures) {
    image.add(products.at(index));
    if (is_in(options.sass, architecture)) image.add_cubin(products.at(index));
    image.add(products.at(index + 1));
    index += 2;
  }
  for (; index < products.size(); ++index) image.add_cubin(products[index]);
  return image.finish();
}

}  // namespace fatlink::detail
