// SPDX-License-Identifier: Apache-2.0
// Compiles with the NVRTC of this machine, in the helper.
#include "fatlink/compiler.hpp"

#include <gmock/gmock.h>

#include "fatlink/linker.hpp"
#include "fixtures.hpp"
#include "vendor_compiler/nvrtc.hpp"

using namespace fatlink;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

constexpr char const* k_half =
    "extern \"C\" __device__ float user_transform(float x) { return 0.5F * x; }\n";

class Compiler : public testing::Test {
 protected:
  void SetUp() override
  {
    if (!detail::locate_nvrtc()) GTEST_SKIP() << "no NVRTC on this machine";
    ::setenv("FATLINK_PATH", places::data().c_str(), 1);
  }
  void TearDown() override { ::unsetenv("FATLINK_PATH"); }

  compiled_source compile(std::string const& text, compile_options const& options = contract(),
                          std::string const& name = "half.cu")
  {
    return compiler_.compile(source::from_text(text, name), options);
  }
  static compile_options contract()
  {
    return {.contract = "apply_transform", .architectures = {"sm_75"}};
  }

  /// The details of the compile_error that `text` causes.
  error_details refusal(std::string const& text, compile_options const& options = contract())
  {
    try {
      (void)compile(text, options);
    } catch (compile_error const& failure) {
      return failure.details();
    }
    ADD_FAILURE() << "compiled: " << text;
    return {};
  }

  compiler compiler_;
};

std::vector<std::string> entries_of(fatbin const& code)
{
  std::vector<std::string> names;
  for (auto const& entry : code.entries())
    names.push_back(std::string(to_string(entry.kind)) + ":" + entry.target.name());
  return names;
}

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
  EXPECT_THAT(entries_of(compile(k_half, options).code),
              ElementsAre("ptx:sm_75", "ltoir:sm_75", "elf:sm_80", "elf:sm_90a", "ptx:sm_90a",
                          "ltoir:sm_90a"));
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

TEST_F(Compiler, ShowsTheContractForAWrongType)
{
  auto const details =
      refusal("\nextern \"C\" __device__ double user_transform(float x) { return x; }");
  EXPECT_THAT(details.message, HasSubstr("half.cu:2: error: "));
  EXPECT_TRUE(details.code == error_code::compile_failed);
  EXPECT_THAT(details.hint, HasSubstr("the contract apply_transform/1 declares: extern \"C\" "
                                      "__device__ float user_transform(float x);"));
}

TEST_F(Compiler, RefusesASecondDefinitionAndASyntaxErrorWithTheirLine)
{
  EXPECT_THAT(refusal(std::string(k_half) + k_half).message,
              HasSubstr("half.cu:2: error: function \"user_transform\" has already been defined"));
  EXPECT_THAT(
      refusal("extern \"C\" __device__ float user_transform(float x) { return 0.5F * ; }").message,
      HasSubstr("half.cu:1: error: expected an expression"));
}

TEST_F(Compiler, RefusesASourceWithoutTheHook)
{
  for (auto const* text : {"", "__global__ void kernel(float* x) { *x = 1; }"}) {
    auto const details = refusal(text);
    EXPECT_EQ(details.code.text(), "missing-hook");
    EXPECT_THAT(details.message, HasSubstr("neither defines nor calls a hook"));
  }
  EXPECT_THAT(refusal("extern \"C\" __device__ float user_transfrom(float x) { return x; }").hint,
              HasSubstr("did you mean user_transform?"));
  EXPECT_THAT(
      refusal("namespace a { __device__ float user_transform(float x) { return x; } }").hint,
      HasSubstr("declare it extern \"C\""));
}

TEST_F(Compiler, ShowsTheAssemblersLine)
{
  auto const details = refusal(
      "extern \"C\" __device__ float user_transform(float x) { asm(\"garbage %0;\" : \"+f\"(x)); "
      "return x; }");
  EXPECT_TRUE(details.code == error_code::compile_failed);
  EXPECT_THAT(details.message, testing::AllOf(HasSubstr("half.cu"), HasSubstr("garbage")));
  EXPECT_THAT(details.hint, HasSubstr("garbage %"));
}

TEST_F(Compiler, FindsHeadersInTheFoldersOnly)
{
  fixtures::folder const folder;
  (void)folder.write("factor.h", "#define FACTOR 2.0F\n");
  std::string const text =
      "#include \"factor.h\"\n"
      "extern \"C\" __device__ float user_transform(float x) { return FACTOR * x; }\n";
  EXPECT_TRUE(refusal(text).code == error_code::header_not_found);
  auto options = contract();
  options.include_folders = {folder.path()};
  EXPECT_NO_THROW((void)compile(text, options));
}

TEST_F(Compiler, FindsAHeaderThatAMacroNames)
{
  fixtures::folder const folder;
  (void)folder.write("factor.h", "#define FACTOR 2.0F\n");
  auto options = contract();
  options.include_folders = {folder.path()};
  EXPECT_NO_THROW((void)compile(
      "#define NAME <factor.h>\n#include NAME\n"
      "extern \"C\" __device__ float user_transform(float x) { return FACTOR * x; }\n",
      options));
}

TEST_F(Compiler, CompilesAgainWhenAHeaderChanges)
{
  fixtures::folder const folder;
  fixtures::folder const cache_folder;
  auto options = contract();
  options.include_folders = {folder.path()};
  std::string const text =
      "#define NAME <factor.h>\n#include NAME\n"
      "extern \"C\" __device__ float user_transform(float x) { return FACTOR * x; }\n";
  auto const compile_cached = [&] {
    compiler cached({.cache = std::make_shared<link_cache>(
                         cache_settings{.folder = cache_folder.path() / "cache"})});
    return cached.compile(source::from_text(text, "half.cu"), options);
  };
  (void)folder.write("factor.h", "#define FACTOR 2.0F\n");
  auto const first = compile_cached();
  auto const second = compile_cached();
  EXPECT_EQ(first.cache, cache_outcome::miss);
  EXPECT_EQ(second.cache, cache_outcome::hit);
  EXPECT_TRUE(std::ranges::equal(first.code.bytes(), second.code.bytes()));
  (void)folder.write("factor.h", "#define FACTOR 3.0F\n");
  auto const third = compile_cached();
  EXPECT_EQ(third.cache, cache_outcome::miss);
  EXPECT_FALSE(std::ranges::equal(first.code.bytes(), third.code.bytes()));
}

TEST_F(Compiler, StopsAtTheTimeLimitAndGoesOn)
{
  std::string bomb = "#define A0 1,1\n";
  for (int i = 1; i < 40; ++i)
    bomb += "#define A" + std::to_string(i) + " A" + std::to_string(i - 1) + ",A" +
            std::to_string(i - 1) + "\n";
  bomb += "__device__ int numbers[] = {A39};\n";
  compiler limited({.time_limit = std::chrono::seconds(2)});
  try {
    (void)limited.compile(source::from_text(bomb, "bomb.cu"), contract());
    ADD_FAILURE();
  } catch (compile_error const& failure) {
    EXPECT_TRUE(failure.details().code == error_code::compile_timeout ||
                failure.details().code == error_code::compile_memory)
        << failure.details().code.text();
    EXPECT_THAT(failure.what(), HasSubstr("bomb.cu: the compile"));
  }
  EXPECT_NO_THROW((void)compile(k_half));
}

TEST_F(Compiler, RefusesOptionsOutOfRange)
{
  auto const expect_usage = [&](compile_options const& options) {
    EXPECT_THROW((void)compile(k_half, options), usage_error);
  };
  expect_usage({.architectures = {}});
  expect_usage({.architectures = {"sm_75", "sm_75"}});
  expect_usage({.standard = "c++11 -I/", .architectures = {"sm_75"}});
  expect_usage({.definitions = {"1X"}, .architectures = {"sm_75"}});
  expect_usage({.contract = "apply_transform", .header = "x.h", .architectures = {"sm_75"}});
  EXPECT_THROW(compiler({.time_limit = std::chrono::seconds(0)}), usage_error);
  EXPECT_THROW(compiler({.memory_limit_mib = 1}), usage_error);
}

TEST_F(Compiler, RefusesAContractThatIsNotInstalled)
{
  try {
    (void)compile(k_half, {.contract = "aply_transform", .architectures = {"sm_75"}});
    ADD_FAILURE();
  } catch (file_error const& failure) {
    EXPECT_TRUE(failure.details().code == error_code::not_installed);
    EXPECT_THAT(failure.details().hint, HasSubstr("did you mean apply_transform?"));
  }
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
