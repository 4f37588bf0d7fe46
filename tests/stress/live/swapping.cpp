// SPDX-License-Identifier: Apache-2.0
#include "swapping.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

#include "places.hpp"
#include "shipped_links.hpp"

namespace stress {
namespace {

using fatlink::input;

input library()
{
  return input::find(places::data("apply_transform.fatbin"));
}

/// relu_poly with one byte of its code changed.
std::filesystem::path write_damaged(std::filesystem::path const& folder)
{
  std::ifstream source(places::data("relu_poly.fatbin"), std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(source), {}};
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x20);
  auto path = folder / "damaged.fatbin";
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

}  // namespace

swapping::swapping(fatlink::live_module live, fatlink::link_options link,
                   std::filesystem::path folder)
    : live_(std::move(live)), link_(std::move(link)), damaged_(write_damaged(folder))
{
  for (std::size_t i = 0; i < transforms_.size(); ++i)
    transforms_[i] = {library(),
                      input::find(places::data(i == 0 ? "relu_poly.fatbin" : "gelu.fatbin"))};
}

void swapping::swap()
{
  auto const report = live_.swap(inputs(swaps_ + 1));
  ++swaps_;
  auto const& times = report.times;
  for (auto const& [name, ms] :
       {std::pair("link_ms", times.check_ms + times.link_ms), std::pair("load_ms", times.load_ms),
        std::pair("publish_ms", times.publish_ms)}) {
    slowest_ms_[name] = std::max(slowest_ms_[name], ms);
    total_ms_[name] += ms;
  }
}

void swapping::expect_refusal(std::string const& kind, std::function<void()> const& work)
try {
  auto const version = live_.current().number;
  try {
    work();
    unexpected_.push_back(kind + " was not refused");
  } catch (fatlink::error const&) {
    ++refused_[kind];
  }
  if (live_.current().number != version) unexpected_.push_back(kind + " changed the version");
} catch (std::exception const& failure) {
  unexpected_.push_back(kind + ": " + failure.what());
}

void swapping::break_swap(std::size_t number)
{
  switch (number % 5) {
    case 0:
      return expect_refusal("damaged", [&] {
        live_.swap_files({places::data("apply_transform.fatbin"), damaged_.string()});
      });
    case 1:
      return expect_refusal("wrong_type", [&] {
        live_.swap({library(), input::find(places::fixture("two_types_ltoir.fatbin"))});
      });
    case 2:
      return expect_refusal("missing_hook", [&] { live_.swap({library()}); });
    case 3:
      return expect_refusal("missing_file", [&] { live_.swap_files({damaged_ / "none.fatbin"}); });
    default:
      return expect_refusal("not_verified", [&] {
        live_.swap(inputs(number), {.verify = [](fatlink::loaded_module const&) {
                     throw fatlink::usage_error({.message = "the results are wrong"});
                   }});
      });
  }
}

/// The option gives the link another cache key, so that it needs the helper.
void swapping::kill_helper_during_swap()
try {
  auto options = link_;
  options.nvvm = {"-jump-table-density=" + std::to_string(11 + killed_links_++ % 80)};
  auto const helper = fixtures::next_process();
  std::jthread const killer([helper] {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    ::kill(helper, SIGKILL);
  });
  try {
    live_.swap(inputs(swaps_ + 1), {.link = options});
    ++swaps_;
  } catch (fatlink::link_error const&) {
    ++refused_["killed_helper"];
  }
} catch (std::exception const& failure) {
  unexpected_.push_back(std::string("killed_helper: ") + failure.what());
}

void swapping::run(swap_plan const& plan, launch_counts const& counts)
{
  auto const start = counts.launches.load();
  for (std::size_t i = 0; i < plan.swaps; ++i) {
    while (counts.launches - start < i * plan.launches / plan.swaps && counts.failed == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    try {
      swap();
    } catch (std::exception const& failure) {
      unexpected_.push_back(std::string("a swap failed: ") + failure.what());
    }
    ++ended_;
    for (auto number = i * plan.broken / plan.swaps; number < (i + 1) * plan.broken / plan.swaps;
         ++number, ++ended_)
      break_swap(number);
    if (i * plan.killed / plan.swaps != (i + 1) * plan.killed / plan.swaps)
      kill_helper_during_swap();
  }
}

nlohmann::json swapping::report() const
{
  return {{"succeeded", swaps_},
          {"refused", refused_},
          {"slowest_ms", slowest_ms_},
          {"total_ms", total_ms_},
          {"unexpected", unexpected_}};
}

}  // namespace stress
