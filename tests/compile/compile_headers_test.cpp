// SPDX-License-Identifier: Apache-2.0
// Where a compile finds headers, and that the cache knows their contents.
#include "compile_fixture.hpp"

using namespace fatlink;

namespace {

class CompileHeaders : public fixtures::CompilerTest {};

}  // namespace

TEST_F(CompileHeaders, FindsHeadersInTheFoldersOnly)
{
  fixtures::folder const folder;
  (void)folder.write("factor.h", "#define FACTOR 2.0F\n");
  std::string const text =
      "#include \"factor.h\"\n"
      "extern \"C\" __device__ float user_transform(float x) { return FACTOR * x; }\n";
  EXPECT_TRUE(refusal(text).code == error_code::header_not_found);
  auto options = contract();
  options.include_folders = {folder.path()};
  EXPECT_NO_THROW((void)compile(text, options));
}

TEST_F(CompileHeaders, FindsAHeaderThatAMacroNames)
{
  fixtures::folder const folder;
  (void)folder.write("factor.h", "#define FACTOR 2.0F\n");
  auto options = contract();
  options.include_folders = {folder.path()};
  EXPECT_NO_THROW((void)compile(
      "#define NAME <factor.h>\n#include NAME\n"
      "extern \"C\" __device__ float user_transform(float x) { return FACTOR * x; }\n",
      options));
}

TEST_F(CompileHeaders, FindsAHeaderThatAMacroOfTheOptionsNames)
{
  fixtures::folder const folder;
  (void)folder.write("factor.h", "#define FACTOR 2.0F\n");
  auto options = contract();
  options.include_folders = {folder.path()};
  options.definitions = {"NAME=<factor.h>"};
  EXPECT_NO_THROW((void)compile(
      "#include NAME\n"
      "extern \"C\" __device__ float user_transform(float x) { return FACTOR * x; }\n",
      options));
}

TEST_F(CompileHeaders, CompilesAgainWhenAHeaderChanges)
{
  fixtures::folder const folder;
  fixtures::folder const cache_folder;
  auto options = contract();
  options.include_folders = {folder.path()};
  options.definitions = {"NAME=<factor.h>"};  // only the compiler knows what #include NAME means
  std::string const text =
      "#include NAME\n"
      "extern \"C\" __device__ float user_transform(float x) { return FACTOR * x; }\n";
  auto const compile_cached = [&] {
    compiler cached({.cache = std::make_shared<link_cache>(
                         cache_settings{.folder = cache_folder.path() / "cache"})});
    return cached.compile(source::from_text(text, "half.cu"), options);
  };
  (void)folder.write("factor.h", "#define FACTOR 2.0F\n");
  auto const first = compile_cached();
  auto const second = compile_cached();
  EXPECT_EQ(first.cache, cache_outcome::miss);
  EXPECT_EQ(second.cache, cache_outcome::hit);
  EXPECT_TRUE(std::ranges::equal(first.code.bytes(), second.code.bytes()));
  (void)folder.write("factor.h", "#define FACTOR 3.0F\n");
  auto const third = compile_cached();
  EXPECT_EQ(third.cache, cache_outcome::miss);
  EXPECT_FALSE(std::ranges::equal(first.code.bytes(), third.code.bytes()));
}
