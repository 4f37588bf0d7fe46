// SPDX-License-Identifier: Apache-2.0
// The options of every verb that links.
#pragma once

#include "fatlink/linker.hpp"
#include "verbs.hpp"

namespace fatlink::cli {

struct link_settings {
  bool in_process = false;
  bool allow_unconfined = false;
  double limit_s = 60;
  bool no_cache = false;
  bool require_inlined = false;

  /// In a process of its own, with the cache, unless told otherwise.
  [[nodiscard]] fatlink::linker linker() const;
};

/// Adds --in-process, --allow-unconfined, --link-timeout, --no-cache and --require-inlined.
void add_link_settings(CLI::App& verb, link_settings& to);

}  // namespace fatlink::cli
