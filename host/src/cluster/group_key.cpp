// SPDX-License-Identifier: Apache-2.0
#include "cluster/group_key.hpp"

#include "linker/check_arguments.hpp"
#include "util/bytes/sha256.hpp"

namespace fatlink::detail {

digest256 group_key(linker const& linker, link_task const& task)
{
  auto const& settings = linker.settings();
  check_arguments(task.inputs, task.options);
  auto key = link_key(task.inputs, task.options, {});
  auto const is_confined = settings.isolation == isolation::helper && !settings.allow_unconfined;
  key.add("confined", is_confined ? "yes" : "no");
  key.add("file", settings.nvjitlink.string());
  key.add("inlined", task.options.require_inlined ? "required" : "reported");
  return sha256(std::as_bytes(std::span(key.parts())));
}

}  // namespace fatlink::detail
