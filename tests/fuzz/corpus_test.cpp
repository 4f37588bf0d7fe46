// SPDX-License-Identifier: Apache-2.0
// Every fuzz target takes the files of its corpus, which hold what once failed. Without libFuzzer
// and sanitizers, so that the default tests need no second build of the library; `ctest -C fuzz`
// searches for new inputs with both.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz_targets.hpp"  // made by CMake: fuzz_targets(), the entry functions of tests/fuzz/*_fuzz.cpp

namespace {

std::string current_file;  // which a target reads

/// Names the file of a target that aborts.
void report_file(int signal)
{
  (void)!::write(STDERR_FILENO, current_file.data(), current_file.size());
  std::signal(signal, SIG_DFL);
  (void)std::raise(signal);
}

class Corpus : public testing::TestWithParam<fuzz_target> {
 protected:
  void SetUp() override
  {
    for (auto const signal : {SIGABRT, SIGSEGV, SIGFPE, SIGBUS}) std::signal(signal, report_file);
  }
};

TEST_P(Corpus, IsTakenByItsTarget)
{
  auto const& [name, run] = GetParam();
  std::size_t files = 0;
  for (auto const& file :
       std::filesystem::directory_iterator(FATLINK_CORPORA + std::string(name))) {
    current_file = "while reading " + file.path().string() + '\n';
    std::ifstream stream(file.path(), std::ios::binary);
    std::string const bytes(std::istreambuf_iterator<char>(stream), {});
    EXPECT_EQ(run(reinterpret_cast<std::uint8_t const*>(bytes.data()), bytes.size()), 0)
        << file.path();
    ++files;
  }
  EXPECT_GT(files, 0U) << "the corpus is empty";
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Corpus, testing::ValuesIn(fuzz_targets()),
                         [](auto const& test) { return std::string(test.param.name); });

}  // namespace
