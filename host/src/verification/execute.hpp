// SPDX-License-Identifier: Apache-2.0
// Runs the elementwise kernel of linked images on a device and verifies what they computed,
// chunk by chunk: host memory is a few chunks, whatever the element count. Device memory: the
// input and one output an image, 4 bytes an element each.
#pragma once

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
  std::string kernel = "apply_transform";  ///< (const float*, float*, size_t)
  std::optional<fatlink::reference> reference = {};
  npy_writer* output = nullptr;  ///< receives the last image's results; not committed
  /// Told the fraction done of the whole, in [0, 1], between chunks; may be empty.
  std::function<void(char const* doing, double fraction)> progress = {};
  extent block = 256;  ///< threads of a block; see elementwise_shape
  /// More than 1 only for a kernel that is known to process so many elements with each thread.
  unsigned elements_per_thread = 1;
  std::size_t first_results = 0;  ///< how many of the first results the report keeps
};

struct execution {
  verification against_reference = {};  ///< `elements` is 0 without a reference
  double load_ms = 0;                   ///< of the image onto the device, wall time
  double launch_ms = 0;                 ///< of the first launch until it was done, wall time
  double run_ms = 0;                    ///< of the kernel, the device's own time
};

/// An element as it was computed.
struct element_result {
  float input = 0;
  std::vector<float> actual = {};       ///< of each image, in the order given
  std::optional<double> expected = {};  ///< nothing without a reference
};

struct execution_report {
  std::vector<execution> images = {};        ///< in the order given
  std::optional<verification> between = {};  ///< of the first two images, when there are two
  std::vector<element_result> first_results = {};
  launch_shape shape = {};  ///< of every launch
  double verify_ms = 0;     ///< copying the results back and checking them, wall time
};

/// @throws device_error, file_error as the device and the files do.
execution_report execute(device const& on, std::span<linked_image const> images,
                         element_source const& input, execution_request const& request);

}  // namespace fatlink
