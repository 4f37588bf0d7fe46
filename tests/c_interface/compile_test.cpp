// SPDX-License-Identifier: Apache-2.0
// Compiles of the C interface.
#include <cstddef>
#include <cstring>
#include <fstream>

#include "c_interface_fixture.hpp"
#include "fatlink/compiler.hpp"

using fixtures::c_compiler;
using fixtures::c_input;
using fixtures::fail;
using fixtures::fail_usage;
using fixtures::result_of;
using fixtures::succeed;

namespace {

constexpr char const* k_source = R"(extern "C" __global__ void store(int* out) { *out = VALUE; })";

class CCompile : public fixtures::c_interface {
 protected:
  CCompile() { succeed(fatlink_compiler_create(nullptr, result_of(compiler_))); }

  [[nodiscard]] fatlink_error* compile(char const* source, fatlink_compile_options const& options)
  {
    return fatlink_compile(compiler_.get(), source, std::strlen(source), "store.cu", &options,
                           result_of(fatbin_), &warnings_);
  }
  static fatlink_compile_options options()
  {
    fatlink_compile_options stated = {};
    stated.size = sizeof stated;
    return stated;
  }
  void skip_without_nvrtc(fatlink_error* error)
  {
    fixtures::c_error const owner(error);
    if (fatlink_error_get_kind(error) == FATLINK_ERROR_UNAVAILABLE)
      GTEST_SKIP() << fatlink_error_message(error);
    EXPECT_EQ(error, nullptr) << fatlink_error_message(error);
  }

  c_compiler compiler_;
  c_input fatbin_;
  char* warnings_ = nullptr;
};

}  // namespace

TEST_F(CCompile, GivesAFatbinThatLinks)
{
  char const* const definition = "VALUE=7";
  auto stated = options();
  stated.definitions = &definition;
  stated.definition_count = 1;
  skip_without_nvrtc(compile(k_source, stated));
  if (fatbin_ == nullptr) return;
  EXPECT_EQ(warnings_, nullptr);
  EXPECT_STREQ(fatlink_input_form(fatbin_.get()), "fatbin");
  input_ = std::move(fatbin_);
  fixtures::c_kernel kernel;
  succeed(fatlink_module_kernel(load().get(), "store", result_of(kernel)));
}

TEST_F(CCompile, FindsHeadersInTheFolderOfTheSource)
{
  fixtures::folder const folder;
  auto const path = folder.path().string();
  std::ofstream(folder.path() / "value.cuh") << "#define VALUE 7\n";
  auto const source = std::string("#include \"value.cuh\"\n") + k_source;
  auto stated = options();
  fixtures::c_error const error(compile(source.c_str(), stated));
  if (fatlink_error_get_kind(error.get()) == FATLINK_ERROR_UNAVAILABLE)
    GTEST_SKIP() << fatlink_error_message(error.get());
  EXPECT_STREQ(fatlink_error_code(error.get()), "header-not-found");
  stated.folder = path.c_str();
  succeed(compile(source.c_str(), stated));
}

TEST_F(CCompile, TakesOptionsOfTheFirstVersion)
{
  auto stated = options();
  char const* const definition = "VALUE=7";
  stated.definitions = &definition;
  stated.definition_count = 1;
  stated.folder = "/nowhere";
  stated.size = offsetof(fatlink_compile_options, folder);
  skip_without_nvrtc(compile(k_source, stated));
}

TEST_F(CCompile, ReportsTheLog)
{
  fixtures::c_error const error(compile(k_source, options()));
  if (fatlink_error_get_kind(error.get()) == FATLINK_ERROR_UNAVAILABLE)
    GTEST_SKIP() << fatlink_error_message(error.get());
  EXPECT_EQ(fatlink_error_get_kind(error.get()), FATLINK_ERROR_COMPILE);
  EXPECT_THAT(fatlink_error_log(error.get()), testing::HasSubstr("VALUE"));
  EXPECT_EQ(fatbin_, nullptr);
}

TEST_F(CCompile, GivesWarnings)
{
  skip_without_nvrtc(compile(
      R"(extern "C" __global__ void store(int* out) { int unused; *out = 7; })", options()));
  if (fatbin_ == nullptr) return;
  ASSERT_NE(warnings_, nullptr);
  EXPECT_THAT(warnings_, testing::HasSubstr("unused"));
  fatlink_text_free(warnings_);
}

TEST_F(CCompile, OfflineIsUnavailable)
{
  fatlink_compiler_settings settings = {};
  settings.size = sizeof settings;
  settings.offline = 1;
  succeed(fatlink_compiler_create(&settings, result_of(compiler_)));
  fixtures::c_error const error(compile(k_source, options()));
  EXPECT_EQ(fatlink_error_get_kind(error.get()), FATLINK_ERROR_UNAVAILABLE);
  EXPECT_STREQ(fatlink_error_code(error.get()), "offline");
  EXPECT_THAT(fatlink_error_message(error.get()),
              testing::HasSubstr("the compiled source store.cu for sm_75"));
  EXPECT_THAT(fatlink_error_hint(error.get()),
              testing::StartsWith("set fatlink_compiler_settings.cache; "));
  EXPECT_EQ(fatbin_, nullptr);
}

TEST_F(CCompile, TakesSettingsOfTheFirstVersion)
{
  fatlink_compiler_settings settings = {};
  settings.size = offsetof(fatlink_compiler_settings, offline);
  settings.offline = 1;
  succeed(fatlink_compiler_create(&settings, result_of(compiler_)));
  settings.size = sizeof settings;
  settings.reserved = 1;
  fail_usage(fatlink_compiler_create(&settings, result_of(compiler_)),
             "the member reserved of settings is 1");
}

TEST_F(CCompile, RefusesMalformedOptions)
{
  auto stated = options();
  stated.ftz = 3;
  fail_usage(compile(k_source, stated),
             "options.ftz is 3, which is not a constant of fatlink_choice");
  stated = options();
  stated.standard = "c++99";
  fail_usage(compile(k_source, stated), "c++99");
  stated = options();
  stated.architecture_count = 1;
  fail_usage(compile(k_source, stated), "options.architectures is NULL");
  fatlink_compiler_settings settings = {};
  settings.size = sizeof settings;
  settings.memory_limit_mib = 1;
  fatlink_compiler* compiler = nullptr;
  fail_usage(fatlink_compiler_create(&settings, &compiler), "a memory limit of 1 MiB");
}

TEST_F(CCompile, RefusesNull)
{
  fatlink_input* fatbin = nullptr;
  auto* const compiler = compiler_.get();
  fail_usage(fatlink_compiler_create(nullptr, nullptr), "compiler is NULL");
  fail_usage(fatlink_compile(nullptr, "", 0, "x", nullptr, &fatbin, nullptr), "compiler is NULL");
  fail_usage(fatlink_compile(compiler, nullptr, 1, "x", nullptr, &fatbin, nullptr),
             "source is NULL");
  fail_usage(fatlink_compile(compiler, "", 0, nullptr, nullptr, &fatbin, nullptr), "name is NULL");
  fail_usage(fatlink_compile(compiler, "", 0, "x", nullptr, nullptr, nullptr), "fatbin is NULL");
  fatlink_compiler_free(nullptr);
}
