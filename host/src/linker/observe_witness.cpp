// SPDX-License-Identifier: Apache-2.0
#include "linker/observe_witness.hpp"

#include <utility>

#include "linker/witness_ptx.hpp"
#include "nvjitlink/log.hpp"
#include "preflight/entries.hpp"

namespace fatlink::detail {
namespace {

constexpr char const* k_witness_name = "the types that the other inputs state";

witness_observation read_log(std::string const& log)
{
  witness_observation result;
  for (auto const& line : lines_of(log)) {
    for (auto const* subject : {"Prototype", "Size", "Memory space"})
      if (auto name = quoted_after(line, std::string(subject) + " doesn't match for '");
          !name.empty())
        result.mismatched.insert(std::move(name));
    if (auto name = quoted_after(line, "Undefined reference to '"); !name.empty())
      result.undefined.insert(std::move(name));
  }
  return result;
}

}  // namespace

witness_observation observe_witness(fatbin const& input, std::string const& witness,
                                    link_options const& options,
                                    std::vector<std::string> const& texts,
                                    link_function const& link)
try {
  (void)link({link_input::write(input, *linked_entry(input, choice_of(options))),
              link_input::from_ptx(witness, k_witness_target, k_witness_name)},
             texts, image_kind::cubin);
  return {};
} catch (link_error const& failed) {
  auto result = read_log(failed.details().log);
  if (result.mismatched.empty() && result.undefined.empty()) throw;
  return result;
}

}  // namespace fatlink::detail
