// SPDX-License-Identifier: Apache-2.0
// SIGHUP, SIGINT and SIGTERM: temporary files are removed, then the process ends by that signal, so
// its parent process sees the signal. Helpers end with the process.
#pragma once

namespace fatlink::cli {

/// Installs the handlers, except for signals that are ignored when the program starts.
void remove_temporaries_on_signals();

/// During its lifetime the first signal is only recorded; the destructor then ends the process,
/// after the destructors of objects that were created later. A second signal ends the process at
/// once. Only one object may exist at a time.
class deferred_interrupts {
 public:
  deferred_interrupts() noexcept;
  ~deferred_interrupts();
  deferred_interrupts(deferred_interrupts const&) = delete;
  deferred_interrupts& operator=(deferred_interrupts const&) = delete;
  [[nodiscard]] bool is_pending() const noexcept;  ///< a signal was recorded
};

}  // namespace fatlink::cli
