// SPDX-License-Identifier: Apache-2.0
// Live plans on the reference device whose files are replaced after they were read.
#include "fatlink/live_plan.hpp"

#include <gmock/gmock.h>

#include <filesystem>

#include "expect_error.hpp"
#include "fixtures.hpp"

using namespace fatlink;

namespace {

/// A live plan of x.fatbin and y.fatbin, copies of installed files, of which versions follow.
class LivePlanFiles : public testing::Test {
 protected:
  void install(char const* library, char const* transform) const
  {
    copy(library, "x");
    copy(transform, "y");
  }
  [[nodiscard]] std::vector<input> read() const
  {
    return {input::read(path("x.fatbin")), input::read(path("y.fatbin"))};
  }

  [[nodiscard]] std::string path(std::string const& name) const { return folder_.path() / name; }

  device device_ = *open_device("cpu");
  live_plan live_{device_, linker(), {.link = device_.link_options(link_mode::ptx)}};

 private:
  void copy(std::string const& source, std::string const& name) const
  {
    for (auto const* ending : {".fatbin", ".json"})
      std::filesystem::copy_file(places::data(source + ending), path(name + ending),
                                 std::filesystem::copy_options::overwrite_existing);
  }

  fixtures::folder folder_;
};

}  // namespace

TEST_F(LivePlanFiles, TakesThePlanThatTheLibraryWasReadWith)
{
  install("reduce_4", "add_float");
  live_.swap(read());
  auto const inputs = read();
  install("reduce_2", "add_float");
  EXPECT_EQ(live_.swap(inputs).version, 2U);
  EXPECT_EQ(live_.plan().name, "reduce_4");
}

TEST_F(LivePlanFiles, TakesTheElementsThatTheTransformWasReadWith)
{
  install("reduce_4", "add_float");
  live_.swap(read());
  auto const inputs = read();
  install("reduce_4", "greater_float");
  EXPECT_EQ(live_.swap(inputs).version, 2U);
}

TEST_F(LivePlanFiles, RefusesBytesWhoseFileHasBeenReplaced)
{
  install("reduce_4", "add_float");
  auto const library = input::read(path("x.fatbin"));
  byte_buffer const bytes(library.bytes().begin(), library.bytes().end());
  install("reduce_2", "add_float");
  std::vector const inputs{input::from_bytes(bytes, path("x.fatbin")), read().back()};
  expect_error<format_error>([&] { live_.swap(inputs); },
                             "x.fatbin: is not the file that x.json states");
}

TEST_F(LivePlanFiles, TakesTheNextVersionThatIsRead)
{
  install("reduce_4", "add_float");
  live_.swap(read());
  install("reduce_4", "add_float");
  EXPECT_EQ(live_.swap(read()).version, 2U);
}
