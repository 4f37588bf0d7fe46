// SPDX-License-Identifier: Apache-2.0
#include "verification/elements.hpp"

#include <array>
#include <limits>

#include "util/process/parallel.hpp"

namespace fatlink {
namespace {

// Steele, Lea, Flood: "Fast splittable pseudorandom number generators" (SplitMix64's finaliser).
std::uint64_t mix(std::uint64_t z) noexcept
{
  z += 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

constexpr float k_denormal = std::numeric_limits<float>::denorm_min();
constexpr float k_least = std::numeric_limits<float>::min();
constexpr std::array k_first{0.25F, 0.0F,  -0.0F, 1.0F,     -1.0F,   k_denormal,
                             2.0F,  -2.0F, 0.5F,  -k_least, k_least, 4.0F};

class seeded_elements final : public element_source {
 public:
  seeded_elements(std::size_t count, std::uint64_t seed) : count_(count), seed_(mix(seed)) {}
  [[nodiscard]] std::size_t size() const noexcept override { return count_; }

  void fill(std::size_t start, std::span<float> values) const override
  {
    detail::parallel_blocks(values.size(), [&](std::size_t begin, std::size_t end, std::size_t) {
      for (auto i = begin; i < end; ++i) values[i] = element(start + i);
    });
  }

 private:
  [[nodiscard]] float element(std::size_t index) const noexcept
  {
    if (index < k_first.size()) return k_first[index];
    auto const bits = static_cast<std::uint32_t>(mix(seed_ ^ index) >> 40);  // 24 bits
    return static_cast<float>(bits) * 0x1p-20F - 8.0F;
  }

  std::size_t count_;
  std::uint64_t seed_;
};

class file_elements final : public element_source {
 public:
  explicit file_elements(npy_reader file) : file_(std::move(file)) {}
  [[nodiscard]] std::size_t size() const noexcept override { return file_.size(); }
  void fill(std::size_t start, std::span<float> values) const override
  {
    file_.read(start, values);
  }

 private:
  npy_reader file_;
};

}  // namespace

std::unique_ptr<element_source> generated_elements(std::size_t count, std::uint64_t seed)
{
  return std::make_unique<seeded_elements>(count, seed);
}

std::unique_ptr<element_source> npy_elements(npy_reader file)
{
  return std::make_unique<file_elements>(std::move(file));
}

}  // namespace fatlink
