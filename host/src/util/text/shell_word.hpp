// SPDX-License-Identifier: Apache-2.0
// Words of commands that messages advise. Threads: no shared state.
#pragma once

#include <string>
#include <string_view>

namespace fatlink::detail {

/// `text` as one word of a POSIX shell: as it is if the shell gives no character of it a meaning,
/// otherwise in single quotes.
std::string shell_word(std::string_view text);

}  // namespace fatlink::detail
