// SPDX-License-Identifier: Apache-2.0
// What the settings of linkers and of compilers have in common. Threads: no shared state.
#pragma once

#include <chrono>

#include "c_interface/handles.hpp"

namespace fatlink::c {

/// The C++ settings with the members that both kinds of settings have; a limit of 0 is the default.
template <typename Settings, typename Stated>
Settings read_tool_settings(Stated const& stated)
{
  Settings settings;
  if (stated.time_limit_ms != 0)
    settings.time_limit = std::chrono::milliseconds(stated.time_limit_ms);
  if (stated.cache != nullptr) settings.cache = stated.cache->cache;
  settings.allow_unconfined = stated.allow_unconfined != 0;
  return settings;
}

}  // namespace fatlink::c
