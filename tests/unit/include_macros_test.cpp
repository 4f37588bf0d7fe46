// SPDX-License-Identifier: Apache-2.0
#include "compiler/include_macros.hpp"

#include <gmock/gmock.h>

using fatlink::detail::find_directives;
using fatlink::detail::include_macros;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

namespace {

std::vector<std::string> headers_in(std::string_view text)
{
  include_macros macros;
  macros.add(find_directives(text));
  return macros.header_names();
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
  EXPECT_THAT(macros.header_names(), IsEmpty());
  macros.add(find_directives("#define A <a.h>\n"));
  EXPECT_THAT(macros.header_names(), ElementsAre("a.h"));
}

TEST(IncludeMacros, ThatNoDirectiveNamesAreLeftOut)
{
  EXPECT_THAT(headers_in("#define A <a.h>\n#define F(x) <x.h>\n#include F(y)\n#include C\n"),
              IsEmpty());
}

TEST(IncludeMacros, ThatNameThemselvesEnd)
{
  EXPECT_THAT(headers_in("#define A B\n#define B A\n#define C <C/c.h>\n#include A\n#include C\n"),
              ElementsAre("C/c.h"));
  EXPECT_THAT(headers_in("#define S S/S\n#define A <S.h>\n#include A\n"), SizeIs(1));
}

TEST(IncludeMacros, OfManyValuesEndAtTheLimits)
{
  include_macros macros;
  std::string text = "#include A\n#define A <B/B/B/B>\n";
  for (int i = 0; i < 200; ++i) text += "#define B C" + std::to_string(i) + "/B/B/B\n";
  macros.add(find_directives(text));
  EXPECT_THAT(macros.header_names(), SizeIs(testing::Le(16U)));
  for (int i = 0; i < 10'000; ++i) (void)macros.header_names();
  EXPECT_THAT(macros.header_names(), IsEmpty());
}
