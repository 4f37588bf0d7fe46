// SPDX-License-Identifier: Apache-2.0
#include "compiler/compile_messages.hpp"

#include <gmock/gmock.h>

#include "fatlink/error.hpp"
#include "fixtures.hpp"

using namespace fatlink;
using namespace fatlink::detail;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace {

constexpr char const* k_log =
    "half.cu(1): warning #177-D: variable \"y\" was declared but never referenced\n"
    "half.cu(3): error: cannot overload functions distinguished by return type alone\n"
    "  extern \"C\" __device__ double user_transform(float x)\n\n1 error detected.\n";

installed_contract apply_transform_contract()
{
  return {.name = "apply_transform",
          .version = 1,
          .header_name = "apply_transform.cuh",
          .header_text =
              "// user_transform( is the hook\n"
              "extern \"C\" __device__ float user_transform(float x);\n",
          .hooks = {"user_transform"}};
}

error_details source_refusal(compile_product const& product, compile_subject const& subject,
                             std::string const& refusal_text = {})
{
  try {
    refuse_product(product, subject, refusal_text, "NVRTC 13.0");
  } catch (error const& failure) {
    return failure.details();
  }
}

}  // namespace

TEST(CompileMessages, NameTheUsersFileAndLine)
{
  auto const stated = apply_transform_contract();
  compile_subject const subject{
      .name = "src/half.cu", .program_name = "half.cu", .contract = &stated};
  auto const details = source_refusal({.code = "NVRTC_ERROR_COMPILATION", .log = k_log}, subject);
  EXPECT_EQ(details.message,
            "src/half.cu:3: error: cannot overload functions distinguished by return type alone");
  EXPECT_TRUE(details.code == error_code::compile_failed);
  EXPECT_EQ(details.log, k_log);
  EXPECT_EQ(details.hint,
            "user_transform has another type here than in the contract: the contract "
            "apply_transform/1 declares: "
            "extern \"C\" __device__ float user_transform(float x);");
}

TEST(CompileMessages, NameTheContractAsTheRemedyOfAnUndefinedName)
{
  compile_product const product{.code = "NVRTC_ERROR_COMPILATION",
                                .log = "half.cu(3): error: identifier \"sample\" is undefined\n"};
  compile_subject subject{.name = "half.cu", .program_name = "half.cu"};
  EXPECT_EQ(source_refusal(product, subject).hint,
            "correct the source; or, if a contract declares it, state the contract "
            "(compile_options::contract)");
  subject.has_header = true;
  EXPECT_EQ(source_refusal(product, subject).hint, "correct the source; the log has all messages");
  auto const stated = apply_transform_contract();
  subject = {.name = "half.cu", .program_name = "half.cu", .contract = &stated};
  EXPECT_EQ(source_refusal(product, subject).hint,
            "correct the source, which is compiled for the contract apply_transform/1; the log has "
            "all messages");
}

TEST(CompileMessages, ListTheWarnings)
{
  compile_subject const subject{.name = "src/half.cu", .program_name = "half.cu"};
  auto const warnings = compile_warnings({{.log = k_log}, {.log = k_log}});
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_THAT(with_user_name(warnings.front(), subject),
              HasSubstr("src/half.cu:1: warning #177-D: variable \"y\""));
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("half.cu(1): warning #177-D: variable \"y\"")));
}

TEST(CompileMessages, StateWhyHeadersThatNvrtcBringsAreMissing)
{
  compile_subject const subject{
      .name = "half.cu",
      .program_name = "half.cu",
      .headers_problem = "writing /c/CACHEDIR.TAG: Read-only file system"};
  compile_product const product{
      .code = "NVRTC_ERROR_COMPILATION",
      .log = "half.cu(1): catastrophic error: could not open source file \"cuda_fp16.h\" (none)"};
  EXPECT_EQ(source_refusal(product, subject).hint,
            "the headers of CUDA, which NVRTC brings, could not be unpacked (writing "
            "/c/CACHEDIR.TAG: Read-only file system): correct this, use another folder "
            "(FATLINK_CACHE_DIR, cache_settings::folder), or add the header's folder with "
            "compile_options::include_folders; no folders were searched");
}

TEST(CompileMessages, NameAMissingHeaderAndTheFolders)
{
  compile_subject const subject{
      .name = "half.cu", .program_name = "half.cu", .folders = {"/a", "/b"}};
  compile_product const product{
      .code = "NVRTC_ERROR_COMPILATION",
      .log = "half.cu(1): catastrophic error: could not open source file \"x.h\" (no directories)"};
  auto const details = source_refusal(product, subject);
  EXPECT_EQ(details.message, "half.cu:1: the header x.h is in none of the folders");
  EXPECT_TRUE(details.code == error_code::header_not_found);
  EXPECT_THAT(details.hint, HasSubstr("searched: /a, /b"));
}

TEST(CompileMessages, OfARefusedHeaderShowNothingOfIt)
{
  compile_subject const subject{.name = "half.cu", .program_name = "half.cu"};
  compile_product const product{
      .code = "NVRTC_ERROR_COMPILATION",
      .log = "half.cu(1): catastrophic error: could not open source file \"/etc/passwd\""};
  auto const details = source_refusal(product, subject, "is outside of the folders");
  EXPECT_EQ(details.message, "half.cu:1: the header /etc/passwd is outside of the folders");
  EXPECT_EQ(details.log, "");
}

TEST(CompileMessages, OfARefusedHeaderSayWhatIsRead)
{
  compile_subject const subject{
      .name = "half.cu", .program_name = "half.cu", .folders = {"/include"}};
  for (auto const* name : {"zero", "math.h", "pipe.h"})
    EXPECT_EQ(
        source_refusal(
            {.code = "NVRTC_ERROR_COMPILATION",
             .log = std::string("half.cu(1): catastrophic error: could not open source file \"") +
                    name + "\""},
            subject, "is not a regular file")
            .hint,
        "include a regular file in a folder of compile_options::include_folders; "
        "searched: /include");
}

TEST(CompileMessages, NameTheSourceBesideAHeader)
{
  compile_subject const subject{.name = "src/half.cu", .program_name = "half.cu"};
  EXPECT_EQ(source_refusal({.code = "NVRTC_ERROR_COMPILATION",
                            .log = "include/bad.h(3): error: expected an identifier"},
                           subject)
                .message,
            "src/half.cu: include/bad.h(3): error: expected an identifier");
}

TEST(CompileMessages, NameTheFileOfAHeader)
{
  compile_subject const subject{.name = "src/half.cu",
                                .program_name = "half.cu",
                                .header_files = {{"bad.h", "inc/bad.h"}, {"/@1/b.h", "/x/b.h"}}};
  auto const message_of = [&](char const* log) {
    return source_refusal({.code = "NVRTC_ERROR_COMPILATION", .log = log}, subject).message;
  };
  EXPECT_EQ(message_of("bad.h(3): error: expected an identifier"),
            "inc/bad.h:3: error: expected an identifier (compiling src/half.cu)");
  EXPECT_EQ(message_of("/@1/b.h(3): error: x"), "/x/b.h:3: error: x (compiling src/half.cu)");
  EXPECT_EQ(message_of("/@1/b.h(2): catastrophic error: could not open source file \"c.h\""),
            "/x/b.h:2: the header c.h is in none of the folders");
  EXPECT_EQ(with_user_name("bad.h(4): warning: y", subject), "inc/bad.h:4: warning: y");
}

TEST(CompileMessages, FindTheHeaderBesideTheSource)
{
  fixtures::folder const folder;
  compile_subject const subject{.name = folder.write("half.cu", "").string(),
                                .program_name = "half.cu"};
  (void)folder.write("x.h", "");
  std::string const line = "half.cu(1): catastrophic error: could not open source file \"";
  auto const hint_for = [&](std::string const& name) {
    return source_refusal({.code = "NVRTC_ERROR_COMPILATION", .log = line + name + "\""}, subject)
        .hint;
  };
  EXPECT_EQ(hint_for("x.h"),
            "it is beside the source, whose folder is not searched: add it with "
            "compile_options::include_folders " +
                folder.path().string());
  EXPECT_THAT(hint_for("../" + folder.path().filename().string() + "/x.h"),
              HasSubstr("add its folder with compile_options::include_folders"));
}

TEST(CompileMessages, CutLongLinesBeforeACharacter)
{
  compile_subject const subject{.name = "half.cu", .program_name = "half.cu"};
  std::string line = "half.cu(1): error: ";
  for (int i = 0; i < 1000; ++i) line += "ä";
  auto const details = source_refusal({.code = "NVRTC_ERROR_COMPILATION", .log = line}, subject);
  EXPECT_LE(details.message.size(), 503);
  EXPECT_TRUE(details.message.ends_with("ä…")) << details.message;
  EXPECT_EQ(details.log, line);
}

TEST(CompileMessages, SayThatThereIsNoStandardLibrary)
{
  compile_subject const subject{.name = "half.cu", .program_name = "half.cu"};
  for (auto const* name : {"cstdint", "math.h"})
    EXPECT_THAT(
        source_refusal(
            {.code = "NVRTC_ERROR_COMPILATION",
             .log = std::string("half.cu(1): catastrophic error: could not open source file \"") +
                    name + "\""},
            subject)
            .hint,
        HasSubstr("NVRTC has no C++ standard library"));
}

TEST(CompileMessages, AskToRemoveALineOfTheSourceOnly)
{
  compile_subject const subject{
      .name = "half.cu", .program_name = "half.cu", .header_files = {{"a.h", "cuda/include/a.h"}}};
  auto const hint_of = [&](std::string const& place) {
    return source_refusal(
               {.code = "NVRTC_ERROR_COMPILATION",
                .log = place + ": catastrophic error: could not open source file \"vector\""},
               subject)
        .hint;
  };
  EXPECT_THAT(hint_of("half.cu(1)"), HasSubstr("remove the line"));
  EXPECT_THAT(hint_of("a.h(27)"), testing::AllOf(HasSubstr("leave out the header that includes it"),
                                                 Not(HasSubstr("remove the line"))));
}

TEST(CompileMessages, OfAnUnknownArchitectureSayWhatToInstall)
{
  compile_subject const subject{.name = "half.cu", .program_name = "half.cu"};
  try {
    refuse_product({.code = "NVRTC_ERROR_INVALID_OPTION",
                    .log = "nvrtc: error: invalid value for --gpu-architecture (-arch)"},
                   subject, {}, "NVRTC 13.0");
  } catch (unavailable_error const& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("half.cu: NVRTC 13.0 does not know an architecture"));
    EXPECT_THAT(failure.details().hint, HasSubstr("install a newer NVRTC"));
    return;
  }
  ADD_FAILURE();
}
