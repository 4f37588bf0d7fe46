// SPDX-License-Identifier: Apache-2.0
// Texts that the caller of the C interface owns. Threads: no shared state.
#pragma once

#include <string>

namespace fatlink::c {

/// A copy of `text`, to be freed with fatlink_text_free.
inline char* copy_text(std::string const& text)
{
  auto* const copy = new char[text.size() + 1];
  text.copy(copy, text.size());
  copy[text.size()] = '\0';
  return copy;
}

}  // namespace fatlink::c
