// SPDX-License-Identifier: Apache-2.0
// Sources in memory that a cache keeps as files, for line tables.
#include "cache/kept_sources.hpp"

#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "cache/ledger.hpp"
#include "cache_fixture.hpp"

using namespace fatlink;
using namespace fatlink::cache;
namespace fs = std::filesystem;

namespace {

class KeptSources : public fixtures::cache_test {
 protected:
  [[nodiscard]] fs::path keep(std::string const& text, std::string const& name = "operator.cu")
  {
    return keep_source(root(), name, text);
  }
  static std::string text_of(fs::path const& file)
  {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  static unsigned mode_of(fs::path const& file)
  {
    struct stat facts {};
    EXPECT_EQ(::lstat(file.c_str(), &facts), 0) << file;
    return facts.st_mode & 0777U;
  }
  [[nodiscard]] std::string refusal(fs::path const& folder) const
  {
    try {
      (void)keep_source(folder, "operator.cu", "text");
    } catch (folder_error const& failure) {
      return failure.message;
    }
    return {};
  }
  [[nodiscard]] std::size_t count() const
  {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(root() / "sources"), fs::directory_iterator()));
  }
};

}  // namespace

TEST_F(KeptSources, HaveTheRightsOfTheCacheAndANameByContent)
{
  auto const file = keep("int a;\n");
  EXPECT_TRUE(file.is_absolute());
  EXPECT_EQ(file.parent_path(), root() / "sources");
  EXPECT_TRUE(file.filename().string().starts_with("operator.")) << file;
  EXPECT_EQ(file.extension(), ".cu");
  EXPECT_EQ(text_of(file), "int a;\n");
  EXPECT_EQ(mode_of(file), 0600U);
  EXPECT_EQ(mode_of(file.parent_path()), 0700U);
  EXPECT_EQ(keep("int a;\n"), file);
  EXPECT_NE(keep("int b;\n"), file);
  EXPECT_EQ(count(), 2U);
}

TEST_F(KeptSources, ThatWereChangedAreWrittenAgain)
{
  auto const file = keep("int a;\n");
  std::ofstream(file) << "int c;\n";
  EXPECT_EQ(keep("int a;\n"), file);
  EXPECT_EQ(text_of(file), "int a;\n");
}

TEST_F(KeptSources, AreNotWrittenThroughASymbolicLink)
{
  auto const file = keep("int a;\n");
  auto const other = root().parent_path() / "other.cu";
  std::ofstream(other) << "mine";
  fs::remove(file);
  fs::create_symlink(other, file);
  EXPECT_EQ(keep("int a;\n"), file);
  EXPECT_FALSE(fs::is_symlink(file));
  EXPECT_EQ(text_of(other), "mine");
}

TEST_F(KeptSources, OfManySourcesAreTheOnesUsedLast)
{
  for (int i = 0; i < 1030; ++i) (void)keep(std::to_string(i));
  EXPECT_EQ(count(), 1024U);
  EXPECT_EQ(text_of(keep("1029")), "1029");
  EXPECT_EQ(count(), 1024U);
}

TEST_F(KeptSources, ThatAreWrittenAgainCountOnce)
{
  fs::path file;
  for (int i = 0; i < 1024; ++i) file = keep(std::to_string(i));
  std::ofstream(file) << "changed";
  EXPECT_EQ(keep("1023"), file);
  EXPECT_EQ(count(), 1024U);
}

TEST_F(KeptSources, LargerThanTheLimitReplaceAllOthers)
{
  (void)keep("int a;\n");
  std::string const large((std::size_t{64} << 20U) + 1, ' ');
  auto const file = keep(large);
  EXPECT_EQ(fs::file_size(file), large.size());
  EXPECT_EQ(count(), 1U);
  (void)keep("int b;\n");
  EXPECT_FALSE(fs::exists(file));
}

TEST_F(KeptSources, AreRemovedByClear)
{
  auto const file = keep("int a;\n");
  link_cache cache({.folder = root()});
  cache.prune();
  EXPECT_TRUE(fs::exists(file));
  cache.clear();
  EXPECT_FALSE(fs::exists(file));
}

TEST_F(KeptSources, NeedAFolderThatADirectiveCanName)
{
  auto const quoted = root().parent_path() / "a\"b";
  EXPECT_EQ(refusal(quoted), "a #line directive cannot name " + (quoted / "sources").string() +
                                 ": use another folder (FATLINK_CACHE_DIR)");
  EXPECT_FALSE(fs::exists(quoted));
}

TEST_F(KeptSources, AreNotWrittenIntoAFolderOfOthers)
{
  fs::create_directories(root());
  std::ofstream(root() / "thesis.txt") << "text";
  EXPECT_NE(refusal(root()), "");
  EXPECT_FALSE(fs::exists(root() / "sources"));
}
