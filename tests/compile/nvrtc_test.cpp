// SPDX-License-Identifier: Apache-2.0
// NVRTC's files, as wheels install them.
#include "toolkit/nvrtc.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <iostream>

#include "fixtures.hpp"

using namespace fatlink::detail;
namespace fs = std::filesystem;

namespace {

/// A hard link where the file system allows one: the files have 110 MB.
void provide(fs::path const& file, fs::path const& copy)
{
  std::error_code failure;
  fs::create_hard_link(file, copy, failure);
  if (failure) fs::copy_file(file, copy);
}

/// The files of this process whose names contain `name`.
std::vector<std::string> mapped_files(std::string const& name)
{
  std::vector<std::string> files;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (auto const path = line.find('/'); path != std::string::npos &&
                                          line.find(name, path) != std::string::npos &&
                                          (files.empty() || files.back() != line.substr(path)))
      files.push_back(line.substr(path));
  return files;
}

/// Copies of the NVRTC of this machine, of which the loader knows other builtins.
class NvrtcFiles : public testing::Test {
 protected:
  void SetUp() override
  {
    auto const installed = locate_nvrtc();
    if (!installed || builtins_of(installed->path).empty())
      GTEST_SKIP() << "no NVRTC with its builtins on this machine";
    nvrtc_ = fs::canonical(installed->path);
    builtins_ = fs::canonical(builtins_of(installed->path));
  }

  /// Compiles with `library` in a process that has loaded no other NVRTC.
  void expect_own_builtins(std::string const& library, std::string const& expected) const
  {
    auto const expected_file = (folder_.path() / expected).string();
    EXPECT_EQ(builtins_of((folder_.path() / library).string()), expected_file);
    EXPECT_EXIT(exit_with_builtins_of(library, expected_file), testing::ExitedWithCode(0), "");
  }

  fixtures::folder folder_;
  fs::path nvrtc_;
  fs::path builtins_;

 private:
  /// Status 0: those in `expected_file` are mapped, and no others.
  [[noreturn]] void exit_with_builtins_of(std::string const& library,
                                          std::string const& expected_file) const
  {
    warm_up(*nvrtc::open((folder_.path() / library).string()));
    auto const files = mapped_files("libnvrtc-builtins");
    for (auto const& file : files) std::cerr << file << '\n';
    std::_Exit(files == std::vector{expected_file} ? 0 : 1);
  }
};

}  // namespace

TEST_F(NvrtcFiles, OpensTheBuiltinsBesideItAsWheelsNameThem)
{
  provide(nvrtc_, folder_.path() / "libnvrtc.so.13");
  provide(builtins_, folder_.path() / "libnvrtc-builtins.so.13.0");
  expect_own_builtins("libnvrtc.so.13", "libnvrtc-builtins.so.13.0");
}

TEST_F(NvrtcFiles, OpensTheBuiltinsBesideItAsToolkitsNameThem)
{
  provide(nvrtc_, folder_.path() / "libnvrtc.so.13.0.88");
  provide(builtins_, folder_.path() / "libnvrtc-builtins.so.13.0.88");
  fs::create_symlink("libnvrtc.so.13.0.88", folder_.path() / "libnvrtc.so.13");
  fs::create_symlink("libnvrtc-builtins.so.13.0.88", folder_.path() / "libnvrtc-builtins.so.13.0");
  expect_own_builtins("libnvrtc.so.13", "libnvrtc-builtins.so.13.0.88");
}

TEST_F(NvrtcFiles, OpensTheBuiltinsBesideItWithoutALinkOfTheirShortName)
{
  provide(nvrtc_, folder_.path() / "libnvrtc.so.13.0.88");
  provide(builtins_, folder_.path() / "libnvrtc-builtins.so.13.0.88");
  expect_own_builtins("libnvrtc.so.13.0.88", "libnvrtc-builtins.so.13.0.88");
}

TEST_F(NvrtcFiles, OpensTheBuiltinsBesideTheFileThatALinkNames)
{
  fs::create_directory(folder_.path() / "real");
  provide(nvrtc_, folder_.path() / "real/libnvrtc.so.13");
  provide(builtins_, folder_.path() / "real/libnvrtc-builtins.so.13.0");
  fs::create_symlink("real/libnvrtc.so.13", folder_.path() / "libnvrtc.so.13");
  expect_own_builtins("libnvrtc.so.13", "real/libnvrtc-builtins.so.13.0");
}

TEST(Nvrtc, ReturnsTheCubinThatItAssemblesOnlyWhereItIsWanted)
{
  if (!locate_nvrtc()) GTEST_SKIP() << "no NVRTC on this machine";
  auto const compiler = nvrtc::open();
  std::vector<std::string> const options{"--gpu-architecture=sm_75",
                                         "--relocatable-device-code=true"};
  auto const products = compile_with_nvrtc(
      *compiler, {.name = "one.cu",
                  .source = "__device__ int one() { return 1; }",
                  .compiles = {{.options = options}, {.options = options, .wants_cubin = true}}});
  ASSERT_EQ(products.size(), 2U);
  EXPECT_TRUE(products[0].cubin.empty());
  EXPECT_FALSE(products[0].ptx.empty());
  EXPECT_FALSE(products[1].cubin.empty());
}
