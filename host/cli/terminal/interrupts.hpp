// SPDX-License-Identifier: Apache-2.0
// SIGHUP, SIGINT and SIGTERM: temporary files are removed, then the process ends by that signal, so
// that the one who waits for it sees which. Helpers end with the process (worker/host_watch.hpp).
#pragma once

namespace fatlink::cli {

/// Handles the signals, except those that were ignored when the program was started.
void remove_temporaries_on_signals();

/// While one lives, the first signal is only recorded: its end then ends the process, after the
/// destructors of what was created later. A second signal ends it at once. One at a time.
class deferred_interrupts {
 public:
  deferred_interrupts() noexcept;
  ~deferred_interrupts();
  deferred_interrupts(deferred_interrupts const&) = delete;
  deferred_interrupts& operator=(deferred_interrupts const&) = delete;
  [[nodiscard]] bool is_pending() const noexcept;  ///< a signal waits
};

}  // namespace fatlink::cli
