// SPDX-License-Identifier: Apache-2.0
// Runs the elementwise kernel of linked images on a device and verifies the results in chunks, so
// that host memory does not depend on the element count. Device memory: the input and one output
// for each image, 4 bytes for each element. On the reference device, whose memory is the host's,
// only the output of the last image stays there: those of more than 2^20 elements before it go to
// unnamed files in $TMPDIR, if there is room. Units: elements, milliseconds. Threads: one device
// may be used by several threads.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fatlink/device.hpp"
#include "fatlink/reference.hpp"
#include "fatlink/verify.hpp"
#include "verification/elements.hpp"
#include "verification/npy.hpp"

namespace fatlink {

struct execution_request {
  std::string kernel = "apply_transform";            ///< (const float*, float*, size_t)
  std::optional<fatlink::reference> reference = {};  ///< what the transform should compute
  npy_writer* output = nullptr;  ///< receives the last image's results; not committed
  /// Called between chunks with the current step ("uploading") and the fraction of it that is done,
  /// in [0, 1]; may be empty.
  std::function<void(char const* action, double fraction)> progress = {};
  /// Called before each launch that is measured, and before the first result is compared or
  /// written, as runs on several devices need; may be empty.
  std::function<void()> before_launch = {};
  std::function<void()> before_results = {};
  extent block = 256;  ///< threads of each block; see elementwise_shape
  /// How many elements each thread processes; more than 1 only for kernels that are known to.
  unsigned elements_per_thread = 1;
  std::size_t first_results = 0;  ///< how many of the first results the report keeps
};

/// When something began and ended, by the clock of the host.
struct time_span {
  std::chrono::steady_clock::time_point begin = {};
  std::chrono::steady_clock::time_point end = {};
};

struct execution {
  verification against_reference = {};  ///< `elements` is 0 without a reference
  double load_ms = 0;                   ///< loading the image on the device, wall time
  double launch_ms = 0;                 ///< from the first launch to its end, wall time
  double run_ms = 0;                    ///< the kernel, measured by the device's events
  time_span measured = {};              ///< the measured launch, as the host saw it
};

/// One element and its results.
struct element_result {
  float input = 0;
  std::vector<float> actual = {};       ///< of each image, in the order of the images
  std::optional<double> expected = {};  ///< empty without a reference
};

struct execution_report {
  std::vector<execution> images = {};        ///< in the order of the images
  std::optional<verification> between = {};  ///< of the first two images, when there are two
  std::vector<element_result> first_results = {};
  launch_shape shape = {};  ///< of every launch
  double verify_ms = 0;     ///< copying the results back, or to files, and checking them, wall time
};

/// @throws device_error, link_error, unavailable_error as device::load and kernel::launch;
/// file_error as `input` and `request.output`, or there is no such kernel; usage_error a block or
/// elements_per_thread of 0, or the kernel has other parameters.
execution_report execute(device const& device, std::span<linked_image const> images,
                         element_source const& input, execution_request const& request);

}  // namespace fatlink
