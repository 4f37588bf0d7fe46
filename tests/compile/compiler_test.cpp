// SPDX-License-Identifier: Apache-2.0
// What a compile makes of a source.
#include "compile_fixture.hpp"
#include "fatlink/linker.hpp"
#include "fatlink/ptx_interface.hpp"

using namespace fatlink;
using fixtures::k_half;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

std::vector<std::string> entries_of(fatbin const& code)
{
  std::vector<std::string> names;
  for (auto const& entry : code.entries())
    names.push_back(std::string(to_string(entry.kind)) + ":" + entry.target.name());
  return names;
}

class Compiler : public fixtures::CompilerTest {};

}  // namespace

TEST_F(Compiler, MakesAFatbinWithContractAndDigests)
{
  auto const made = compile(k_half);
  EXPECT_THAT(entries_of(made.code), ElementsAre("ptx:sm_75", "ltoir:sm_75"));
  EXPECT_TRUE(made.code.is_verified());
  ASSERT_TRUE(made.code.ident());
  auto const& ident = *made.code.ident();
  EXPECT_EQ(ident.contract, "apply_transform");
  EXPECT_EQ(ident.version, 1);
  EXPECT_EQ(ident.hooks, (std::map<std::string, std::string>{{"user_transform", "FffE"}}));
  EXPECT_EQ(ident.contract_package.substr(0, 15), "fatlink-runtime");
  EXPECT_EQ(ident.float_flags, to_string(float_flags{}));
  EXPECT_THAT(made.producer, testing::StartsWith("NVRTC 13."));
  EXPECT_THAT(made.warnings, IsEmpty());
  EXPECT_EQ(made.cache, cache_outcome::off);
}

TEST_F(Compiler, MakesTheSameBytesWhateverTheFolder)
{
  auto const here = compile(k_half, contract(), "half.cu");
  auto const there = compile(k_half, contract(), "/some/where/else/half.cu");
  EXPECT_TRUE(std::ranges::equal(here.code.bytes(), there.code.bytes()));
}

TEST_F(Compiler, CompilesForSeveralArchitectures)
{
  auto options = contract();
  options.architectures = {"sm_75", "sm_90a"};
  options.sass = {"sm_90a", "sm_80"};
  auto const made = compile(k_half, options);
  EXPECT_THAT(entries_of(made.code), ElementsAre("ptx:sm_75", "ltoir:sm_75", "elf:sm_80",
                                                 "elf:sm_90a", "ptx:sm_90a", "ltoir:sm_90a"));
  for (auto const& entry : made.code.entries()) {
    if (entry.kind != entry_kind::elf) continue;
    EXPECT_EQ(made.code.interface(entry).definitions.front().name, "user_transform");
  }
}

TEST_F(Compiler, RecordsFloatFlagsAsNvccDoes)
{
  auto options = contract();
  options.float_flags = {.ftz = true, .prec_div = false, .prec_sqrt = false, .fmad = false};
  auto const made =
      compile("extern \"C\" __device__ float user_transform(float x) { return 1 / x; }", options);
  for (auto const& entry : made.code.entries())
    EXPECT_EQ(entry.options, "-ftz=1 -prec_div=0 -prec_sqrt=0 -fmad=0");
  EXPECT_THAT(read_ptx(made.code.entries().front()), HasSubstr(".approx.ftz.f32"));
}

TEST_F(Compiler, PassesMacrosAndTheStandardOn)
{
  auto options = contract();
  options.definitions = {"FACTOR=3.0F", "FLAG"};
  options.standard = "c++20";
  EXPECT_NO_THROW(
      (void)compile("#if !defined(FLAG) || __cplusplus < 202002L\n#error\n#endif\n"
                    "extern \"C\" __device__ float user_transform(float x) { return FACTOR * x; }",
                    options));
}

TEST_F(Compiler, DoesNotTakeFromTheCacheWhatNeededNoSandbox)
{
  fixtures::folder const folder;
  auto const outcome = [&](bool allow_unconfined) {
    compiler cached(
        {.cache = std::make_shared<link_cache>(cache_settings{.folder = folder.path() / "cache"}),
         .allow_unconfined = allow_unconfined});
    return cached.compile(source::from_text(k_half, "half.cu"), contract()).cache;
  };
  EXPECT_EQ(outcome(true), cache_outcome::miss);
  EXPECT_EQ(outcome(false), cache_outcome::miss);
  EXPECT_EQ(outcome(false), cache_outcome::hit);
}

TEST_F(Compiler, LinksWithTheLibrary)
{
  auto const made = compile(k_half);
  linker links;
  for (auto const mode : {link_mode::ptx, link_mode::lto}) {
    auto const image =
        links.link({fatbin::find("apply_transform"), made.code}, {.target = "sm_90", .mode = mode});
    EXPECT_THAT(image.warnings, IsEmpty());
    EXPECT_EQ(image.inlined(), mode == link_mode::lto);
  }
}
