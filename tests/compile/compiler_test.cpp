// SPDX-License-Identifier: Apache-2.0
// Compiles with the NVRTC of this machine, in the helper.
#include "fatlink/compiler.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>

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

/// An array of 2^39 times `first`.
std::string macro_bomb(std::string const& first, std::string const& separator)
{
  std::string text = "#define A0 " + first + "\n";
  for (int i = 1; i < 40; ++i) {
    auto const before = "A" + std::to_string(i - 1);
    text += "#define A" + std::to_string(i) + ' ' + before + separator + before + '\n';
  }
  return text + "__device__ int numbers[] = {A39};\n";
}

/// Endless, deep, too large, or reading other files.
std::vector<std::string> const& hostile_sources()
{
  std::string const parentheses(2'000'000, '(');
  static std::vector<std::string> const sources{
      macro_bomb("1,1", ","),
      macro_bomb("\"0123456789abcdef\"", " "),
      "__device__ int n = " + parentheses + "1" + std::string(parentheses.size(), ')') + ";",
      "template <int A, long long B> struct tree { enum { value = tree<A - 1, 2 * B>::value + "
      "tree<A - 1, 2 * B + 1>::value }; };\n"
      "template <long long B> struct tree<0, B> { enum { value = 1 }; };\n"
      "__device__ int n = tree<60, 1>::value;",
      "#include \"/etc/passwd\"",
      "#include </dev/zero>",
      "#error " + std::string(1'000'000, 'e')};
  return sources;
}

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

TEST_F(Compiler, FindsAHeaderThatAMacroOfTheOptionsNames)
{
  fixtures::folder const folder;
  (void)folder.write("factor.h", "#define FACTOR 2.0F\n");
  auto options = contract();
  options.include_folders = {folder.path()};
  options.definitions = {"NAME=<factor.h>"};
  EXPECT_NO_THROW((void)compile(
      "#include NAME\n"
      "extern \"C\" __device__ float user_transform(float x) { return FACTOR * x; }\n",
      options));
}

TEST_F(Compiler, CompilesAgainWhenAHeaderChanges)
{
  fixtures::folder const folder;
  fixtures::folder const cache_folder;
  auto options = contract();
  options.include_folders = {folder.path()};
  options.definitions = {"NAME=<factor.h>"};  // only the compiler knows what #include NAME means
  std::string const text =
      "#include NAME\n"
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

TEST_F(Compiler, StopsAtTheTimeLimitAndGoesOn)
{
  compiler limited({.time_limit = std::chrono::seconds(2)});
  try {
    (void)limited.compile(source::from_text(macro_bomb("1,1", ","), "bomb.cu"), contract());
    ADD_FAILURE();
  } catch (compile_error const& failure) {
    EXPECT_TRUE(failure.details().code == error_code::compile_timeout ||
                failure.details().code == error_code::compile_memory)
        << failure.details().code.text();
    EXPECT_THAT(failure.what(), HasSubstr("bomb.cu: the compile"));
  }
  EXPECT_NO_THROW((void)compile(k_half));
}

TEST_F(Compiler, LeavesTheHostIntactAfterHostileSources)
{
  auto const stack_limit = [] {
    rlimit limit{};
    (void)::getrlimit(RLIMIT_STACK, &limit);
    return limit.rlim_cur;
  };
  auto const segv_handler = [] {
    struct sigaction action {};
    (void)::sigaction(SIGSEGV, nullptr, &action);
    return action.sa_handler;
  };
  auto const stack_before = stack_limit();
  auto const handler_before = segv_handler();
  auto const expected = compile(k_half).code.digest();
  compiler limited({.time_limit = std::chrono::seconds(1), .memory_limit_mib = 256});
  for (int i = 0; i < 20; ++i) {
    auto const& text = hostile_sources()[static_cast<std::size_t>(i) % hostile_sources().size()];
    EXPECT_THROW((void)limited.compile(source::from_text(text, "hostile.cu"), contract()),
                 compile_error)
        << text.substr(0, 80);
    EXPECT_EQ(compile(k_half).code.digest(), expected);
  }
  EXPECT_EQ(stack_limit(), stack_before);
  EXPECT_EQ(segv_handler(), handler_before);
}

TEST_F(Compiler, ReportsTheLackOfMemory)
{
  compiler limited({.memory_limit_mib = 128});
  try {
    (void)limited.compile(source::from_text(macro_bomb("1,1", ","), "bomb.cu"), contract());
    ADD_FAILURE();
  } catch (compile_error const& failure) {
    EXPECT_TRUE(failure.details().code == error_code::compile_memory) << failure.what();
    EXPECT_THAT(failure.what(),
                HasSubstr("bomb.cu: the compile needed more than its memory limit of 128 MiB"));
    EXPECT_THAT(failure.details().hint, HasSubstr("compiler_settings::memory_limit_mib"));
  }
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
