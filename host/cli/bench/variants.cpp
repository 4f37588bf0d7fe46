// SPDX-License-Identifier: Apache-2.0
#include "bench/variants.hpp"

#include <algorithm>

#include "bench/median.hpp"

namespace fatlink::cli {
namespace {

constexpr double k_batch_bytes = 1 << 27;  // of one timed batch, at most
constexpr double k_longest_batch = 20;

void time_rounds(device const& gpu, std::vector<variant>& variants, std::size_t batch,
                 unsigned rounds)
{
  auto const stream = gpu.create_stream();
  auto start = gpu.create_event();
  auto stop = gpu.create_event();
  for (unsigned round = 0; round <= rounds; ++round)
    for (auto& variant : variants) {
      start.record(stream);
      for (std::size_t i = 0; i < batch; ++i) variant.launch(stream);
      stop.record(stream);
      auto const ms = stop.ms_since(start) / static_cast<double>(batch);
      if (round > 0) variant.ms.push_back(ms);  // the first round warms up
    }
}

/// The median time of a variant in milliseconds; 0 if it was not measured.
double median_of(std::vector<variant> const& variants, char const* name)
{
  for (auto const& variant : variants)
    if (variant.name == name) return median(variant.ms);
  return 0;
}

nlohmann::json to_rows(std::vector<variant> const& variants, work_size size)
{
  auto const copy_ms = median_of(variants, k_copy);
  auto const single_ms = median_of(variants, k_single_source);
  auto rows = nlohmann::json::array();
  for (auto const& variant : variants) {
    auto const ms = median(variant.ms);
    rows.push_back({{"variant", variant.name},
                    {"elements", size.elements},
                    {"us", ms * 1e3},
                    {"gb_per_s", size.bytes / ms / 1e6},
                    {"rate_over_copy", copy_ms / ms},
                    {"time_over_single_source",
                     single_ms > 0 ? nlohmann::json(ms / single_ms) : nlohmann::json()}});
  }
  return rows;
}

}  // namespace

nlohmann::json time_variants(device const& gpu, std::vector<variant>& variants, work_size size,
                             unsigned rounds)
{
  auto const batch = std::clamp(k_batch_bytes / std::max(size.bytes, 1.0), 1.0, k_longest_batch);
  time_rounds(gpu, variants, static_cast<std::size_t>(batch), rounds);
  return to_rows(variants, size);
}

}  // namespace fatlink::cli
