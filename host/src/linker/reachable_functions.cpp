// SPDX-License-Identifier: Apache-2.0
#include "linker/reachable_functions.hpp"

#include "detail/link_key.hpp"
#include "fatlink/preflight.hpp"

namespace fatlink::detail {

std::vector<std::string> check_options(std::vector<fatbin> const& inputs, link_options options)
{
  options.emit = image_kind::cubin;
  auto texts = nvjitlink_options(inputs, options);
  texts.emplace_back("-no-cache");  // a link from the driver's cache reports nothing
  return texts;
}

ptx_interface read_reachable(fatbin const& input, link_options const& options,
                             std::vector<std::string> texts, link_function const& link)
{
  texts.insert(texts.end(), {"-O0", "-ptx"});
  auto const product =
      link({link_input::write(input, *linked_entry(input, options.target, options.mode))}, texts,
           image_kind::ptx);
  std::string ptx(reinterpret_cast<char const*>(product.bytes.data()), product.bytes.size());
  // A link makes every function internal, and an interface lists visible ones.
  for (auto at = ptx.find("\n.func"); at != std::string::npos; at = ptx.find("\n.func", at + 1))
    ptx.insert(at + 1, ".visible ");
  return read_ptx_interface(ptx, input.name());
}

}  // namespace fatlink::detail
