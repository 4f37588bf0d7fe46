// SPDX-License-Identifier: Apache-2.0
// Which headers a source gets, and which it does not.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <stdexcept>

#include "header_set_case.hpp"

using namespace fatlink::detail;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

using HeaderSet = fixtures::header_set_case;

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

TEST_F(HeaderSet, IncludesEachFileOnceThoughItIncludesItself)
{
  write("one/x.h", "#include <y.h>\n");
  write("one/y.h", "#include <x.h>\n#include \"y.h\"\n");
  auto headers = make();
  headers.add_includes_of("#include <x.h>\n");
  EXPECT_EQ(headers.headers().size(), 2U);
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
