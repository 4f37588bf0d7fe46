// SPDX-License-Identifier: Apache-2.0
// Runs the cases of tests/cpu/conformance on the reference device: one test for each.
#include <gmock/gmock.h>

#include "conformance/suite.hpp"

namespace conformance {
namespace {

/// Loads PTX without nvJitLink.
fatlink::loaded_module load(fatlink::device const& device, conformance_case const& of)
{
  fatlink::linked_image image;
  image.kind = fatlink::image_kind::ptx_set;
  image.parts = {{of.file + "." + of.name + ".ptx", module_of(of)}};
  return device.load(image);
}

void expect_refusal(conformance_case const& of, fatlink::device const& device)
{
  try {
    (void)load(device, of).find_kernel("k");
    FAIL() << of.place(of.line) << ": the device refuses nothing";
  } catch (fatlink::error const& refused) {
    for (auto const& message : of.messages)
      EXPECT_THAT(refused.what(), testing::HasSubstr(message));
  }
}

class one_case : public testing::Test {
 public:
  explicit one_case(conformance_case of) : case_(std::move(of)) {}

  void TestBody() override
  {
    auto const device =
        fatlink::open_device("cpu", {.instruction_budget = 1 << 22, .check_races = false});
    if (case_.is_refused()) return expect_refusal(case_, *device);
    try {
      EXPECT_EQ(run(case_, *device, load(*device, case_), "k"), "");
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

bool add_all()
{
  for (auto const& path : case_files()) {
    auto const suite = path.stem().string();
    try {
      for (auto const& one : read_cases(path)) add<one_case>(suite, one.name, one);
    } catch (bad_text const& why) {
      add<bad_file>(suite, "CanBeRead", std::string(why.what()));
    }
  }
  return true;
}

[[maybe_unused]] bool const k_added = add_all();

}  // namespace
}  // namespace conformance
