// SPDX-License-Identifier: Apache-2.0
// Contracts of a compile: hints for macros, and contracts for elements of one size.
#include <gtest/gtest.h>

#include "compiler/installed_contract.hpp"
#include "preflight/contracts.hpp"

using namespace fatlink::detail;

namespace {

installed_contract contract_with_hook(char const* name, char const* hook)
{
  return {.name = name, .version = 1, .hooks = {hook}};
}

}  // namespace

TEST(HookMacros, NameTheOneThatIsMisspelt)
{
  EXPECT_EQ(
      macro_hint("a.cu(1): error: x\n  FATLINK_LES(float, a, b) { return a > b; }\n", nullptr),
      "unknown macro FATLINK_LES; did you mean FATLINK_LESS(type, a, b) { … }?");
}

TEST(HookMacros, OfOthersAreNotExplained)
{
  EXPECT_EQ(macro_hint("  FATLINK_QQXX(1)\n", nullptr), "");
  EXPECT_EQ(macro_hint("  MY_FATLINK_LES(1)\n", nullptr), "");
  EXPECT_EQ(macro_hint("  FATLINK_ELEMENT_BYTES\n", nullptr), "");
  EXPECT_EQ(macro_hint("", nullptr), "");
}

TEST(HookMacros, NameTheContractsOfTheirHook)
{
  auto const stated = contract_with_hook("apply_transform", "user_transform");
  EXPECT_EQ(
      macro_hint("  FATLINK_BIN(float, x)\n", &stated),
      "FATLINK_BIN defines bin, a hook of bin_N and load_bin_N, and the source is compiled for "
      "apply_transform/1: pass a library with one of them, or state the contract "
      "(<compile_options::contract>)");
  EXPECT_EQ(macro_hint("  FATLINK_BIN(float, x)\n", nullptr),
            "FATLINK_BIN defines bin, a hook of bin_N and load_bin_N: pass a library with one of "
            "them, or state the contract (<compile_options::contract>)");
}

TEST(HookMacros, OfTheContractItselfAreRight)
{
  auto const sized = contract_with_hook("combine_16", "combine");
  EXPECT_EQ(macro_hint("  FATLINK_COMBINE(float4, a, b)\n", &sized), "");
  auto const own = contract_with_hook("my_sums", "combine");
  EXPECT_EQ(macro_hint("  FATLINK_COMBINE(float, a, b)\n", &own), "");
}

TEST(HookMacros, NameTheContractForTheSizeOfTheType)
{
  auto const stated = contract_with_hook("combine_4", "combine");
  EXPECT_EQ(macro_hint("a.cu(2): error: static assertion failed with \"best has 8 bytes: use the "
                       "contract combine_8\"\n  FATLINK_COMBINE(best, a, b)\n",
                       &stated),
            "pass a library for elements of 8 bytes, which has the contract combine_8; without a "
            "library state that contract (<compile_options::contract>)");
}

TEST(HookMacros, DefineHooks)
{
  EXPECT_EQ(macro_of("keep", contract_with_hook("keep_4", "keep")), "FATLINK_KEEP(type, x) { … }");
  EXPECT_EQ(macro_of("map_element", contract_with_hook("map1", "map_element")),
            "FATLINK_MAP1(to, from, x) { … }");
  EXPECT_EQ(macro_of("user_transform", contract_with_hook("apply_transform", "user_transform")),
            "");
}

TEST(HookMacros, ExplainAHookOfAnotherContract)
{
  auto const hint = other_contract_hint("keep", contract_with_hook("combine_8", "combine"));
  EXPECT_TRUE(hint.starts_with(
      "keep is a hook of keep_8, keep_store_8 and load_keep_8: pass a library with one of them"))
      << hint;  // the libraries that are installed follow
  EXPECT_EQ(other_contract_hint("combine", contract_with_hook("combine_8", "combine")), "");
  EXPECT_EQ(other_contract_hint("other", contract_with_hook("combine_8", "combine")), "");
}

TEST(SizedContracts, EndInASize)
{
  auto const sized = split_size("load_combine_16");
  ASSERT_TRUE(sized);
  EXPECT_EQ(sized->base, "load_combine");
  EXPECT_EQ(sized->bytes, "16");
  for (auto const* name :
       {"", "_4", "combine", "combine_", "combine_4x", "map1", "apply_transform"})
    EXPECT_FALSE(split_size(name)) << name;
}

TEST(SizedContracts, DifferInSizeIfTheRestIsEqual)
{
  EXPECT_TRUE(differ_in_size("combine_4", "combine_8"));
  EXPECT_FALSE(differ_in_size("combine_4", "combine_4"));
  EXPECT_FALSE(differ_in_size("combine_4", "keep_8"));
  EXPECT_FALSE(differ_in_size("combine", "combine_8"));
}

TEST(SizedContracts, NameTheLibraryOfAnotherSize)
{
  EXPECT_EQ(library_of_size("/share/sort_pairs_4.fatbin", "less_32"), "sort_pairs_32");
  EXPECT_EQ(library_of_size("mine.fatbin", "less_32"), "");
  EXPECT_EQ(library_of_size("sort_4.fatbin", "less"), "");
}
