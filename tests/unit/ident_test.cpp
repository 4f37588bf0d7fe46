// SPDX-License-Identifier: Apache-2.0
#include "fatlink/ident.hpp"

#include <gtest/gtest.h>

#include "fatbin/ident.hpp"

using fatlink::parse_ident;
using fatlink::detail::decode_base64;
using fatlink::detail::encode_base64;

TEST(Base64, DecodesWhatRfc4648Gives)
{
  EXPECT_EQ(decode_base64(""), "");
  EXPECT_EQ(decode_base64("Zg=="), "f");
  EXPECT_EQ(decode_base64("Zm8="), "fo");
  EXPECT_EQ(decode_base64("Zm9vYmFy"), "foobar");
}

TEST(Base64, EncodesAsRfc4648)
{
  EXPECT_EQ(encode_base64(""), "");
  EXPECT_EQ(encode_base64("f"), "Zg==");
  EXPECT_EQ(encode_base64("fo"), "Zm8=");
  EXPECT_EQ(encode_base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(encode_base64("\xFF\x80"), "/4A=");
}

TEST(Base64, RefusesWhatIsNone)
{
  for (auto const* text : {"Zg", "Zg=", "Z===", "Zm9v!A==", "=Zg="})
    EXPECT_FALSE(decode_base64(text)) << text;
}

TEST(Ident, IsNothingForOtherText)
{
  // "", another tool's, JSON of no format, damaged JSON, a number where text belongs, 1e155.
  for (auto const* text : {"", "hello", "eyJmYXRsaW5rIjowfQ==", "eyJmYXRsaW5rIjox",
                           "eyJmYXRsaW5rIjoxLCJjb250cmFjdCI6N30=", "eyJmYXRsaW5rIjoxZTE1NX0="})
    EXPECT_FALSE(parse_ident(text)) << text;
}

TEST(Ident, NeedsNoContract)
{
  auto const found = parse_ident("eyJmYXRsaW5rIjoxfQ==");  // {"fatlink":1}
  ASSERT_TRUE(found);
  EXPECT_EQ(found->contract, "");
}

TEST(Ident, IsReadAsItWasWritten)
{
  fatlink::ident stated{.contract = "filters",
                        .version = 2,
                        .header_sha256 = std::string(64, 'a'),
                        .toolkit = "13.0.88",
                        .producer = "nvJitLink",
                        .float_flags = "-ftz=1",
                        .package = "p 2.0",
                        .contract_package = "q",
                        .hooks = {{"f", "FffE"}, {"quoted\"", "FvvE"}}};
  auto const found = parse_ident(fatlink::detail::encode_ident(stated));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->contract, stated.contract);
  EXPECT_EQ(found->version, stated.version);
  EXPECT_EQ(found->header_sha256, stated.header_sha256);
  EXPECT_EQ(found->toolkit, stated.toolkit);
  EXPECT_EQ(found->producer, stated.producer);
  EXPECT_EQ(found->float_flags, stated.float_flags);
  EXPECT_EQ(found->package, stated.package);
  EXPECT_EQ(found->contract_package, stated.contract_package);
  EXPECT_EQ(found->hooks, stated.hooks);
  EXPECT_EQ(decode_base64(fatlink::detail::encode_ident({})), "{\"fatlink\":1}");
}

TEST(Ident, NamesPackages)
{
  // {"fatlink":1,"package":"p 2.0","contract_package":"q"}
  auto const found =
      parse_ident("eyJmYXRsaW5rIjoxLCJwYWNrYWdlIjoicCAyLjAiLCJjb250cmFjdF9wYWNrYWdlIjoicSJ9");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->package, "p 2.0");
  EXPECT_EQ(found->contract_package, "q");
}

TEST(Ident, OfANewerFormatSaysThatAlone)
{
  // {"fatlink":2,"contract":"c"}
  auto const found = parse_ident("eyJmYXRsaW5rIjoyLCJjb250cmFjdCI6ImMifQ==");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->format, 2);
  EXPECT_EQ(found->contract, "");
}

TEST(Ident, ListsTheHooksOfTheContract)
{
  // {"fatlink":1,"contract":"c","hooks":{"f":"FffE"}}
  auto const found =
      parse_ident("eyJmYXRsaW5rIjoxLCJjb250cmFjdCI6ImMiLCJob29rcyI6eyJmIjoiRmZmRSJ9fQ==");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->hooks, (std::map<std::string, std::string>{{"f", "FffE"}}));
}

TEST(HookDeclaration, ShowsTheTypeAsCppWritesIt)
{
  using fatlink::hook_declaration;
  EXPECT_EQ(hook_declaration("f", "FffE"), "float f(float)");
  EXPECT_EQ(hook_declaration("f", "FvvE"), "void f()");
  EXPECT_EQ(hook_declaration("f", "FvPFffEE"), "void f(float (*)(float))");
}

TEST(HookDeclaration, KeepsMangledWhatIsNoSimpleFunctionType)
{
  using fatlink::hook_declaration;
  EXPECT_EQ(hook_declaration("f", "FPFffEiE"), "f: FPFffEiE");
  EXPECT_EQ(hook_declaration("f", "nonsense"), "f: nonsense");
  auto const large = "Fv" + std::string(200, 'P') + "iE";
  EXPECT_EQ(hook_declaration("f", large), "f: " + large);
}
