// SPDX-License-Identifier: Apache-2.0
// Runs the cases of tests/cpu/conformance on a GPU: one test for each file. Cases for newer targets
// than the GPU's are left out, and so are those that fail
// on the reference device.
#include "conformance/suite.hpp"

#include "fatlink/linker.hpp"
#include "needs_nvjitlink.hpp"

namespace conformance {
namespace {

/// "sm_90" runs on GPUs from sm_90 on, "sm_90a" on that one only, "sm_100f" on its family.
bool can_run(std::string const& target, std::string const& gpu)
{
  auto const number = [](std::string const& name) { return std::stoi(name.substr(3)); };
  if (target.ends_with('a')) return number(target) == number(gpu);
  if (target.ends_with('f')) return number(target) / 10 == number(gpu) / 10;
  return number(target) <= number(gpu);
}

class one_file : public testing::Test {
 public:
  explicit one_file(std::filesystem::path path) : path_(std::move(path)) {}

  void TestBody() override
  {
    std::string why;
    if (fatlink::list_gpus(why).empty()) GTEST_SKIP() << why;
    if (why = fixtures::why_no_nvjitlink(); !why.empty()) GTEST_SKIP() << why;
    device_ = fatlink::open_device("gpu");
    run_all();
    if (run_ == 0) GTEST_SKIP() << "every case is for a newer GPU than " << gpu();
    RecordProperty("cases", static_cast<int>(run_));
    RecordProperty("for_other_gpus", static_cast<int>(skipped_));
  }

 private:
  [[nodiscard]] std::string gpu() const { return device_->info().target.name(); }

  void run_all()
  {
    case_list cases;
    for (auto const& one : read_cases(path_))
      if (one.fails() || !can_run(one.target, gpu()))
        ++skipped_;
      else
        cases.push_back(one);
    for (auto const& one : batches_of(cases)) run_batch(one);
  }

  /// Runs cases that are linked together.
  void run_batch(batch const& cases)
  {
    try {
      auto const code = load(module_of(cases));
      for (std::size_t i = 0; i < cases.size(); ++i, ++run_)
        EXPECT_EQ(run(cases[i], *device_, code, kernel_name(cases[i], i)), "");
    } catch (fatlink::error const& failed) {
      ADD_FAILURE() << cases[0].place(cases[0].line) << ": " << failed.what();
    }
  }

  [[nodiscard]] fatlink::loaded_module load(std::string const& module) const
  {
    auto const bytes = std::as_bytes(std::span(module));
    auto const input =
        fatlink::input::from_bytes({bytes.begin(), bytes.end()}, path_.stem().string() + ".ptx");
    return device_->load(
        fatlink::linker().link({input}, device_->link_options(fatlink::link_mode::ptx)));
  }

  std::filesystem::path path_;
  std::shared_ptr<fatlink::device> device_;
  std::size_t run_ = 0;
  std::size_t skipped_ = 0;
};

bool add_all()
{
  for (auto const& path : case_files())
    testing::RegisterTest("Conformance", path.stem().c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [path]() -> testing::Test* { return new one_file(path); });
  return true;
}

[[maybe_unused]] bool const k_added = add_all();

}  // namespace
}  // namespace conformance
