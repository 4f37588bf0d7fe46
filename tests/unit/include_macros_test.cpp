// SPDX-License-Identifier: Apache-2.0
#include "compiler/directives/include_macros.hpp"

#include <gmock/gmock.h>

#include "util/text/format.hpp"

using fatlink::detail::find_directives;
using fatlink::detail::include_macros;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

namespace {

/// The names of `macros`, sorted, without those that header_names() returned before.
std::vector<std::string> header_names(include_macros& macros)
{
  std::set<std::string> all;
  for (auto const number : macros.expand())
    for (auto const& header : macros.headers_of(number)) all.insert(header.name);
  for (auto const& header : macros.condition_headers()) all.insert(header.name);
  return {all.begin(), all.end()};
}

std::vector<std::string> headers_in(std::string_view text)
{
  include_macros macros;
  macros.add(find_directives(text));
  return header_names(macros);
}

}  // namespace

TEST(IncludeMacros, NameHeadersInBothForms)
{
  EXPECT_THAT(
      headers_in("#define A <a/b-c.h> // why\n#define B \"b.h\"\n#include A\n#  include B\n"),
      ElementsAre("a/b-c.h", "b.h"));
}

TEST(IncludeMacros, AreExpandedWithinNamesInBracketsOnly)
{
  EXPECT_THAT(
      headers_in("#define SYSTEM cuda\n#define ROOT thrust/SYSTEM\n"
                 "#define A <ROOT/vector.h>\n#define B \"ROOT/b.h\"\n#include A\n#include B\n"),
      ElementsAre("ROOT/b.h", "thrust/cuda/vector.h"));
}

TEST(IncludeMacros, HaveTheValuesOfAllDefinitions)
{
  EXPECT_THAT(
      headers_in(
          "#if X\n#define S cpp\n#else\n#define S cuda\n#endif\n#define A <S/a.h>\n#include A\n"),
      ElementsAre("cpp/a.h", "cuda/a.h"));
}

TEST(IncludeMacros, MayNameMacros)
{
  EXPECT_THAT(headers_in("#define A B\n#define B <b.h>\n#include A\n"), ElementsAre("b.h"));
}

TEST(IncludeMacros, AreKnownWhereverTheyAreDefined)
{
  include_macros macros;
  macros.add(find_directives("#include A\n"));
  EXPECT_THAT(header_names(macros), IsEmpty());
  macros.add(find_directives("#define A <a.h>\n"));
  EXPECT_THAT(header_names(macros), ElementsAre("a.h"));
  macros.add(find_directives("#define B <b.h>\n"));
  EXPECT_THAT(macros.expand(), IsEmpty());
}

TEST(IncludeMacros, ThatNoDirectiveNamesAreLeftOut)
{
  EXPECT_THAT(headers_in("#define A <a.h>\n#define F(x) <x.h>\n#include C\n"), IsEmpty());
}

TEST(IncludeMacros, ThatNameThemselvesEnd)
{
  EXPECT_THAT(headers_in("#define A B\n#define B A\n#define C <C/c.h>\n#include A\n#include C\n"),
              ElementsAre("C/c.h"));
  EXPECT_THAT(headers_in("#define S S/S\n#define A <S.h>\n#include A\n"), ElementsAre("S/S.h"));
}

TEST(IncludeMacros, TakeArguments)
{
  EXPECT_THAT(headers_in("#define F(x) <x.h>\n#include F(y)\n"), ElementsAre("y.h"));
  EXPECT_THAT(headers_in("#define Q(x) #x\n#define H(x) Q(x.h)\n#define Y y\n#include H(Y)\n"),
              ElementsAre("y.h"));
  EXPECT_THAT(headers_in("#define J(a, b) <a##_##b.h>\n#define Y y\n#include J( x , Y )\n"),
              ElementsAre("x_Y.h"));
  EXPECT_THAT(headers_in("#define Q(...) #__VA_ARGS__\n#include Q(a,b.h)\n"), ElementsAre("a,b.h"));
  EXPECT_THAT(headers_in("#define E() <e.h>\n#include E()\n#include E\n"), ElementsAre("e.h"));
}

TEST(IncludeMacros, TakeTheArgumentsAfterAMacroThatNamesThem)
{
  EXPECT_THAT(headers_in("#define G F\n#define F(x) <x.h>\n#include G(y)\n"), ElementsAre("y.h"));
  EXPECT_THAT(headers_in("#define J(a, b) a##b\n#define AB(x) <x.h>\n#include J(A, B)(z)\n"),
              ElementsAre("z.h"));
  EXPECT_THAT(headers_in("#define HAS TEST\n#define TEST(x) __has_include(<x.h>)\n#if HAS(a)\n"),
              ElementsAre("a.h"));
  EXPECT_THAT(headers_in("#define F F\n#define F(x) <x.h>\n#include F(y)\n"), ElementsAre("y.h"));
}

TEST(IncludeMacros, OfConditionsWithLongArgumentsAreUnresolved)
{
  include_macros macros;
  macros.add(find_directives("#define HAS(x) __has_include(x)\n#if HAS(" + std::string(2000, 'x') +
                             ")\n"));
  (void)macros.expand();
  EXPECT_EQ(macros.unresolved(), "HAS");
}

TEST(IncludeMacros, WithManyDefinitionsAndUsesAreReadInOnePass)
{
  include_macros macros;
  std::string uses;
  std::string definitions;
  for (int i = 0; i < 100'000; ++i) {
    uses += "#include A\n";
    definitions += "#define A b" + std::to_string(i) + '\n';
  }
  macros.add(find_directives(uses));
  (void)macros.expand();
  macros.add(find_directives(definitions));  // quadratic: minutes
  EXPECT_EQ(macros.size(), 200'000U);
}

TEST(IncludeMacros, OfConditionsMayTestForHeaders)
{
  EXPECT_THAT(headers_in("#define HAS(x) (defined(X) && __has_include(<x.h>))\n#if X || HAS(a)\n"),
              ElementsAre("a.h"));
  EXPECT_THAT(headers_in("#define T(x) HAS(x)\n#define N <b.h>\n#if T(N)\n"
                         "#define HAS(x) __has_include(x)\n"),
              ElementsAre("b.h"));
  EXPECT_THAT(headers_in("#define MAX(a, b) a b\n#if MAX(A, B) && defined(C)\n"), IsEmpty());
}

TEST(IncludeMacros, KeepWhetherTheNameIsQuoted)
{
  include_macros macros;
  macros.add(find_directives("#define A <a.h>\n#define B \"b.h\"\n#include A\n#include B\n"));
  ASSERT_THAT(macros.expand(), ElementsAre(0U, 1U));
  EXPECT_FALSE(macros.headers_of(0).begin()->is_quoted);
  EXPECT_TRUE(macros.headers_of(1).begin()->is_quoted);
}

TEST(IncludeMacros, OfManyValuesAreAllKnown)
{
  include_macros macros;
  std::string text = "#include A\n";
  for (int i = 0; i < 200; ++i) text += "#define A <a" + std::to_string(i) + ".h>\n";
  macros.add(find_directives(text));
  EXPECT_THAT(header_names(macros), SizeIs(200U));
  EXPECT_EQ(macros.unresolved(), "");
}

TEST(IncludeMacros, OfConditionsAreUnresolvedAtTheLimits)
{
  include_macros macros;
  std::string text = "#if __has_include(A)\n#define A <B/B/B/B>\n";
  for (int i = 0; i < 200; ++i) text += "#define B C" + std::to_string(i) + "/B/B/B\n";
  macros.add(find_directives(text));
  (void)macros.expand();
  EXPECT_EQ(macros.unresolved(), "A");
}

TEST(IncludeMacros, OfManyLevelsAreUnresolved)
{
  include_macros macros;
  std::string text = "#if HAS(M0(x))\n#define HAS(x) __has_include(x)\n";
  for (int i = 0; i < 20; ++i) text += fatlink::detail::format("#define M{}(x) M{}(x)\n", i, i + 1);
  macros.add(find_directives(text + "#define M20(x) <x.h>\n"));
  (void)macros.expand();
  EXPECT_EQ(macros.unresolved(), "HAS(M0(x))");
}
