// SPDX-License-Identifier: Apache-2.0
// One flipped bit anywhere in a fatbin of fatlink_add_fatbin: it is refused, or the linked product
// is the same. $FATLINK_TEST_SCALE multiplies the 400 flips. Flips are spread evenly over the
// fatbins, over their entries' headers and payloads, and over each of those.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <random>

#include "fatlink/linker.hpp"
#include "fatlink/preflight.hpp"
#include "needs_nvjitlink.hpp"
#include "places.hpp"
#include "test_scale.hpp"

using namespace fatlink;

namespace {

constexpr std::size_t k_flips = 400;
constexpr std::chrono::seconds k_link_limit{10};
constexpr std::array k_modes{link_mode::ptx, link_mode::lto};

/// What a flip changes.
struct region {
  std::string name;  ///< "header of ltoir"
  std::size_t begin;
  std::size_t end;
};

/// Fatbins that are linked together, one of which is damaged.
struct subject {
  std::string name;
  std::vector<fatbin> inputs;
  std::size_t damaged;  ///< its index in inputs
  std::vector<region> regions;
  std::vector<byte_buffer> products;  ///< of the undamaged inputs, by k_modes
};

enum class outcome { refused_when_read, refused_by_preflight, refused_by_link, same, other };

std::vector<region> regions_of(fatbin const& file)
{
  auto const base = file.bytes().data();
  std::vector<region> regions{{"container header", 0, 16}};
  for (auto const& entry : file.entries()) {
    auto const begin = static_cast<std::size_t>(entry.payload.data() - base);
    auto const kind = std::string(to_string(entry.kind)) + ", " + to_string(entry.compression);
    regions.push_back({"header of " + kind, static_cast<std::size_t>(entry.offset), begin});
    regions.push_back({"payload of " + kind, begin, begin + entry.payload.size()});
  }
  return regions;
}

linker make_linker()
{
  return linker({.time_limit = k_link_limit});
}

byte_buffer link(linker& with, std::vector<fatbin> const& inputs, link_mode mode)
{
  return with.link(inputs, {.target = "sm_90", .mode = mode, .emit = image_kind::cubin}).bytes;
}

/// Read as bytes: the .json beside a shipped fatbin states the digest of the whole file.
fatbin read_alone(std::filesystem::path const& path)
{
  auto const file = fatbin::read(path);
  return fatbin::from_bytes({file.bytes().begin(), file.bytes().end()}, path.filename().string());
}

subject make_subject(std::filesystem::path const& transform, std::size_t damaged)
{
  subject made{transform.filename().string(),
               {read_alone(places::data("apply_transform.fatbin")), read_alone(transform)},
               damaged,
               {},
               {}};
  made.regions = regions_of(made.inputs[damaged]);
  auto with = make_linker();
  for (auto const mode : k_modes) made.products.push_back(link(with, made.inputs, mode));
  return made;
}

/// The shipped ones, and one of every way in which nvcc stores payloads.
std::vector<subject> subjects()
{
  std::vector<subject> all{make_subject(places::data("gelu.fatbin"), 0)};
  for (auto const* name : {"relu_poly", "gelu", "damped_sine"})
    all.push_back(make_subject(places::data(std::string(name) + ".fatbin"), 1));
  for (auto const* name : {"stored_raw", "stored_lz4", "stored_small"})
    all.push_back(make_subject(places::tests() / "hostile" / (std::string(name) + ".fatbin"), 1));
  return all;
}

bool is_refused(std::vector<fatbin> const& inputs, link_mode mode)
{
  auto const findings = preflight(inputs, {.target = "sm_90", .mode = mode});
  return std::ranges::any_of(
      findings, [](finding const& known) { return known.severity == severity::error; });
}

/// The product of damaged inputs in both modes against that of the undamaged.
outcome compare(linker& with, std::vector<fatbin> const& inputs, subject const& whole)
{
  auto result = outcome::refused_by_preflight;
  for (std::size_t i = 0; i < k_modes.size(); ++i) try {
      if (is_refused(inputs, k_modes[i])) continue;
      if (link(with, inputs, k_modes[i]) != whole.products[i]) return outcome::other;
      result = outcome::same;
    } catch (error const&) {
      if (result != outcome::same) result = outcome::refused_by_link;
    }
  return result;
}

outcome flip(linker& with, subject const& whole, std::size_t bit)
{
  auto const original = whole.inputs[whole.damaged].bytes();
  byte_buffer bytes(original.begin(), original.end());
  bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  auto inputs = whole.inputs;
  try {
    inputs[whole.damaged] = fatbin::from_bytes(std::move(bytes), "damaged.fatbin");
  } catch (format_error const&) {
    return outcome::refused_when_read;
  }
  return compare(with, inputs, whole);
}

char const* to_string(outcome result)
{
  constexpr std::array k_texts{"refused when read", "refused by preflight", "refused by the link",
                               "the same product", "ANOTHER PRODUCT"};
  return k_texts.at(static_cast<std::size_t>(result));
}

}  // namespace

using BitFlips = fixtures::needs_nvjitlink;

TEST_F(BitFlips, AreRefusedOrHaveTheSameProduct)
{
  auto const all = subjects();
  auto with = make_linker();
  std::mt19937_64 random(14);
  std::map<std::string, std::map<outcome, int>> counts;
  auto const flips = fixtures::scaled(k_flips);
  for (std::size_t i = 0; i < flips; ++i) {
    auto const& whole = all[i % all.size()];
    auto const& place = whole.regions[random() % whole.regions.size()];
    auto const bit = 8 * place.begin + random() % (8 * (place.end - place.begin));
    auto const result = flip(with, whole, bit);
    ++counts[place.name][result];
    EXPECT_NE(result, outcome::other) << whole.name << ", " << place.name << ", bit " << bit;
  }
  for (auto const& [place, results] : counts)
    for (auto const& [result, count] : results)
      std::printf("%-24s %6d %s\n", place.c_str(), count, to_string(result));
}
