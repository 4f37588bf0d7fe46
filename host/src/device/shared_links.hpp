// SPDX-License-Identifier: Apache-2.0
// The links of several devices: one for each distinct target, kind of image and mode, made by the
// first thread that asks for it, while the others wait. Threads: safe.
#pragma once

#include <exception>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>

#include "fatlink/device_info.hpp"
#include "fatlink/devices.hpp"
#include "fatlink/image.hpp"

namespace fatlink::detail {

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

}  // namespace fatlink::detail
