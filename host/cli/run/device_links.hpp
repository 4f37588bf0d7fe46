// SPDX-License-Identifier: Apache-2.0
// The links and the bookkeeping that runs on several devices share, by a plan or not.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "device/shared_links.hpp"
#include "fatlink/devices.hpp"
#include "run/common_start.hpp"
#include "run/devices_run.hpp"
#include "run/run_arguments.hpp"
#include "run/run_links.hpp"

namespace fatlink::cli {

/// How many of `devices` are open.
std::size_t count_open(opened_devices const& devices);

/// Rows for all devices; the open ones have parts of `count` elements, in order.
/// @throws usage_error there are fewer elements than open devices.
std::vector<device_run> divide_among(opened_devices const& devices, std::size_t count);

/// Checks the options of every link. @throws usage_error as check_options.
void check_options(run_links const& job, opened_devices const& devices, bool resources);

/// One link for each distinct target, kind of image and mode; `job` must outlive it.
detail::shared_links share_links(run_links const& job);

/// Adds the images of every mode to `run`, and the warnings of their links, which it prints once.
void add_images(devices_run& run, detail::shared_links const& links);

/// Adds what `results` say of each device that failed.
template <typename Value>
void add_failures(devices_run& run, std::vector<device_result<Value>> const& results)
{
  for (std::size_t i = 0; i < results.size(); ++i) run.devices[i].failure = results[i].failure;
}

/// If the only links failed, so that no device ran. @throws the error that all devices share.
void fail_if_shared(devices_run const& run);

/// Prints the report. Returns the exit status.
int report(devices_run const& run, bool json);

/// The membership of a device's thread: it leaves when it ends, however that is.
class run_member {
 public:
  explicit run_member(common_start& start) : start_(start) {}
  ~run_member() { start_.leave(); }
  run_member(run_member const&) = delete;
  run_member& operator=(run_member const&) = delete;

 private:
  common_start& start_;
};

}  // namespace fatlink::cli
