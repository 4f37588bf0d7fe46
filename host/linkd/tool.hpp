// SPDX-License-Identifier: Apache-2.0
// What a helper runs for its host: nvJitLink, NVRTC or libNVVM. Opened before the process is
// confined; answers requests afterwards. Standard output and standard error of the process are a
// file in memory: nvJitLink reports wrong prototypes and duplicate definitions only on standard
// error. Threads: one at a time.
#pragma once

#include <memory>
#include <string>

#include "link_helper/link_helper.hpp"
#include "link_helper/protocol.hpp"

namespace fatlink {

class tool {
 public:
  virtual ~tool() = default;
  /// The hello, without process and layers.
  [[nodiscard]] virtual detail::helper_hello hello() const = 0;
  /// The kind of the requests that it answers.
  [[nodiscard]] virtual detail::message_kind request_kind() const noexcept = 0;
  /// The reply to the request in `body`.
  /// @throws protocol_error it is not a request. @throws error the request failed.
  [[nodiscard]] virtual byte_buffer answer(bytes_view body,
                                           detail::request_identity const& identity) const = 0;
};

/// Opens the tool of `settings` (its `allow_unconfined` and `memory_mib` are for the process).
/// @throws unavailable_error it is not there or cannot be used.
std::unique_ptr<tool> open_tool(detail::helper_settings const& settings);

/// Redirects standard output and standard error of this process to a file in memory.
/// @throws unavailable_error the kernel refuses; the helper must not link then.
void collect_printed_output();

/// Returns what was printed since the previous call.
std::string take_printed_output();

}  // namespace fatlink
