// SPDX-License-Identifier: Apache-2.0
// Guards nvJitLink in this process against two moments at which it cannot run: the end of the
// process, when its static objects are gone, and a child that was forked in the middle of another
// thread's link, which has that thread's locks and not the thread.
#pragma once

namespace fatlink::detail {

/// One link in this process, for as long as it lives.
class in_process_link {
 public:
  /// @throws unavailable_error the process is ending, or was forked during a link.
  in_process_link();
  ~in_process_link();
  in_process_link(in_process_link const&) = delete;
  in_process_link& operator=(in_process_link const&) = delete;
};

/// When nvJitLink makes its static objects.
enum class nvjitlink_moment { opened, linked };

/// Makes the process's end wait for the links that run, at most ten seconds, and refuse others,
/// before it destroys the static objects that nvJitLink has made by `moment`: handlers run in the
/// reverse order of their registration. Does something once for each moment.
void end_in_process_links_at_exit(nvjitlink_moment moment);

}  // namespace fatlink::detail
