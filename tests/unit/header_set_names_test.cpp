// SPDX-License-Identifier: Apache-2.0
// Under which names a source gets headers, and how texts that include them are changed.
#include <gmock/gmock.h>

#include "header_set_case.hpp"

using namespace fatlink::detail;
using testing::ElementsAre;
using testing::Pair;

using HeaderSetNames = fixtures::header_set_case;

TEST_F(HeaderSetNames, NamesAFileRelativeToItsIncluderAsInTheFolder)
{
  write("one/a/c.h", "#include \"b.h\"\n#include \"../d.h\"\n");
  write("one/a/b.h", "int b;\n");
  write("one/d.h", "int d;\n");
  EXPECT_THAT(texts_for("#include <a/c.h>\n"),
              ElementsAre(Pair("a/b.h", "int b;\n"),
                          Pair("a/c.h", "#include \"a/b.h\"\n#include \"d.h\"\n"),
                          Pair("d.h", "int d;\n")));
}

TEST_F(HeaderSetNames, KeepsTwoFilesOfOneNameApart)
{
  write("one/a/c.h", "#include \"x.h\"\n#include <x.h>\n");
  write("one/a/x.h", "int near;\n");
  write("two/x.h", "int far;\n");
  EXPECT_THAT(texts_for("#include <a/c.h>\n"),
              ElementsAre(Pair("a/c.h", "#include \"a/x.h\"\n#include <x.h>\n"),
                          Pair("a/x.h", "int near;\n"), Pair("x.h", "int far;\n")));
}

TEST_F(HeaderSetNames, GivesAPlainNameOnlyToWhatItFinds)
{
  write("one/x.h", "int one;\n");
  write("two/x.h", "int two;\n");
  write("two/y.h", "#include \"x.h\"\n");
  EXPECT_THAT(texts_for("#include <y.h>\n"),
              ElementsAre(Pair("@1/x.h", "int two;\n"), Pair("y.h", "#include \"@1/x.h\"\n")));
}

TEST_F(HeaderSetNames, HasAFileOnceThoughItHasTwoNames)
{
  write("one/a/x.h", "int x;\n");
  std::filesystem::create_symlink("a/x.h", folder_.path() / "one/link.h");
  EXPECT_THAT(texts_for("#include <a/x.h>\n#include <link.h>\n#include <a/../a/x.h>\n"),
              ElementsAre(Pair("a/../a/x.h", "#include \"a/x.h\"\n"), Pair("a/x.h", "int x;\n"),
                          Pair("link.h", "#include \"a/x.h\"\n")));
}

TEST_F(HeaderSetNames, KeepsTheForcedHeaderApart)
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

TEST_F(HeaderSetNames, DoesNotChangeTextsOfMacros)
{
  write("one/a/x.h", "#define PRINT() print(\"y.h\")\n");
  write("one/a/y.h", "int y;\n");
  EXPECT_THAT(texts_for("#include <a/x.h>\n"),
              testing::Contains(Pair("a/x.h", "#define PRINT() print(\"y.h\")\n")));
}

TEST_F(HeaderSetNames, ChangesAMacroThatNamesTheFileBesideItsHeader)
{
  write("one/a/x.h", "#define T \"y.h\"\n#include T\n");
  write("one/a/y.h", "int beside;\n");
  write("one/y.h", "int other;\n");
  EXPECT_THAT(texts_for("#include <a/x.h>\n"),
              ElementsAre(Pair("a/x.h", "#define T \"y.h\"\n#include \"a/y.h\"\n"),
                          Pair("a/y.h", "int beside;\n")));
}

TEST_F(HeaderSetNames, ChangesAConditionOfAMacroInItsHeaderOnly)
{
  write("one/a/x.h", "#define HAS(x) __has_include(x)\n#if HAS(\"y.h\")\n#endif\n");
  write("one/a/y.h", "int y;\n");
  EXPECT_THAT(
      texts_for("#include <a/x.h>\n"),
      ElementsAre(Pair("a/x.h", "#define HAS(x) __has_include(x)\n#if HAS(\"a/y.h\")\n#endif\n"),
                  Pair("a/y.h", "int y;\n")));
}

TEST_F(HeaderSetNames, KeepsTheNumbersOfLines)
{
  write("one/a/x.h", "#include \"y\\\n.h\"\nint x;\n");
  write("one/a/y.h", "int y;\n");
  EXPECT_THAT(texts_for("#include <a/x.h>\n"),
              testing::Contains(Pair("a/x.h", "#include \"a/y.h\\\n\"\nint x;\n")));
}

TEST_F(HeaderSetNames, FindsAFileOfAnotherFolderByItsRelativePath)
{
  write("one/a/x.h", "#include \"../../two/y.h\"\n");
  write("two/y.h", "int y;\n");
  EXPECT_THAT(texts_for("#include <a/x.h>\n"),
              ElementsAre(Pair("a/x.h", "#include \"y.h\"\n"), Pair("y.h", "int y;\n")));
}

TEST_F(HeaderSetNames, HasTheStandardHeaderAfterAFileOfItsName)
{
  write("one/limits.h", "#include_next <limits.h>\nint own;\n");
  EXPECT_THAT(texts_for("#include <limits.h>\n"),
              ElementsAre(Pair("@standard/limits.h", testing::HasSubstr("SCHAR_MIN")),
                          Pair("limits.h", "#include <@standard/limits.h>\nint own;\n")));
}

TEST_F(HeaderSetNames, HasTheNextFileOfAName)
{
  write("one/x.h", "#include_next <x.h>\n#if __has_include_next(<x.h>)\n#endif\n");
  write("two/x.h", "int x;\n");
  EXPECT_THAT(texts_for("#include <x.h>\n"),
              ElementsAre(Pair("@1/x.h", "int x;\n"),
                          Pair("x.h", "#include <@1/x.h>\n#if __has_include(<@1/x.h>)\n#endif\n")));
}

TEST_F(HeaderSetNames, DoesNotLetAHeaderBeTheNextOneOfItself)
{
  write("two/x.h", "#if __has_include_next(<x.h>)\n#include_next <x.h>\n#endif\n");
  EXPECT_THAT(
      texts_for("#include <x.h>\n"),
      ElementsAre(Pair("x.h", "#if __has_include(<@next/x.h>)\n#include <@next/x.h>\n#endif\n")));
  EXPECT_EQ(header_set::with_spelled_names("no \"@next/x.h\""), "no \"x.h\"");
}

TEST_F(HeaderSetNames, HasTheFileAfterAHeaderInMemory)
{
  write("one/x.h", "int file;\n");
  EXPECT_THAT(texts_for("#include <x.h>\n", {{"x.h", "#include_next <x.h>\n"}}),
              ElementsAre(Pair("@0/x.h", "int file;\n"), Pair("x.h", "#include <@0/x.h>\n")));
}
