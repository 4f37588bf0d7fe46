// SPDX-License-Identifier: Apache-2.0
// Runs the cases of tests/cpu/conformance on the reference device: one test for each.
#include <gmock/gmock.h>

#include <fstream>
#include <string>
#include <string_view>

#include "conformance/suite.hpp"

namespace conformance {
namespace {

/// Loads PTX without nvJitLink.
fatlink::loaded_module load(fatlink::device const& device, conformance_case const& test_case)
{
  fatlink::linked_image image;
  image.kind = fatlink::image_kind::ptx_set;
  image.parts = {{test_case.file + "." + test_case.name + ".ptx", module_of({test_case})}};
  return device.load(image);
}

/// Expects a refusal, or a launch that fails.
void expect_failure(conformance_case const& test_case, fatlink::device const& device)
{
  try {
    auto const module = load(device, test_case);
    (void)module.find_kernel(kernel_name(test_case, 0));
    if (test_case.is_fault) (void)run(test_case, device, module, kernel_name(test_case, 0));
    FAIL() << test_case.place(test_case.line) << ": nothing fails";
  } catch (fatlink::error const& failed) {
    auto const is_launch = dynamic_cast<fatlink::device_error const*>(&failed) != nullptr;
    EXPECT_EQ(is_launch, test_case.is_fault) << failed.what();
    for (auto const& message : test_case.messages)
      EXPECT_THAT(failed.what(), testing::HasSubstr(message));
  }
}

class one_case : public testing::Test {
 public:
  explicit one_case(conformance_case test_case) : case_(std::move(test_case)) {}

  void TestBody() override
  {
    auto const device =
        fatlink::open_device("cpu", {.instruction_budget = 1 << 22, .check_races = false});
    if (case_.fails()) return expect_failure(case_, *device);
    try {
      EXPECT_EQ(run(case_, *device, load(*device, case_), kernel_name(case_, 0)), "");
    } catch (fatlink::error const& failed) {
      FAIL() << case_.place(case_.line) << ": " << failed.what();
    }
  }

 private:
  conformance_case case_;
};

/// Stands for a file that cannot be read.
class bad_file : public testing::Test {
 public:
  explicit bad_file(std::string why) : why_(std::move(why)) {}
  void TestBody() override { FAIL() << why_; }

 private:
  std::string why_;
};

template <typename Test, typename Argument>
void add(std::string const& suite, std::string const& name, Argument const& argument)
{
  testing::RegisterTest(("Conformance/" + suite).c_str(), name.c_str(), nullptr, nullptr, __FILE__,
                        __LINE__, [argument]() -> testing::Test* { return new Test(argument); });
}

/// What --gtest_filter states; empty: nothing.
std::string stated_filter()
{
  constexpr std::string_view k_option = "--gtest_filter=";
  std::ifstream words("/proc/self/cmdline", std::ios::binary);
  for (std::string word; std::getline(words, word, '\0');)
    if (word.starts_with(k_option)) return word.substr(k_option.size());
  return {};
}

/// Whether `filter` may select tests of `suite`. Reading thousands of cases takes longer than most
/// tests, each of which has a process of its own under ctest.
bool may_select(std::string const& filter, std::string const& suite)
{
  if (filter.find_first_of(":-") != std::string::npos) return true;  // of several patterns
  auto const start = filter.substr(0, filter.find_first_of("*?"));
  auto const name = "Conformance/" + suite + ".";
  return name.starts_with(start) || start.starts_with(name);
}

bool add_all()
{
  auto const filter = stated_filter();
  for (auto const& path : case_files()) {
    auto const suite = path.stem().string();
    if (!may_select(filter, suite)) continue;
    try {
      for (auto const& test_case : read_cases(path))
        add<one_case>(suite, test_case.name, test_case);
    } catch (bad_text const& why) {
      add<bad_file>(suite, "CanBeRead", std::string(why.what()));
    }
  }
  return true;
}

[[maybe_unused]] bool const k_added = add_all();

}  // namespace
}  // namespace conformance
