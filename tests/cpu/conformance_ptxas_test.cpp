// SPDX-License-Identifier: Apache-2.0
// ptxas takes every conformance case for the target that it states. Skipped where there is no
// ptxas: $FATLINK_PTXAS, else ptxas on the PATH or of /usr/local/cuda.
#include <sys/wait.h>

#include <cstdlib>

#include "conformance/suite.hpp"

namespace conformance {
namespace {

std::string ptxas()
{
  if (auto const* named = std::getenv("FATLINK_PTXAS"); named != nullptr) return named;
  std::string const path = std::getenv("PATH") != nullptr ? std::getenv("PATH") : "";
  std::istringstream folders(path + ":/usr/local/cuda/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (std::filesystem::exists(folder + "/ptxas")) return folder + "/ptxas";
  return {};
}

class Ptxas : public testing::Test {
 protected:
  void SetUp() override
  {
    if (ptxas_.empty()) GTEST_SKIP() << "no ptxas on this machine";
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// What ptxas says against `module`; empty: nothing.
  std::string errors_of(std::string const& target, std::string const& module)
  {
    auto const text = (folder_ / "cases.ptx").string();
    auto const log = (folder_ / "log").string();
    std::ofstream(text) << module;
    auto const command =
        ptxas_ + " -arch " + target + " -O0 -o /dev/null " + text + " >" + log + " 2>&1";
    auto const status = std::system(command.c_str());  // NOLINT(cert-env33-c,concurrency-mt-unsafe)
    std::stringstream said;
    said << std::ifstream(log).rdbuf();
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "" : "ptxas: " + said.str();
  }

  /// One call for all cases of a batch; where it fails, one for each.
  void check(batch const& cases)
  {
    auto const errors = errors_of(cases[0].target, module_of(cases));
    if (errors.empty()) return;
    if (cases.size() == 1) ADD_FAILURE() << cases[0].place(cases[0].line) << ": " << errors;
    if (cases.size() > 1)
      for (auto const& test_case : cases) check({test_case});
  }

 private:
  std::string ptxas_ = ptxas();
  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("conformance-" + std::to_string(getpid()));
};

}  // namespace

TEST_F(Ptxas, TakesEveryConformanceCaseForItsTarget)
{
  case_list cases;
  for (auto const& path : case_files())
    for (auto const& test_case : read_cases(path)) cases.push_back(test_case);
  for (auto const& group : batches_of(cases)) check(group);
}

}  // namespace conformance
