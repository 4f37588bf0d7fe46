// SPDX-License-Identifier: Apache-2.0
#include "compiler/headers/header_set.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "fixtures.hpp"

using namespace fatlink::detail;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

namespace {

class HeaderSet : public testing::Test {
 protected:
  void SetUp() override
  {
    for (auto const* name : {"one", "one/a", "two"})
      std::filesystem::create_directory(folder_.path() / name);
  }
  void write(std::string const& name, std::string const& text) { (void)folder_.write(name, text); }
  [[nodiscard]] header_set make(std::map<std::string, std::string> const& in_memory = {}) const
  {
    return header_set(
        {.folders = {folder_.path() / "one", folder_.path() / "two"}, .in_memory = in_memory});
  }
  static std::vector<std::pair<std::string, std::string>> texts(header_set const& headers)
  {
    std::vector<std::pair<std::string, std::string>> list;
    for (auto const& header : headers.headers()) list.emplace_back(header.name, header.text);
    return list;
  }
  /// The names and the texts in the set of a source.
  [[nodiscard]] auto texts_for(std::string const& source,
                               std::map<std::string, std::string> const& in_memory = {}) const
  {
    auto headers = make(in_memory);
    headers.add_includes_of(source);
    return texts(headers);
  }
  fixtures::folder folder_;
};

}  // namespace

TEST_F(HeaderSet, HasWhatTheSourceIncludesAndWhatThatIncludes)
{
  write("one/x.h", "#include <y.h>\n");
  write("two/y.h", "int y;\n");
  auto headers = make();
  headers.add_includes_of("#include <x.h>\n");
  EXPECT_THAT(texts(headers),
              ElementsAre(Pair("x.h", "#include <y.h>\n"), Pair("y.h", "int y;\n")));
  EXPECT_FALSE(headers.has_missing());
}

TEST_F(HeaderSet, TakesTheFileOfTheFirstFolder)
{
  write("one/x.h", "int one;\n");
  write("two/x.h", "int two;\n");
  EXPECT_THAT(texts_for("#include \"x.h\"\n"), ElementsAre(Pair("x.h", "int one;\n")));
}

TEST_F(HeaderSet, NamesAFileRelativeToItsIncluderAsInTheFolder)
{
  write("one/a/c.h", "#include \"b.h\"\n#include \"../d.h\"\n");
  write("one/a/b.h", "int b;\n");
  write("one/d.h", "int d;\n");
  EXPECT_THAT(texts_for("#include <a/c.h>\n"),
              ElementsAre(Pair("a/b.h", "int b;\n"),
                          Pair("a/c.h", "#include \"a/b.h\"\n#include \"d.h\"\n"),
                          Pair("d.h", "int d;\n")));
}

TEST_F(HeaderSet, KeepsTwoFilesOfOneNameApart)
{
  write("one/a/c.h", "#include \"x.h\"\n#include <x.h>\n");
  write("one/a/x.h", "int near;\n");
  write("two/x.h", "int far;\n");
  EXPECT_THAT(texts_for("#include <a/c.h>\n"),
              ElementsAre(Pair("a/c.h", "#include \"a/x.h\"\n#include <x.h>\n"),
                          Pair("a/x.h", "int near;\n"), Pair("x.h", "int far;\n")));
}

TEST_F(HeaderSet, IncludesEachFileOnceThoughItIncludesItself)
{
  write("one/x.h", "#include <y.h>\n");
  write("one/y.h", "#include <x.h>\n#include \"y.h\"\n");
  auto headers = make();
  headers.add_includes_of("#include <x.h>\n");
  EXPECT_EQ(headers.headers().size(), 2U);
}

TEST_F(HeaderSet, GivesAPlainNameOnlyToWhatItFinds)
{
  write("one/x.h", "int one;\n");
  write("two/x.h", "int two;\n");
  write("two/y.h", "#include \"x.h\"\n");
  EXPECT_THAT(texts_for("#include <y.h>\n"),
              ElementsAre(Pair("@1/x.h", "int two;\n"), Pair("y.h", "#include \"@1/x.h\"\n")));
}

TEST_F(HeaderSet, HasAFileOnceThoughItHasTwoNames)
{
  write("one/a/x.h", "int x;\n");
  std::filesystem::create_symlink("a/x.h", folder_.path() / "one/link.h");
  EXPECT_THAT(texts_for("#include <a/x.h>\n#include <link.h>\n#include <a/../a/x.h>\n"),
              ElementsAre(Pair("a/../a/x.h", "#include \"a/x.h\"\n"), Pair("a/x.h", "int x;\n"),
                          Pair("link.h", "#include \"a/x.h\"\n")));
}

TEST_F(HeaderSet, KeepsTheForcedHeaderApart)
{
  write("one/x.h", "int file;\n");
  write("one/y.h", "#include <x.h>\n");
  auto headers = make();
  EXPECT_EQ(headers.add_forced("x.h", "int forced;\n", {}), "@contract/x.h");
  EXPECT_TRUE(headers.has_only_forced());
  headers.add_includes_of("#include \"x.h\"\n#include <y.h>\n");
  EXPECT_THAT(
      texts(headers),
      ElementsAre(Pair("@0/x.h", "int file;\n"), Pair("@contract/x.h", "int forced;\n"),
                  Pair("x.h", "#include \"@contract/x.h\"\n"), Pair("y.h", "#include <@0/x.h>\n")));
  EXPECT_FALSE(headers.has_only_forced());
}

TEST_F(HeaderSet, DoesNotChangeTextsOfMacros)
{
  write("one/a/x.h", "#define PRINT() print(\"y.h\")\n");
  write("one/a/y.h", "int y;\n");
  EXPECT_THAT(texts_for("#include <a/x.h>\n"),
              testing::Contains(Pair("a/x.h", "#define PRINT() print(\"y.h\")\n")));
}

TEST_F(HeaderSet, KnowsTheMacrosOfTheOptions)
{
  write("one/x.h", "int x;\n");
  auto headers = make();
  headers.add_definitions({"NAME=<x.h>", "FLAG"});
  headers.add_includes_of("#include NAME\n");
  EXPECT_THAT(texts(headers), ElementsAre(Pair("x.h", "int x;\n")));
}

TEST_F(HeaderSet, PrefersHeadersInMemory)
{
  write("one/x.h", "int file;\n");
  EXPECT_THAT(texts_for("#include <x.h>\n", {{"x.h", "int memory;\n"}}),
              ElementsAre(Pair("x.h", "int memory;\n")));
}

TEST_F(HeaderSet, LeavesOutWhatIsInNoFolder)
{
  auto headers = make();
  headers.add_includes_of("#include <vector>\n");
  EXPECT_THAT(headers.headers(), IsEmpty());
  EXPECT_TRUE(headers.has_missing());
  EXPECT_EQ(headers.refusal_of("vector"), "");
}

TEST_F(HeaderSet, ReadsNothingOutsideOfTheFolders)
{
  write("secret.h", "secret\n");
  std::filesystem::create_symlink(folder_.path() / "secret.h", folder_.path() / "one/link.h");
  auto const absolute = (folder_.path() / "secret.h").string();
  auto headers = make();
  headers.add_includes_of("#include \"" + absolute + "\"\n#include \"../secret.h\"\n" +
                          "#include <link.h>\n");
  EXPECT_THAT(headers.headers(), IsEmpty());
  for (auto const& name : {absolute, std::string("../secret.h"), std::string("link.h")})
    EXPECT_EQ(headers.refusal_of(name), "is outside of the folders") << name;
}

TEST_F(HeaderSet, FollowsSymbolicLinksWithinAFolder)
{
  write("one/x.h", "int x;\n");
  std::filesystem::create_symlink("x.h", folder_.path() / "one/link.h");
  EXPECT_THAT(texts_for("#include <link.h>\n"), ElementsAre(Pair("link.h", "int x;\n")));
}

TEST_F(HeaderSet, ReadsNoFifo)
{
  ASSERT_EQ(::mkfifo((folder_.path() / "one/pipe.h").c_str(), 0600), 0);
  auto headers = make();
  headers.add_includes_of("#include <pipe.h>\n");
  EXPECT_THAT(headers.headers(), IsEmpty());
  EXPECT_EQ(headers.refusal_of("pipe.h"), "is not a regular file");
}

TEST_F(HeaderSet, HasWhatMacrosOfTheSourceAndOfHeadersName)
{
  write("one/a/x.h", "#include <system.h>\n#define Y <ROOT/y.h>\n#include Y\n");
  write("one/system.h", "#define ROOT a\n");
  write("one/a/y.h", "int y;\n");
  EXPECT_THAT(texts_for("#define X <ROOT/x.h>\n#define ROOT a\n#include X\n#include UNKNOWN\n"),
              ElementsAre(Pair("a/x.h", testing::_), Pair("a/y.h", "int y;\n"),
                          Pair("system.h", testing::_)));
}

TEST_F(HeaderSet, ReadsNothingOutsideOfTheFoldersThatAMacroNames)
{
  write("secret.h", "secret\n");
  auto headers = make();
  headers.add_includes_of("#define X <../secret.h>\n#define Y \"" +
                          (folder_.path() / "secret.h").string() + "\"\n#include X\n#include Y\n");
  EXPECT_THAT(headers.headers(), IsEmpty());
}

TEST_F(HeaderSet, AddsAHeaderThatTheCompilerNames)
{
  write("one/x.h", "#include <y.h>\n");
  write("one/y.h", "int y;\n");
  auto headers = make();
  EXPECT_TRUE(headers.add("x.h"));
  EXPECT_FALSE(headers.add("x.h"));
  EXPECT_FALSE(headers.add("z.h"));
  EXPECT_EQ(headers.headers().size(), 2U);
}

TEST_F(HeaderSet, ChangesAMacroThatNamesTheFileBesideItsHeader)
{
  write("one/a/x.h", "#define T \"y.h\"\n#include T\n");
  write("one/a/y.h", "int beside;\n");
  write("one/y.h", "int other;\n");
  EXPECT_THAT(texts_for("#include <a/x.h>\n"),
              ElementsAre(Pair("a/x.h", "#define T \"y.h\"\n#include \"a/y.h\"\n"),
                          Pair("a/y.h", "int beside;\n")));
}

TEST_F(HeaderSet, ChangesAConditionOfAMacroInItsHeaderOnly)
{
  write("one/a/x.h", "#define HAS(x) __has_include(x)\n#if HAS(\"y.h\")\n#endif\n");
  write("one/a/y.h", "int y;\n");
  EXPECT_THAT(
      texts_for("#include <a/x.h>\n"),
      ElementsAre(Pair("a/x.h", "#define HAS(x) __has_include(x)\n#if HAS(\"a/y.h\")\n#endif\n"),
                  Pair("a/y.h", "int y;\n")));
}

TEST_F(HeaderSet, KeepsTheNumbersOfLines)
{
  write("one/a/x.h", "#include \"y\\\n.h\"\nint x;\n");
  write("one/a/y.h", "int y;\n");
  EXPECT_THAT(texts_for("#include <a/x.h>\n"),
              testing::Contains(Pair("a/x.h", "#include \"a/y.h\\\n\"\nint x;\n")));
}

TEST_F(HeaderSet, FindsAFileOfAnotherFolderByItsRelativePath)
{
  write("one/a/x.h", "#include \"../../two/y.h\"\n");
  write("two/y.h", "int y;\n");
  EXPECT_THAT(texts_for("#include <a/x.h>\n"),
              ElementsAre(Pair("a/x.h", "#include \"y.h\"\n"), Pair("y.h", "int y;\n")));
}

TEST_F(HeaderSet, HasStandardHeadersForFilesThatAreNotOfCuda)
{
  write("one/x.h", "#include <cstdint>\n");
  write("two/cuda.h", "#include <cstddef>\n#include <limits>\n");
  std::filesystem::create_directories(folder_.path() / "two/cuda/std");
  write("two/cuda/std/limits", "int limits;\n");
  header_set headers(
      {.folders = {folder_.path() / "one"}, .cuda_folders = {folder_.path() / "two"}});
  headers.add_includes_of("#include <x.h>\n#include <cuda.h>\n#include <limits>\n");
  std::vector<std::string> names;
  for (auto const& header : headers.headers()) names.push_back(header.name);
  EXPECT_THAT(names, ElementsAre("cstdint", "cuda.h", "cuda/std/limits", "limits", "x.h"));
}

TEST_F(HeaderSet, HasTheStandardHeaderAfterAFileOfItsName)
{
  write("one/limits.h", "#include_next <limits.h>\nint own;\n");
  EXPECT_THAT(texts_for("#include <limits.h>\n"),
              ElementsAre(Pair("@standard/limits.h", testing::HasSubstr("SCHAR_MIN")),
                          Pair("limits.h", "#include <@standard/limits.h>\nint own;\n")));
}

TEST_F(HeaderSet, HasTheNextFileOfAName)
{
  write("one/x.h", "#include_next <x.h>\n#if __has_include_next(<x.h>)\n#endif\n");
  write("two/x.h", "int x;\n");
  EXPECT_THAT(texts_for("#include <x.h>\n"),
              ElementsAre(Pair("@1/x.h", "int x;\n"),
                          Pair("x.h", "#include <@1/x.h>\n#if __has_include(<@1/x.h>)\n#endif\n")));
}

TEST_F(HeaderSet, DoesNotLetAHeaderBeTheNextOneOfItself)
{
  write("two/x.h", "#if __has_include_next(<x.h>)\n#include_next <x.h>\n#endif\n");
  EXPECT_THAT(
      texts_for("#include <x.h>\n"),
      ElementsAre(Pair("x.h", "#if __has_include(<@next/x.h>)\n#include <@next/x.h>\n#endif\n")));
  EXPECT_EQ(header_set::with_spelled_names("no \"@next/x.h\""), "no \"x.h\"");
}

TEST_F(HeaderSet, HasTheFileAfterAHeaderInMemory)
{
  write("one/x.h", "int file;\n");
  EXPECT_THAT(texts_for("#include <x.h>\n", {{"x.h", "#include_next <x.h>\n"}}),
              ElementsAre(Pair("@0/x.h", "int file;\n"), Pair("x.h", "#include <@0/x.h>\n")));
}

TEST_F(HeaderSet, ReadsTheFirstLineOfASourceWithAByteOrderMark)
{
  write("one/x.h", "int x;\n");
  EXPECT_THAT(texts_for("\xEF\xBB\xBF#include <x.h>\n"), ElementsAre(Pair("x.h", "int x;\n")));
}

TEST_F(HeaderSet, StatesForEachSpellingWhyAFileIsNotRead)
{
  write("one/x.h", std::string("int x;\0", 7));
  auto headers = make();
  headers.add_includes_of("#include <x.h>\n#include \"./x.h\"\n");
  EXPECT_EQ(headers.refusal_of("x.h"), "has a NUL byte");
  EXPECT_EQ(headers.refusal_of("./x.h"), "has a NUL byte");
  EXPECT_THAT(headers.files(), IsEmpty());
  EXPECT_THAT(headers.missing_files(),
              ElementsAre(std::filesystem::canonical(folder_.path() / "one/x.h")));
}

TEST_F(HeaderSet, HasNoNamesThatNoFileCanHave)
{
  auto headers = make();
  headers.add_includes_of("#include <" + std::string(1 << 20, 'a') + ">\n");
  EXPECT_THAT(headers.headers(), IsEmpty());
  EXPECT_THAT(headers.missing_files(), IsEmpty());
}

TEST_F(HeaderSet, HasWhatAMacroNamesThoughItHasOtherLetters)
{
  write("one/x y.h", "int x;\n");
  EXPECT_THAT(texts_for("#define X <x y.h>\n#include X\n"), ElementsAre(Pair("x y.h", "int x;\n")));
}

TEST_F(HeaderSet, StopsWhenTheTimeIsOver)
{
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "#include <n" + std::to_string(i) + ">\n";
  header_set headers({.check_time = [] { throw std::runtime_error("late"); }});
  EXPECT_THROW(headers.add_includes_of(text), std::runtime_error);
}

TEST_F(HeaderSet, ChecksBeforeItReadsOrSearchesAHeader)
{
  write("one/a.h", "#include <b.h>\n");
  write("one/b.h", "#include <none.h>\n");
  int checks = 0;
  header_set headers({.folders = {folder_.path() / "one"}, .check_time = [&] { ++checks; }});
  headers.add_includes_of("#include <a.h>\n");
  EXPECT_GE(checks, 5);  // three names, two texts
  header_set stopped({.folders = {folder_.path() / "one"}, .check_time = [] { throw 1; }});
  EXPECT_THROW(stopped.add_includes_of("#include <a.h>\n"), int);
}
