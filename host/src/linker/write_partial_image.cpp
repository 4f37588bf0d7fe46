// SPDX-License-Identifier: Apache-2.0
#include "linker/write_partial_image.hpp"

#include <algorithm>
#include <span>
#include <string>

#include "fatbin/add_digests.hpp"
#include "fatbin/contract_identity.hpp"
#include "fatbin/encode_ident.hpp"
#include "fatbin/write_fatbin.hpp"
#include "input/bare_entries.hpp"
#include "input/entry_flags.hpp"
#include "linker/nvjitlink_options.hpp"

namespace fatlink::detail {
namespace {

constexpr char const* k_name = "linked image";

/// What the inputs state about their contract.
ident merged_ident(std::vector<fatbin> const& inputs)
{
  ident merged{.producer = "nvJitLink"};
  auto const stated = std::ranges::find_if(
      inputs, [](fatbin const& input) { return states_contract(input.ident()); });
  if (stated == inputs.end()) return merged;
  auto const& contract = *stated->ident();
  merged.contract = contract.contract;
  merged.version = contract.version;
  merged.header_sha256 = contract.header_sha256;
  merged.contract_package = contract.contract_package;
  merged.hooks = contract.hooks;
  return merged;
}

}  // namespace

byte_buffer write_partial_image(bytes_view image, std::vector<fatbin> const& inputs,
                                link_options const& options)
{
  auto ident = merged_ident(inputs);
  fatbin_entry entry{.kind = entry_kind::elf,
                     .version_major = 1,
                     .version_minor = 8,
                     .payload = image,
                     .uncompressed_size = image.size()};
  if (options.emit == image_kind::ltoir) {
    entry = ltoir_entry(image, read_ltoir_header(image, k_name));
    ident.float_flags = to_string(linked_float_flags(inputs, options));
    entry.options = ident.float_flags;
    entry.stored_options = std::as_bytes(std::span(entry.options));
  }
  entry.target = options.target;
  entry.flags = flags_of(options.target);
  entry.ident_text = encode_ident(ident);
  return add_digests(write_fatbin(std::span<fatbin_entry const>(&entry, 1)), k_name);
}

}  // namespace fatlink::detail
