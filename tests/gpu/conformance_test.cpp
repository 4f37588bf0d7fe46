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

/// What to link for: `gpu`, but "sm_90a" for cases of sm_90a on a GPU of sm_90.
fatlink::target link_target(std::string const& name, fatlink::target gpu)
{
  auto const suffix = name.back();
  return fatlink::target(gpu.number(), suffix == 'a' || suffix == 'f' ? suffix : gpu.suffix());
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
    if (run_ == 0 && !HasFailure()) GTEST_SKIP() << "every case is for a newer GPU than " << gpu();
    RecordProperty("cases", static_cast<int>(run_));
    RecordProperty("for_other_gpus", static_cast<int>(skipped_));
  }

 private:
  [[nodiscard]] std::string gpu() const { return device_->info().target.name(); }

  void run_all()
  {
    case_list cases;
    for (auto const& test_case : read_cases(path_))
      if (test_case.fails() || !can_run(test_case.target, gpu()))
        ++skipped_;
      else
        cases.push_back(test_case);
    for (auto const& group : batches_of(cases)) {
      run_batch(group);
      if (is_lost()) break;
    }
    if (is_lost())
      ADD_FAILURE() << path_.filename().string() << ": " << cases.size() - run_ << " of "
                    << cases.size() << " cases are not run: the context is lost";
  }

  /// Runs cases that are linked together.
  void run_batch(batch const& cases)
  {
    fatlink::linked_image image;
    try {
      image = link(module_of(cases), cases[0].target);
    } catch (fatlink::error const& failed) {
      ADD_FAILURE() << cases[0].place(cases[0].line) << ": " << failed.what();
      return;
    }
    for (std::size_t i = 0; i < cases.size() && !is_lost(); ++i, ++run_)
      run_case(cases[i], image, kernel_name(cases[i], i));
  }

  /// Each case loads the image anew: its variables have their initial values then.
  void run_case(conformance_case const& test_case, fatlink::linked_image const& image,
                std::string const& name) const
  {
    try {
      EXPECT_EQ(run(test_case, *device_, device_->load(image), name), "");
    } catch (fatlink::error const& failed) {
      ADD_FAILURE() << test_case.place(test_case.line) << ": " << failed.what();
    }
  }

  /// Whether a kernel has failed in this process, so that the GPU's context takes no more work.
  [[nodiscard]] bool is_lost() const
  {
    try {
      device_->create_stream().synchronize();
      device_->allocate<std::byte>(1).write(byte_list(1));
      return false;
    } catch (fatlink::device_error const&) {
      return true;
    }
  }

  [[nodiscard]] fatlink::linked_image link(std::string const& module,
                                           std::string const& target) const
  {
    auto const bytes = std::as_bytes(std::span(module));
    auto const input =
        fatlink::input::from_bytes({bytes.begin(), bytes.end()}, path_.stem().string() + ".ptx");
    auto options = device_->link_options(fatlink::link_mode::ptx);
    options.target = link_target(target, options.target);
    return fatlink::linker().link({input}, options);
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
