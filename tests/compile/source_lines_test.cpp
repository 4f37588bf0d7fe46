// SPDX-License-Identifier: Apache-2.0
// The files that the line tables of compiled sources name.
#include <fstream>
#include <memory>
#include <sstream>

#include "cache_fixture.hpp"
#include "compile_fixture.hpp"

using namespace fatlink;
namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

namespace {

class SourceLines : public fixtures::CompilerTest {
 protected:
  void SetUp() override
  {
    CompilerTest::SetUp();
    if (IsSkipped()) return;
    use(folder_ / "cache");
  }
  /// Compiles with a new cache in `cache`; empty: in memory.
  void use(fs::path const& cache, std::vector<fs::path> const& layers = {})
  {
    cache_ = std::make_shared<link_cache>(cache_settings{.folder = cache, .layers = layers});
    compiler_ = compiler({.cache = cache_});
  }
  static compile_options with_lines()
  {
    auto options = contract();
    options.line_info = true;
    return options;
  }
  /// The text of the PTX.
  static std::string ptx_of(compiled_source const& compiled)
  {
    for (auto const& entry : compiled.code.entries())
      if (entry.kind == entry_kind::ptx) return read_ptx(entry);
    return {};
  }
  [[nodiscard]] std::vector<fs::path> kept() const
  {
    std::vector<fs::path> files;
    auto const place = folder_ / "cache" / "sources";
    if (fs::exists(place))
      for (auto const& entry : fs::directory_iterator(place)) files.push_back(entry.path());
    return files;
  }

  fixtures::folder temporary_;
  fs::path folder_ = temporary_.path();
  std::shared_ptr<link_cache> cache_;
};

}  // namespace

TEST_F(SourceLines, OfATextNameAFileOfTheCache)
{
  auto const compiled = compile(fixtures::k_half, with_lines());
  ASSERT_EQ(kept().size(), 1U);
  EXPECT_THAT(ptx_of(compiled), HasSubstr(".file\t1 \"" + kept()[0].string() + "\""));
  std::ostringstream text;
  text << std::ifstream(kept()[0]).rdbuf();
  EXPECT_EQ(text.str(), fixtures::k_half);
}

TEST_F(SourceLines, AreWrittenAgainForACompileFromTheCache)
{
  (void)compile(fixtures::k_half, with_lines());
  auto const file = kept().at(0);
  fs::remove(file);
  auto const again = compile(fixtures::k_half, with_lines());
  EXPECT_EQ(again.cache, cache_outcome::hit);
  EXPECT_TRUE(fs::exists(file));
}

TEST_F(SourceLines, AreNotKeptWithoutLineInfoOrForAFile)
{
  (void)compile(fixtures::k_half);
  std::ofstream(folder_ / "half.cu") << fixtures::k_half;
  auto const compiled = compiler_.compile(source::read(folder_ / "half.cu"), with_lines());
  EXPECT_THAT(ptx_of(compiled), HasSubstr(".file\t1 \"half.cu\""));
  EXPECT_THAT(kept(), IsEmpty());
}

TEST_F(SourceLines, WithoutAFolderNameTheSourceWithoutOne)
{
  use({});
  auto const compiled = compile(fixtures::k_half, with_lines());
  EXPECT_THAT(compiled.warnings, IsEmpty());
  EXPECT_THAT(ptx_of(compiled), HasSubstr(".file\t1 \"half.cu\""));
}

TEST_F(SourceLines, InACacheOfOthersAreAWarning)
{
  fs::create_directories(folder_ / "cache");
  std::ofstream(folder_ / "cache" / "thesis.txt") << "text";
  auto const compiled = compile(fixtures::k_half, with_lines());
  EXPECT_THAT(compiled.warnings,
              Contains(HasSubstr("half.cu: the source lines name no file, because the source "
                                 "cannot be kept in the cache: ")));
  EXPECT_THAT(ptx_of(compiled), HasSubstr(".file\t1 \"half.cu\""));
}

TEST_F(SourceLines, DoNotChangeTheNamesInMessages)
{
  auto const plain = refusal("int f() { return missing; }\n");
  auto const named = refusal("int f() { return missing; }\n", with_lines());
  EXPECT_EQ(named.message, plain.message);
  EXPECT_EQ(named.log, plain.log);
  EXPECT_THAT(named.message, HasSubstr("half.cu:1: error: "));
}

TEST_F(SourceLines, OfALayerNameNoFolderAndAreUsedWithoutACompiler)
{
  auto const layer = folder_ / "layer";
  (void)compiler_.compile_into(layer, source::from_text(fixtures::k_half, "half.cu"), with_lines());
  EXPECT_THAT(kept(), IsEmpty());
  use(folder_ / "cache", {layer});
  compiler_ = compiler({.cache = cache_, .offline = true});
  auto const compiled = compile(fixtures::k_half, with_lines());
  EXPECT_EQ(compiled.cache, cache_outcome::hit);
  EXPECT_THAT(ptx_of(compiled), Not(HasSubstr(folder_.string())));
  EXPECT_THAT(kept(), IsEmpty());
}
