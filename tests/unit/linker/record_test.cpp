// SPDX-License-Identifier: Apache-2.0
// Links in a record.
#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "fatlink/error.hpp"
#include "fatlink/linker.hpp"
#include "fixtures.hpp"
#include "linker/link_options.hpp"
#include "linker/link_record.hpp"

using namespace fatlink;
using namespace fatlink::detail;

namespace {

/// Every option that is part of the key has another value than its default.
link_options full_options()
{
  link_options options;
  options.target = target("sm_90a");
  options.mode = link_mode::ptx;
  options.emit = image_kind::ptx_set;
  options.allow_calls = options.drop_unused_variables = options.line_info = true;
  options.debug = options.stack_protector = options.latest_nvvm = true;
  options.kernels = {"a", "b"};
  options.variables = {"c"};
  options.max_registers = 32;
  options.optimization = 0;
  options.fast_compile = fast_compile::mid;
  options.ftz = options.prec_div = options.prec_sqrt = options.fma = false;
  options.threads = 2;
  options.ptxas = {"-dlcm=cg"};
  options.nvvm = {"-jump-table-density=10"};
  return options;
}

/// Whether the option is not part of the key of a link of modules.
bool is_outside_of_the_key(option_effect const& effect)
{
  return effect.field == "link_options::whole_archive" ||
         effect.field == "link_options::driver_cache" ||
         effect.field == "link_options::require_inlined";
}

}  // namespace

TEST(LinkRecord, HoldsEveryOptionOfTheKey)
{
  auto const options = full_options();
  auto const entry = record_link({fatbin::read(fixtures::path("library.fatbin"))}, options);
  auto const read = read_link_record(entry).options;
  EXPECT_EQ(read.target, options.target);
  EXPECT_EQ(read.mode, options.mode);
  EXPECT_EQ(read.emit, options.emit);
  for (auto const& effect : option_effects()) {
    if (is_outside_of_the_key(effect)) continue;
    EXPECT_TRUE(effect.is_set(options)) << effect.field;
    EXPECT_TRUE(effect.is_set(read)) << effect.field;
  }
  EXPECT_EQ(record_link({fatbin::read(fixtures::path("library.fatbin"))}, read), entry);
}

TEST(LinkRecord, NamesFilesAndHoldsOtherInputs)
{
  auto const file = fatbin::read(fixtures::path("library.fatbin"));
  auto const bytes = file.bytes();
  auto const memory = fatbin::from_bytes({bytes.begin(), bytes.end()}, "memory");
  auto const inputs = read_link_record(record_link({file, memory}, {.target = "sm_90"})).inputs;
  ASSERT_EQ(inputs.size(), 2U);
  EXPECT_EQ(inputs[0].file, fixtures::path("library.fatbin"));
  EXPECT_TRUE(inputs[0].bytes.empty());
  EXPECT_TRUE(inputs[1].file.empty());
  EXPECT_EQ(inputs[1].bytes.size(), 2 * bytes.size());
  EXPECT_EQ(inputs[0].digest, inputs[1].digest);
}

TEST(LinkRecord, RefusesMalformedEntries)
{
  auto const entry = record_link({fatbin::read(fixtures::path("library.fatbin"))}, full_options());
  for (auto const* name : {"target", "mode", "emit", "options", "inputs"}) {
    auto changed = entry;
    changed.erase(name);
    expect_error<file_error>([&] { (void)read_link_record(changed); }, name);
  }
  auto changed = entry;
  changed["mode"] = "fast";
  expect_error<file_error>([&] { (void)read_link_record(changed); }, "unknown value 'fast'");
}

TEST(OfflineLink, OfAPtxSetIsMade)
{
  auto const inputs = std::vector{fatbin::read(fixtures::path("library.fatbin")),
                                  fatbin::read(fixtures::path("transform.fatbin"))};
  linker offline({.offline = true});
  link_options options{.target = "sm_90", .mode = link_mode::ptx, .emit = image_kind::ptx_set};
  EXPECT_EQ(offline.link(inputs, options).parts.size(), 2U);
  options.emit = image_kind::cubin;
  expect_error<unavailable_error>([&] { (void)offline.link(inputs, options); }, "the ptx link of");
  expect_error<unavailable_error>([&] { (void)offline.check(inputs, options); }, "need nvJitLink");
  expect_error<unavailable_error>([&] { (void)offline.link_into("/nowhere", inputs, options); },
                                  "a cache layer is filled");
}
