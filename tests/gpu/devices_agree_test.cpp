// SPDX-License-Identifier: Apache-2.0
// Compares the reference device with a GPU: the same linked code on stratified inputs, 2^20 times
// $FATLINK_TEST_SCALE, for every shipped transform and every function of the corpus, in both modes.
// Results must be bit-identical where PTX leaves the assembler no choice; elsewhere the largest
// distance is reported. Where FATLINK_DEVICES_TABLE names a file, the table is written to it:
// tests/gpu/devices.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>

#include "fatlink/linker.hpp"
#include "needs_nvjitlink.hpp"
#include "places.hpp"
#include "stratified.hpp"
#include "test_scale.hpp"
#include "verification/transform_reference.hpp"

namespace fatlink {
namespace {

std::size_t const k_count = fixtures::scaled(std::size_t{1} << 20);

/// The bits as an integer that ascends with the values.
std::int64_t ordered(float value)
{
  auto const bits = std::bit_cast<std::int32_t>(value);
  return bits < 0 ? -static_cast<std::int64_t>(bits & 0x7FFFFFFF) : bits;
}

/// How many floats lie between two floats, one of the two included; 0 for two NaNs.
std::uint64_t ulp_steps(float a, float b)
{
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) && std::isnan(b) ? 0 : std::numeric_limits<std::uint64_t>::max();
  return static_cast<std::uint64_t>(std::abs(ordered(a) - ordered(b)));
}

bool states_user_transform(std::filesystem::path const& sidecar)
{
  auto const stated = transform_reference::beside(sidecar);
  return stated && !stated->states_hooks;
}

struct comparison {
  std::size_t different = 0;  ///< in bits, NaNs of other bits among them
  std::size_t other_nans = 0;
  std::uint64_t max_steps = 0;
};

comparison compare(std::vector<float> const& a, std::vector<float> const& b)
{
  comparison result;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::bit_cast<std::uint32_t>(a[i]) == std::bit_cast<std::uint32_t>(b[i])) continue;
    ++result.different;
    if (std::isnan(a[i]) && std::isnan(b[i])) ++result.other_nans;
    result.max_steps = std::max(result.max_steps, ulp_steps(a[i], b[i]));
  }
  return result;
}

std::string text_of(linked_image const& image)
{
  if (image.kind == image_kind::ptx)
    return {reinterpret_cast<char const*>(image.bytes.data()), image.bytes.size()};
  std::string text;
  for (auto const& part : image.parts) text += part.text;
  return text;
}

/// The instructions of PTX text, with their modifiers.
std::set<std::string> instructions_of(std::string const& ptx)
{
  std::istringstream words(ptx);
  std::set<std::string> names;
  for (std::string word; words >> word;)
    if (word.front() >= 'a' && word.front() <= 'z' && word.find('.') != std::string::npos)
      names.insert(word);
  return names;
}

/// Why results may differ by the rules of PTX; empty: they may not.
std::string freedom(std::string const& ptx)
{
  auto const names = instructions_of(ptx);
  std::string reasons;
  auto const note = [&](std::string const& reason) {
    reasons += (reasons.empty() ? "" : ", ") + reason;
  };
  for (std::string const name : {"sin", "cos", "ex2", "lg2", "tanh", "rcp", "sqrt", "rsqrt", "div"})
    if (std::any_of(names.begin(), names.end(), [&](std::string const& instruction) {
          return instruction.starts_with(name + ".approx") ||
                 instruction.starts_with(name + ".full");
        }))
      note(name + ".approx");
  // Without a rounding modifier a multiplication may be contracted with an addition.
  for (std::string const type : {".f32", ".f64"}) {
    auto const has = [&](std::string const& name) {
      return names.contains(name + type) || names.contains(name + ".ftz" + type);
    };
    if (has("mul") && (has("add") || has("sub"))) note("mul+add" + type);
  }
  return reasons;
}

class DevicesAgree : public testing::Test {
 protected:
  void SetUp() override
  {
    std::string reason;
    if (list_gpus(reason).empty()) GTEST_SKIP() << reason;
    if (reason = fixtures::why_no_nvjitlink(); !reason.empty()) GTEST_SKIP() << reason;
    gpu_ = open_device("gpu");
    cpu_ = open_device("cpu:" + gpu_->info().target.name());
  }

  [[nodiscard]] linked_image link(device const& runner, fatbin const& transform,
                                  link_mode mode) const
  {
    auto const library = fatbin::read(places::data("apply_transform.fatbin"));
    return linker().link({library, transform}, runner.link_options(mode));
  }

  [[nodiscard]] std::vector<float> run(device const& runner, linked_image const& image) const
  {
    auto input = runner.allocate<float>(k_count);
    auto output = runner.allocate<float>(k_count);
    input.write(inputs_);
    auto s = runner.create_stream();
    runner.load(image)
        .kernel<void(float const*, float*, std::size_t)>("apply_transform")
        .launch(s, elementwise_shape(k_count), input.data(), output.data(), k_count);
    s.synchronize();
    std::vector<float> results(k_count);
    output.read(results);
    return results;
  }

  std::shared_ptr<device> gpu_;
  std::shared_ptr<device> cpu_;
  std::vector<float> inputs_ = stratified(k_count);
};

std::vector<std::filesystem::path> transforms()
{
  std::vector<std::filesystem::path> paths;
  for (auto const& folder : {places::data(), places::corpus()})
    for (auto const& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".json" && states_user_transform(entry.path()))
        paths.push_back(std::filesystem::path(entry.path()).replace_extension(".fatbin"));
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

TEST_F(DevicesAgree, OnStratifiedInputs)
{
  auto const* const file = std::getenv("FATLINK_DEVICES_TABLE");
  std::ofstream table(file == nullptr ? "/dev/null" : file);
  table << "| function | mode | differing bits | other NaNs | max ULP | PTX leaves open |\n"
           "|---|---|---:|---:|---:|---|\n";
  for (auto const& path : transforms())
    for (auto const mode : {link_mode::ptx, link_mode::lto}) {
      SCOPED_TRACE(path.stem().string() + " " + to_string(mode));
      auto const transform = fatbin::read(path);
      auto const for_cpu = link(*cpu_, transform, mode);
      auto const result = compare(run(*gpu_, link(*gpu_, transform, mode)), run(*cpu_, for_cpu));
      auto const open = freedom(text_of(for_cpu));
      table << "| " << path.stem().string() << " | " << to_string(mode) << " | " << result.different
            << " | " << result.other_nans << " | " << result.max_steps << " | " << open << " |\n";
      if (open.empty()) {
        EXPECT_EQ(result.different, 0U);
      }
    }
}

}  // namespace fatlink
