// SPDX-License-Identifier: Apache-2.0
#include "linker/reachable_functions.hpp"

#include "fatlink/preflight.hpp"
#include "linker/nvjitlink_options.hpp"
#include "nvjitlink/link_input.hpp"
#include "preflight/entries.hpp"

namespace fatlink::detail {

ptx_interface read_linked_interface(std::string_view linked, std::string_view name)
{
  std::string ptx;
  for (auto end = linked.find("\n.func"); end != std::string_view::npos;
       end = linked.find("\n.func")) {
    ptx.append(linked.substr(0, end + 1)).append(".visible ");
    linked.remove_prefix(end + 1);
  }
  return read_ptx_interface(ptx.append(linked), name);
}

std::vector<std::string> check_options(std::vector<fatbin> const& inputs,
                                       link_options const& options)
{
  link_options check{.target = options.target, .mode = options.mode};
  check.driver_cache = false;  // a link from the driver's cache reports nothing
  return nvjitlink_options(inputs, check);
}

std::string unoptimized_link(std::vector<fatbin const*> const& inputs, link_options const& options,
                             std::vector<std::string> texts, link_function const& link)
{
  texts.insert(texts.end(), {"-O0", "-ptx"});
  std::vector<link_input> parts;
  for (auto const* input : inputs)
    if (auto const& entry = *linked_entry(*input, choice_of(options));
        entry.kind == entry_kind::ltoir)
      parts.push_back(link_input::write(*input, entry));
  auto const product = link(parts, texts, image_kind::ptx);
  return {reinterpret_cast<char const*>(product.bytes.data()), product.bytes.size()};
}

ptx_interface read_reachable(fatbin const& input, link_options const& options,
                             std::vector<std::string> texts, link_function const& link)
{
  return read_linked_interface(unoptimized_link({&input}, options, std::move(texts), link),
                               input.name());
}

}  // namespace fatlink::detail
