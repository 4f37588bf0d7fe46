// SPDX-License-Identifier: Apache-2.0
// NVRTC's files, as wheels install them.
#include "vendor_compiler/nvrtc.hpp"

#include <gmock/gmock.h>

#include "fixtures.hpp"
#include "vendor_compiler/compile_with_nvrtc.hpp"

using namespace fatlink::detail;
namespace fs = std::filesystem;

namespace {

/// A hard link where the file system allows one: the files have 110 MB.
void provide(fs::path const& file, fs::path const& folder)
{
  std::error_code failure;
  fs::create_hard_link(file, folder / file.filename(), failure);
  if (failure) fs::copy_file(file, folder / file.filename());
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

}  // namespace

TEST(Nvrtc, OpensTheBuiltinsBesideItNotThoseOfTheLoader)
{
  auto const installed = locate_nvrtc();
  if (!installed || builtins_of(installed->path).empty())
    GTEST_SKIP() << "no NVRTC with its builtins on this machine";
  fixtures::folder const folder;
  auto const real = fs::canonical(installed->path);
  auto const builtins = fs::path(builtins_of(installed->path));
  provide(real, folder.path());
  provide(builtins, folder.path());
  auto const compiler = nvrtc::open((folder.path() / real.filename()).string());
  warm_up(*compiler);
  EXPECT_THAT(mapped_files("libnvrtc-builtins"),
              testing::ElementsAre((folder.path() / builtins.filename()).string()));
}
