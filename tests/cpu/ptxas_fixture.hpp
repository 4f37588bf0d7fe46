// SPDX-License-Identifier: Apache-2.0
// Tests that ask ptxas. Skipped where there is none: $FATLINK_PTXAS, else ptxas on the PATH, of
// /usr/local/cuda, or of the toolkit that built the tests.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "places.hpp"

namespace conformance {

class Ptxas : public testing::Test {
 protected:
  void SetUp() override
  {
    if (ptxas_.empty()) GTEST_SKIP() << "no ptxas on this machine";
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// What ptxas says against `module`; empty: nothing.
  std::string errors_of(std::string const& target, std::string const& module) const
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

 private:
  static std::string find_ptxas()
  {
    if (auto const* named = std::getenv("FATLINK_PTXAS"); named != nullptr) return named;
    std::string const path = std::getenv("PATH") != nullptr ? std::getenv("PATH") : "";
    auto const of_build = (places::tests() / "nvcc/bin").string();
    std::istringstream folders(path + ":/usr/local/cuda/bin:" + of_build);
    for (std::string folder; std::getline(folders, folder, ':');)
      if (std::filesystem::exists(folder + "/ptxas")) return folder + "/ptxas";
    return {};
  }

  std::string ptxas_ = find_ptxas();
  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("conformance-" + std::to_string(getpid()));
};

}  // namespace conformance
