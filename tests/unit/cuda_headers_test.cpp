// SPDX-License-Identifier: Apache-2.0
#include "compiler/header_files.hpp"

#include "cache_fixture.hpp"
#include "environment.hpp"

using namespace fatlink;
using namespace fatlink::detail;
using testing::ElementsAre;
using testing::IsEmpty;
namespace fs = std::filesystem;

namespace {

constexpr char const* k_brings_none = "13.2 0123 1 builtins 4567 2";
constexpr char const* k_brings_headers = "13.3 0123 1 builtins 4567 2";

class CudaHeaders : public fixtures::cache_test {
 protected:
  void SetUp() override
  {
    fs::create_directories(wheel() / "lib");
    std::ofstream(wheel() / "lib/libnvrtc.so.13") << "no library\n";
  }
  [[nodiscard]] fs::path wheel() const { return folder_.path() / "wheel"; }
  [[nodiscard]] fs::path toolkit() const { return folder_.path() / "toolkit"; }

  static void add_headers(fs::path const& include)
  {
    fs::create_directories(include / "cccl");
    std::ofstream(include / "cuda_fp16.h") << "int half;\n";
  }
  [[nodiscard]] cuda_headers headers(char const* identity) const
  {
    return {{.path = (wheel() / "lib/libnvrtc.so.13").string(), .identity = identity}, &cache_};
  }
  [[nodiscard]] cache::unpacked_headers unpack() const
  {
    cache::unpacked_headers const place(root(), k_brings_headers);
    auto const unpacking = place.make_folder();
    add_headers(place.path());
    std::ofstream(place.path() / ".nvrtc_headers_version") << "format_version=1\n";
    place.record();
    return place;
  }

  link_cache cache_{settings()};
  fixtures::variable toolkit_{"CUDA_HOME", toolkit().string()};
};

}  // namespace

TEST_F(CudaHeaders, AreThoseOfTheToolkitOrWheelThatNvrtcBelongsTo)
{
  add_headers(wheel() / "include");
  add_headers(toolkit() / "include");
  for (auto const* identity : {k_brings_none, k_brings_headers}) {
    auto const found = headers(identity);
    EXPECT_THAT(found.folders(), ElementsAre(wheel() / "include", wheel() / "include/cccl"));
    EXPECT_FALSE(found.must_unpack());
  }
}

TEST_F(CudaHeaders, AreThoseOfAnotherToolkitForAnNvrtcThatBringsNone)
{
  add_headers(toolkit() / "include");
  EXPECT_THAT(headers(k_brings_none).folders(),
              ElementsAre(toolkit() / "include", toolkit() / "include/cccl"));
  EXPECT_FALSE(headers(k_brings_none).must_unpack());
}

TEST_F(CudaHeaders, AreThoseThatNvrtcBringsBeforeThoseOfAnotherToolkit)
{
  add_headers(toolkit() / "include");
  EXPECT_THAT(headers(k_brings_headers).folders(), IsEmpty());
  EXPECT_TRUE(headers(k_brings_headers).must_unpack());
  auto const place = unpack();
  EXPECT_THAT(headers(k_brings_headers).folders(),
              ElementsAre(place.path(), place.path() / "cccl"));
  EXPECT_FALSE(headers(k_brings_headers).must_unpack());
}

TEST_F(CudaHeaders, OfAWheelWithoutCcclAreCompletedByThoseThatNvrtcBrings)
{
  add_headers(wheel() / "include");
  fs::remove(wheel() / "include/cccl");
  EXPECT_TRUE(headers(k_brings_headers).must_unpack());
  auto const place = unpack();
  EXPECT_THAT(headers(k_brings_headers).folders(),
              ElementsAre(wheel() / "include", place.path(), place.path() / "cccl"));
}

TEST_F(CudaHeaders, AreThoseOfAnotherToolkitWhereNvrtcCannotUnpack)
{
  add_headers(toolkit() / "include");
  EXPECT_THAT(headers(k_brings_headers).installed_folders(),
              ElementsAre(toolkit() / "include", toolkit() / "include/cccl"));
}

TEST_F(CudaHeaders, AreUnpackedInTheDefaultFolderWithoutACache)
{
  fixtures::variable const named("FATLINK_CACHE_DIR", (folder_.path() / "default").string());
  cuda_headers const found({.path = "/nowhere/libnvrtc.so.13", .identity = k_brings_headers},
                           nullptr);
  EXPECT_EQ(found.unpacked().path().parent_path(), folder_.path() / "default/headers");
}
