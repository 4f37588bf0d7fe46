// SPDX-License-Identifier: Apache-2.0
#include "compiler/directives/include_lines.hpp"

#include <gmock/gmock.h>

#include <string>

using namespace fatlink::detail;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

std::vector<std::string> names_in(std::string_view text)
{
  std::vector<std::string> names;
  auto const directives = find_directives(text);
  for (auto const& include : directives.includes)
    names.push_back((include.is_quoted ? '"' : '<') + std::string(include.name));
  return names;
}

std::vector<std::string> uses_in(std::string_view text)
{
  std::vector<std::string> uses;
  auto const directives = find_directives(text);
  for (auto const& use : directives.uses)
    uses.push_back((use.is_call ? "call " : "") + std::string(use.text));
  return uses;
}

}  // namespace

TEST(IncludeLines, AreFoundInBothForms)
{
  EXPECT_THAT(names_in("#include <a.h>\n  #  include \"b/c.h\"  // why\nint x;"),
              ElementsAre("<a.h", "\"b/c.h"));
}

TEST(IncludeLines, StateWhereTheNameIs)
{
  std::string_view const text = "int x;\n#include \"b.h\"\n";
  auto const includes = find_directives(text).includes;
  ASSERT_EQ(includes.size(), 1U);
  EXPECT_EQ(text.substr(includes[0].range.offset, includes[0].range.size), "b.h");
}

TEST(IncludeLines, InCommentsAreNone)
{
  EXPECT_THAT(names_in("// #include <a.h>\n/* x\n#include <b.h>\n*/ int y; /* z */\n/*\n*/"),
              IsEmpty());
}

TEST(IncludeLines, AfterACommentThatEndsAreFound)
{
  EXPECT_THAT(names_in("/* x */ #include <a.h>\n/* y\n z */ #include <b.h>\n"),
              ElementsAre("<a.h", "<b.h"));
}

TEST(IncludeLines, AreNotHiddenByLiteralsThatLookLikeComments)
{
  EXPECT_THAT(names_in("char const* a = \"/*\";\nchar b = '\\'';\n#include <a.h>\n"),
              ElementsAre("<a.h"));
}

TEST(IncludeLines, OfConditionsAreFound)
{
  EXPECT_THAT(names_in("#if __has_include(<a.h>) && __has_include(\"b.h\")\n"),
              ElementsAre("<a.h", "\"b.h"));
}

TEST(IncludeLines, GoOnInTheNextLine)
{
  EXPECT_THAT(
      names_in("#include \\\n <a.h>\n#if X || \\\r\n __has_include(<b.h>) // \\\n#include <c.h>\n"),
      ElementsAre("<a.h", "<b.h"));
  EXPECT_THAT(names_in("#if 1 /* x\n y */ && __has_include(<a.h>)\n"), ElementsAre("<a.h"));
}

TEST(IncludeLines, OfArgumentsOfMacrosMayBeNone)
{
  std::vector<bool> are_certain;
  auto const directives = find_directives(
      "#if HAS(<a.h>) && defined(<b.h>)\n#define H __has_include(\"c.h\")\n#define P "
      "print(\"d.h\")\n");
  for (auto const& include : directives.includes) are_certain.push_back(include.is_certain);
  EXPECT_THAT(names_in("#if HAS(<a.h>)\n"), ElementsAre("<a.h"));
  EXPECT_THAT(are_certain, ElementsAre(false, true, false));
}

TEST(IncludeLines, AreNotHiddenByRawStringsAndNumbers)
{
  EXPECT_THAT(
      names_in("auto a = R\"x(/*\n#include <n.h>\n)\" )x\"; auto b = 1'000; auto c = u8R\"(\\)\";\n"
               "#include <a.h>\n"),
      ElementsAre("<a.h"));
}

TEST(IncludeLines, OfConditionsStateTheirMacros)
{
  EXPECT_THAT(uses_in("#if __has_include(A) && HAS(B(c)) || defined(D) || X\n"),
              ElementsAre("A", "call HAS(B(c))", "B(c)", "c", "call X"));
}

TEST(IncludeLines, OfNextStateIt)
{
  auto const includes = find_directives("#include_next <a.h>\n#include <a.h>\n").includes;
  ASSERT_EQ(includes.size(), 2U);
  EXPECT_TRUE(includes[0].is_next);
  EXPECT_FALSE(includes[1].is_next);
}

TEST(IncludeLines, OfALargeTextAreFoundInOnePass)
{
  std::size_t const size = 4 << 20;
  for (std::string const part :
       {"__has_include", "__has_include(", "(\"", "(<", "R\"(", "/*", "'", "\\\n", "#"}) {
    std::string text = "#if ";
    while (text.size() < size) text += part;
    EXPECT_LE(find_directives(text).includes.size(), text.size()) << part;  // quadratic: minutes
  }
}

TEST(IncludeLines, OfMacrosAndUnfinishedOnesAreNone)
{
  EXPECT_THAT(names_in("#include HEADER\n#include <\n#include \"\"\n#include <a.h\n#inc <a.h>"),
              IsEmpty());
}

TEST(IncludeLines, OfMacrosStateTheMacro)
{
  EXPECT_THAT(uses_in("#include HEADER // <a.h>\n# include/**/F (x)\n#include <a.h>\n"),
              ElementsAre("HEADER", "F (x)"));
}

TEST(IncludeLines, HaveTheDefinitionsThatMayNameHeaders)
{
  std::vector<std::string> definitions;
  auto const directives = find_directives(
      "#define A <a.h> /* x */\n # define B\t\"b.h\"\n#define C c/d-e.h // x\n#define D\n"
      "#define E(x) <x>\n#define F 1 + 2\n#define G <a> > b\n// #define H h\n"
      "#define I(a, b) a && __has_include(b)\n#define J() K(j.h)\n#define L(x) { x; }\n");
  for (auto const& definition : directives.definitions)
    definitions.push_back(
        std::string(definition.name) +
        (definition.is_function ? "(" + std::string(definition.parameters) + ")" : "") + '=' +
        std::string(definition.value));
  EXPECT_THAT(definitions, ElementsAre("A=<a.h>", "B=\"b.h\"", "C=c/d-e.h", "E(x)=<x>",
                                       "I(a, b)=a && __has_include(b)", "J()=K(j.h)"));
}

TEST(IncludeLines, MayBeSpelledWithDigraphs)
{
  EXPECT_THAT(names_in("%:include <a.h>\n%: if __has_include(\"b.h\")\n"),
              ElementsAre("<a.h", "\"b.h"));
}

TEST(IncludeLines, MayGoOnWithinAWord)
{
  std::string_view const text = "#inc\\\nlude <a\\\r\n.h>\n#i\\\nf __has_\\\ninclude(<b.h>)\n";
  EXPECT_THAT(names_in(text), ElementsAre("<a.h", "<b.h"));
  auto const directives = find_directives(text);
  auto const range = directives.includes[0].range;
  EXPECT_EQ(text.substr(range.offset, range.size), "a\\\r\n.h");
}

TEST(IncludeLines, AfterACommentOfSeveralLinesAreFoundAsNvrtcDoes)
{
  EXPECT_THAT(names_in("int x; /* y\n z */ #include <a.h>\nint z; /* y */ #include <b.h>\n"),
              ElementsAre("<a.h"));
}

TEST(IncludeLines, MayHaveABracketInQuotes)
{
  EXPECT_THAT(names_in("#include \"b<a.h\"\n"), ElementsAre("\"b<a.h"));
}

TEST(IncludeLines, HaveDefinitionsWithoutComments)
{
  auto const directives = find_directives(
      "#define A /* x */ <a.h>\n#define B /* x\n y */ <b.h> // z\n#define C \"c//d.h\"\n"
      "#define D(x) (defined(X) /* y */ && __has_include(x))\n");
  std::vector<std::string> values;
  for (auto const& definition : directives.definitions) values.push_back(definition.value);
  EXPECT_THAT(values,
              ElementsAre("<a.h>", "<b.h>", "\"c//d.h\"", "(defined(X)   && __has_include(x))"));
}

TEST(IncludeLines, StateUsesWhoseArgumentsAreTooLong)
{
  auto const text = "#if F(" + std::string(2000, 'x') + ") || G(y)\n";
  auto const directives = find_directives(text);
  ASSERT_GE(directives.uses.size(), 2U);
  EXPECT_EQ(directives.uses.front().text, "F");
  EXPECT_TRUE(directives.uses.front().is_cut);
  EXPECT_FALSE(directives.uses.back().is_cut);
}

TEST(IncludeLines, OfATextOfLineEndsOnlyAreNone)
{
  EXPECT_THAT(names_in("\\\n\\\n"), IsEmpty());
  EXPECT_EQ(find_directives("\\\n\\\n").text->view(), "");
}

TEST(IncludeLines, EndAtALimit)
{
  std::string text;
  for (std::size_t i = 0; i <= k_most_directives; ++i) text += "#include <a>\n";
  auto const directives = find_directives(text);
  EXPECT_EQ(directives.includes.size(), k_most_directives);
  EXPECT_FALSE(directives.is_complete);
}
