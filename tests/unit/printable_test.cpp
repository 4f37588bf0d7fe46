// SPDX-License-Identifier: Apache-2.0
#include "util/text/format.hpp"

#include <gtest/gtest.h>

using fatlink::detail::printable;

TEST(Printable, KeepsTextTabsAndLines)
{
  EXPECT_EQ(printable("ptxas fatal : 'f'\n\tgrün, 関数, 🚀"), "ptxas fatal : 'f'\n\tgrün, 関数, 🚀");
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, EscapesControlCharacters)
{
  EXPECT_EQ(printable("\x1b[2J\r\a\x7f"), "\\x1b[2J\\x0d\\x07\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\xc2\\x9b2J");  // C1: the one-byte CSI
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b"),
            "a\\xe2\\x80\\xaeb");  // right-to-left override
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
}

TEST(Printable, EscapesMarksThatReorderText)
{
  EXPECT_EQ(printable("\u200e"), "\\xe2\\x80\\x8e");  // left-to-right mark
  EXPECT_EQ(printable("\u200f"), "\\xe2\\x80\\x8f");  // right-to-left mark
  EXPECT_EQ(printable("\u061c"), "\\xd8\\x9c");       // Arabic letter mark
  for (auto const* const neighbor : {"\u200d", "\u2010", "\u061b", "\u061d"})
    EXPECT_EQ(printable(neighbor), neighbor);
}

TEST(Printable, EscapesWhatIsNotUtf8)
{
  EXPECT_EQ(printable("\xff"
                      "a"),
            "\\xffa");
  EXPECT_EQ(printable("\xc3"), "\\xc3");                    // cut
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");           // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(printable("\xe2\x82"
                      "a"),
            "\\xe2\\x82"
            "a");
}

TEST(PrintableLine, IsTheBeginningOnOneLine)
{
  EXPECT_EQ(fatlink::detail::printable_line("a\nb\tc\x01"), "a b c\\x01");
  EXPECT_EQ(fatlink::detail::printable_line(std::string(1000, 'x')), std::string(100, 'x'));
}
