// SPDX-License-Identifier: Apache-2.0
// Numbers, printable text, words of a shell and nearest names.
#include <gtest/gtest.h>

#include <random>

#include "util/text/format.hpp"
#include "util/text/nearest.hpp"
#include "util/text/number.hpp"

using namespace fatlink::detail;
using fatlink::detail::printable;
using fatlink::detail::read_count;
using fatlink::detail::read_decimal;

TEST(Number, ReadsCountsWithFractionsExponentsAndUnits)
{
  for (auto const& [text, value] : std::initializer_list<std::pair<char const*, std::uint64_t>>{
           {"0", 0},
           {"0.0e5", 0},
           {"0e99999", 0},
           {"007", 7},
           {"18446744073709551615", 18446744073709551615U},
           {"1e19", 10000000000000000000U},
           {"1E+6", 1000000},
           {"1500e-2", 15},
           {"1.5M", 1500000},
           {"2k", 2000},
           {"2K", 2000},
           {"3G", 3000000000},
           {"64Ki", 65536},
           {"0.5Ki", 512},
           {"0.0009765625Ki", 1},
           {"1.25Mi", 1310720},
           {"16777215.5Gi", 18014397972611072U},
           {"1e3k", 1000000}})
    EXPECT_EQ(read_count(text), value) << text;
}

TEST(Number, RefusesWhatIsNoWholeNumberOf64Bits)
{
  for (auto const* text : {"",
                           "-1",
                           "+1",
                           " 1",
                           "1 ",
                           "1.",
                           ".5",
                           "1e",
                           "1e+",
                           "0x10",
                           "1_0",
                           "nan",
                           "inf",
                           "1T",
                           "1ki",
                           "1Kb",
                           "1KiB",
                           "KM",
                           "1KM",
                           "1i",
                           "1kk",
                           "1.5",
                           "1e-1",
                           "0.1Ki",
                           "1.0001k",
                           "1e20",
                           "1e999",
                           "1e99999999999999999999",
                           "18446744073709551616",
                           "17179869184Gi",
                           "1,5",
                           "1'000",
                           "１"})
    EXPECT_EQ(read_count(text), std::nullopt) << text;
}

TEST(Number, ReadsDecimals)
{
  EXPECT_EQ(read_decimal("60"), 60);
  EXPECT_EQ(read_decimal("0.25"), 0.25);
  EXPECT_EQ(read_decimal("2.5e1"), 25);
  for (auto const* text : {"", "nan", "NaN", "inf", "-1", "1e999", "0x1p3", "1s", "1k", ".5", "1."})
    EXPECT_EQ(read_decimal(text), std::nullopt) << text;
}

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

TEST(ShellWord, IsInQuotesWhereTheShellGivesCharactersAMeaning)
{
  for (auto const* plain : {"/opt/a-b_c.d", "x=1:2,3", "user@host", "a+b"})
    EXPECT_EQ(shell_word(plain), plain);
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("~/$(date)"), "'~/$(date)'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
}

TEST(Nearest, CountsInsertionsRemovalsReplacementsAndSwaps)
{
  EXPECT_EQ(edit_distance("run", "run"), 0U);
  EXPECT_EQ(edit_distance("rnu", "run"), 1U);
  EXPECT_EQ(edit_distance("runs", "run"), 1U);
  EXPECT_EQ(edit_distance("rn", "run"), 1U);
  EXPECT_EQ(edit_distance("ran", "run"), 1U);
  EXPECT_EQ(edit_distance("", "run"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(Nearest, OffersNothingThatIsUnlike)
{
  EXPECT_EQ(nearest({"run", "link", "list"}, "rnu"), "run");
  EXPECT_EQ(nearest({"run", "link", "list"}, "lsit"), "list");
  EXPECT_EQ(nearest({"run", "link", "list"}, "xyzzy"), "");
}

TEST(Nearest, AgreesWithAComparisonOfWholeTables)
{
  std::minstd_rand random(5);
  auto const word = [&] {
    std::string text;
    for (auto size = random() % 9; size > 0; --size)
      text += static_cast<char>('a' + static_cast<char>(random() % 3));
    return text;
  };
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::string> const names{word(), word(), word(), word()};
    auto const wanted = word();
    std::string_view best;
    auto least = wanted.size() / 2 + 1;
    for (auto const& name : names)
      if (auto const distance = edit_distance(name, wanted); distance < least) {
        least = distance;
        best = name;
      }
    name_search search({names.begin(), names.end()}, name_search::prefixes::are_compared);
    ASSERT_EQ(search.nearest(wanted), best) << wanted << " among " << testing::PrintToString(names);
  }
}

TEST(Nearest, SearchesShareAFixedAmountOfWork)
{
  std::vector<std::string> names;
  for (int i = 0; i < 2000; ++i) names.push_back(std::to_string(i) + std::string(200, 'x'));
  name_search search({names.begin(), names.end()}, name_search::prefixes::are_compared);
  EXPECT_EQ(search.nearest(names[7]), names[7]);
  std::size_t searches = 0;
  for (; searches < names.size() && search.work_left() > 100'000; ++searches)
    (void)search.nearest(std::string(200, 'y'));
  EXPECT_LT(searches, 100U) << "more than 2^24 cells";
  for (std::size_t i = 0; i < 1000; ++i) (void)search.nearest(names[i]);
  EXPECT_EQ(search.nearest("0yxxx"), "") << "found without work to spend";
}

TEST(Nearest, FindsAPrefixWithoutWork)
{
  std::vector<std::string_view> const names{"zeta", "_Z4hookf", "_Z5hookf", "alpha"};
  name_search const search(names, name_search::prefixes::are_compared, 0);
  EXPECT_EQ(search.find_prefix("_Z4hook"), "_Z4hookf");
  EXPECT_EQ(search.find_prefix("_Z6"), "");
}
