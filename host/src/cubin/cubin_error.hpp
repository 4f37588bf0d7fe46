// SPDX-License-Identifier: Apache-2.0
// Runs a reader of cubins and turns what it throws into the error of a file.
// Threads: no shared state.
#pragma once

#include "cubin/cubin.hpp"
#include "cubin/cubin_file.hpp"
#include "util/bytes/byte_reader.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {

/// @throws format_error always: code corrupt-cubin.
[[noreturn]] void fail_corrupt(cubin_name const& name, std::uint64_t offset,
                               std::string const& cause);

/// @throws format_error always: code above-limit.
[[noreturn]] void fail_above_limit(cubin_name const& name, cubin_above_limit const& limit);

/// Returns what `read()` returns. @throws format_error with `name`, for a malformed file.
template <typename Read>
auto read_named(cubin_name const& name, Read const& read)
try {
  return read();
} catch (elf_error const& error) {
  fail_corrupt(name, error.offset, error.cause);
} catch (out_of_bytes const& end) {
  fail_corrupt(name, end.offset,
               detail::format("truncated: {} bytes are needed here, there are {} in all",
                              end.wanted, end.size));
} catch (cubin_above_limit const& limit) {
  fail_above_limit(name, limit);
}

}  // namespace fatlink::detail
