// SPDX-License-Identifier: Apache-2.0
// Several devices used at once: their names, as open_device and open_devices take them, a thread of
// the host for each, and one link for each distinct target. Threads: safe.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "fatlink/device_info.hpp"
#include "fatlink/devices.hpp"
#include "fatlink/image.hpp"
#include "fatlink/link_options.hpp"

namespace fatlink::detail {

/// The ordinal in "gpu" (0), "gpu:1" or "1". @throws usage_error another spelling.
int parse_ordinal(std::string_view name);

/// The devices of a list, each as open_device takes it, GPUs as "gpu:N": {"gpu:0", "gpu:1"} of
/// "gpu:0,1", {"cpu", "cpu"} of "2xcpu". Not "all".
/// @throws usage_error an item is not a device name, a GPU is named twice, or the list is too long.
std::vector<std::string> parse_device_list(std::string_view names);

/// The target of `device`, and the kind of image that it loads in `mode`.
[[nodiscard]] inline link_options link_options_for(device_info const& device, link_mode mode)
{
  return {.target = device.target, .mode = mode, .emit = device.image_for(mode)};
}

/// The links of several devices: one for each distinct target, kind of image and mode, made by the
/// first thread that asks for it, while the others wait. Threads: safe.
class shared_links {
 public:
  using link_function = std::function<linked_image(device_info const&, link_mode)>;

  /// `link` links for a device; called by several threads for different targets.
  explicit shared_links(link_function link) : link_(std::move(link)) {}

  /// The image for `device` in `mode`. @throws what the link throws, to each that asks for it.
  std::shared_ptr<linked_image const> get(device_info const& device, link_mode mode);

  /// The images of the links in `mode` that succeeded, by target. Not while a get() runs.
  [[nodiscard]] shared_images images(link_mode mode) const;

 private:
  using key = std::tuple<link_mode, std::string, image_kind>;
  using outcome = std::shared_future<std::shared_ptr<linked_image const>>;

  /// The result of the link, `own` if it is the first; and whether it is.
  std::pair<outcome, bool> enter(key const& link, outcome const& own);

  link_function link_;
  std::mutex mutex_;  ///< guards links_
  std::map<key, outcome> links_;
};

/// @throws usage_error a device is null.
void check_devices(opened_devices const& devices);

/// Calls `call(number)` for each of `numbers` on a thread of its own, and waits for all. `call`
/// must not throw. The calls may wait for each other: none begins unless there is a thread for
/// each.
/// @throws unavailable_error (out-of-memory) there are not enough threads; nothing was called.
void run_on_threads(std::vector<std::size_t> const& numbers,
                    std::function<void(std::size_t)> const& call);

/// Calls `call(source value, index)` on a thread for each of `sources` that has a value, and
/// returns their results when all have ended. What a call throws is the error of its device; a
/// source without a value keeps its own. @throws as run_on_threads.
template <typename Value, typename Source, typename Call>
std::vector<device_result<Value>> on_each_device(std::vector<device_result<Source>> const& sources,
                                                 Call const& call)
{
  std::vector<device_result<Value>> results;
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    results.push_back({.device = sources[i].device, .value = {}, .failure = sources[i].failure});
    if (sources[i]) numbers.push_back(i);
  }
  run_on_threads(numbers, [&](std::size_t i) {
    try {
      results[i].value.emplace(call(*sources[i].value, i));
    } catch (...) {
      results[i].failure = std::current_exception();
    }
  });
  return results;
}

}  // namespace fatlink::detail
