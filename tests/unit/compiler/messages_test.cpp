// SPDX-License-Identifier: Apache-2.0
// Messages of compilers: what they are about and what to do.
#include <gmock/gmock.h>

#include "compiler/compile_messages.hpp"
#include "compiler/llvm_ir.hpp"
#include "fatlink/error.hpp"
#include "fixtures.hpp"
#include "util/text/format.hpp"

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
            "user_transform has a different type than in the contract: the contract "
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
  compile_subject const subject{.name = "half.cu",
                                .program_name = "half.cu",
                                .headers_error = "writing /c/CACHEDIR.TAG: Read-only file system"};
  compile_product const product{
      .code = "NVRTC_ERROR_COMPILATION",
      .log = "half.cu(1): catastrophic error: could not open source file \"cuda_fp16.h\" (none)"};
  EXPECT_EQ(source_refusal(product, subject).hint,
            "the CUDA headers that come with NVRTC could not be unpacked (writing "
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
  std::filesystem::create_symlink("/proc/self/status", folder.path() / "link.h");
  auto const hint_for = [&](std::string const& name, std::string const& file = "half.cu") {
    auto const line = file + "(1): catastrophic error: could not open source file \"";
    return source_refusal({.code = "NVRTC_ERROR_COMPILATION", .log = line + name + "\""}, subject)
        .hint;
  };
  EXPECT_EQ(hint_for("x.h"),
            "it is beside the source, but that folder is searched only for #include \"x.h\": use "
            "quotes, or add the folder with compile_options::include_folders " +
                folder.path().string());
  EXPECT_THAT(hint_for("../" + folder.path().filename().string() + "/x.h"),
              HasSubstr("add its folder with compile_options::include_folders"));
  EXPECT_THAT(hint_for("link.h"), Not(HasSubstr("write quotes")));
  EXPECT_THAT(hint_for("x.h", "/@1/other.h"), Not(HasSubstr("write quotes")));
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

namespace {

constexpr char const* k_load =
    "; a transform\ndefine float @f(ptr %x) {\n  %y = load float, ptr %x\n  ret float %y\n}\n";

error_details ir_refusal(compile_product const& product, ir_compile compile = {})
{
  compile_subject const subject{.name = "src/half.ll", .program_name = "half.ll"};
  if (compile.target == target()) compile.target = "sm_75";
  compile.producer = "libNVVM 13.0";
  try {
    refuse_ir_product(product, subject, compile);
  } catch (error const& failure) {
    return failure.details();
  }
}

compile_product invalid(std::string log)
{
  return {.code = "NVVM_ERROR_INVALID_IR", .log = std::move(log)};
}

}  // namespace

TEST(IrMessages, NameTheUsersFileLineAndColumnFromOne)
{
  auto const details = ir_refusal(invalid("half.ll (5, 12): parse use of undefined value '%z'"));
  EXPECT_EQ(details.message, "src/half.ll:5:13: error: use of undefined value '%z'");
  EXPECT_TRUE(details.code == error_code::compile_failed);
  EXPECT_EQ(details.input, "src/half.ll");
  EXPECT_EQ(details.log, "half.ll (5, 12): parse use of undefined value '%z'");
}

TEST(IrMessages, NameTheFileWhereTheLogHasNoLine)
{
  EXPECT_EQ(ir_refusal(invalid("half.ll: parse Malformed block")).message,
            "src/half.ll: error: Malformed block");
  EXPECT_EQ(ir_refusal(invalid("half.ll: error: Alias @a")).message,
            "src/half.ll: error: Alias @a");
  EXPECT_EQ(ir_refusal(invalid("something else\nmore")).message,
            "src/half.ll: error: something else");
  EXPECT_EQ(ir_refusal(invalid("error: Error: Empty target\n\n")).message,
            "src/half.ll: error: Empty target");
  EXPECT_EQ(ir_refusal(invalid("")).message, "src/half.ll: error: NVVM_ERROR_INVALID_IR");
}

TEST(IrMessages, TakeNoOtherTextForAPosition)
{
  for (std::string const position : {"(5", "(5,12", "(, 1)", "(5, )", "(x, 1)", "()"})
    EXPECT_THAT(ir_refusal(invalid("half.ll " + position + ": parse it")).message,
                Not(HasSubstr("half.ll:5")))
        << position;
}

TEST(IrMessages, ExplainAnOpaquePointerBelowSm100)
{
  auto const details =
      ir_refusal(invalid("half.ll (2, 16): parse expected type"), {.source = k_load});
  EXPECT_EQ(details.message, "src/half.ll:2:17: error: expected type");
  EXPECT_EQ(
      details.hint,
      "for sm_75, as for every target below sm_100, libNVVM reads the LLVM IR of LLVM 7: give "
      "the pointer a type (float*, not ptr), or compile for sm_100 and newer only, for which "
      "it reads current LLVM IR");
}

TEST(IrMessages, ExplainTheDialectForBitcodeOfAnotherLlvm)
{
  EXPECT_THAT(
      ir_refusal(invalid("half.ll: parse Invalid value (Producer: 'LLVM14.0.6' Reader: 'LLVM "
                         "7.0.1')"))
          .hint,
      HasSubstr("make the bitcode with that version"));
}

TEST(IrMessages, StateTheDialectOfTheTargetElsewhere)
{
  auto const product = invalid("half.ll (3, 7): parse expected instruction opcode");
  EXPECT_THAT(ir_refusal(product, {.target = "sm_90a", .source = k_load}).hint,
              HasSubstr("for sm_90a, as for every target below sm_100, libNVVM reads the LLVM IR "
                        "of LLVM 7, for sm_100 and newer current LLVM IR"));
  EXPECT_THAT(
      ir_refusal(product, {.target = "sm_100", .source = k_load}).hint,
      HasSubstr("for sm_100 libNVVM reads current LLVM IR, for targets below sm_100 that of "
                "LLVM 7"));
}

TEST(IrMessages, SayHowToStateTheVersion)
{
  for (auto const* log :
       {"IR version 1.0 incompatible with current version 2.0\nhalf.ll: error: incompatible IR "
        "detected. Possible mix of compiler/IR from different releases.",
        "half.ll: error: IR version 1.0 incompatible with current version 2.0\n\nConsider "
        "inserting/updating nvvmir.version module metadata."}) {
    auto const details = ir_refusal({.code = "NVVM_ERROR_IR_VERSION_MISMATCH", .log = log});
    EXPECT_EQ(details.message,
              "src/half.ll: error: IR version 1.0 incompatible with current version 2.0");
    EXPECT_THAT(details.hint, HasSubstr("!nvvmir.version = !{!0} and !0 = !{i32 2, i32 0}"));
  }
}

TEST(IrMessages, SayHowToStateTheTriple)
{
  EXPECT_THAT(
      ir_refusal(invalid("half.ll: error: Module does not contain a triple, should be 'nvptx64-'"))
          .hint,
      HasSubstr("target triple = \"nvptx64-nvidia-cuda\""));
}

TEST(IrMessages, SayHowToStateTheTripleInsteadOfAnotherOne)
{
  auto const details =
      ir_refusal(invalid("error: Error: Invalid target triple (x86_64-pc-linux-gnu), must be one "
                         "of:\nError: 32-bit: nvptx-*-cuda\n"));
  EXPECT_EQ(details.message, "src/half.ll: error: Invalid target triple (x86_64-pc-linux-gnu)");
  EXPECT_THAT(details.hint, HasSubstr("target triple = \"nvptx64-nvidia-cuda\""));
}

TEST(IrMessages, SayHowToWriteAConstant)
{
  EXPECT_THAT(
      ir_refusal(invalid("half.ll (4, 22): parse floating point constant invalid for type")).hint,
      HasSubstr("0x3FB99999A0000000 is 0.1F"));
}

TEST(IrMessages, SayHowToDeclareAFunction)
{
  EXPECT_THAT(
      ir_refusal(invalid("half.ll (4, 18): parse use of undefined value '@__nv_sinf'")).hint,
      HasSubstr("declare it with its types, such as: declare float @__nv_sinf(float)"));
}

TEST(IrMessages, OfAnUnknownArchitectureSayWhatToInstall)
{
  compile_product const product{
      .code = "NVVM_ERROR_INVALID_OPTION",
      .log = "libnvvm : error: -arch=compute_121 is an unsupported option"};
  EXPECT_THROW(refuse_ir_product(product, {}, {.target = "sm_121"}), unavailable_error);
  auto const details = ir_refusal(product, {.target = "sm_121"});
  EXPECT_EQ(details.message, "src/half.ll: libNVVM 13.0 does not know the architecture sm_121");
  EXPECT_THAT(details.hint, HasSubstr("install a newer libNVVM"));
}

TEST(IrMessages, NameTheIntrinsicThatLibnvvmLacks)
{
  auto const lacks = [](std::string const& name) {
    return ir_refusal(
        invalid("error: Error: :  Function `f' Basic Block `': \n  context:   %h = call "
                "float @" +
                name + "(float %x)\n  Unsupported intrinsic: " + name));
  };
  EXPECT_EQ(lacks("llvm.sin.f32").message,
            "src/half.ll: error: Unsupported intrinsic: llvm.sin.f32");
  EXPECT_EQ(lacks("llvm.sin.f32").hint, "call @__nv_sinf of libdevice instead; libNVVM adds it");
  EXPECT_EQ(lacks("llvm.pow.f64").hint, "call @__nv_pow of libdevice instead; libNVVM adds it");
  EXPECT_EQ(lacks("llvm.other").hint,
            "call functions of libdevice (__nv_...) instead; libNVVM adds them");
}

TEST(IrMessages, DoNotBlameTheDialectForAnErrorInAStatement)
{
  auto const details =
      ir_refusal(invalid("error: Error: :  Function `f': \n  context:   ret\n  odd"));
  EXPECT_EQ(details.message, "src/half.ll: error: odd");
  EXPECT_EQ(details.hint, "correct the statement that libNVVM's log shows");
}

namespace {

constexpr std::uint64_t k_mib = 1024;  // in KiB
compiler_settings const k_settings{.time_limit = std::chrono::milliseconds(1500),
                                   .memory_limit_mib = 256};

error_details death_of(helper_death const& death)
{
  try {
    refuse_death(death, "src/half.cu", k_settings);
  } catch (compile_error const& failure) {
    EXPECT_EQ(failure.where(), stage::compiler);
    return failure.details();
  }
}

}  // namespace

TEST(RefuseDeath, AtTheTimeLimitIsATimeout)
{
  auto const details = death_of({.reason = "ETIMEDOUT", .peak_kib = 2048 * k_mib});
  EXPECT_TRUE(details.code == error_code::compile_timeout);
  EXPECT_EQ(details.message,
            "src/half.cu: the compile took longer than its time limit of 1.5 s; the compiler's "
            "process was stopped");
  EXPECT_THAT(details.hint, HasSubstr("compiler_settings::time_limit"));
  EXPECT_EQ(details.input, "src/half.cu");
}

TEST(RefuseDeath, NearTheMemoryLimitIsALackOfMemory)
{
  for (auto const* reason : {"SIGSEGV", "SIGABRT", "SIGKILL"}) {
    auto const details = death_of({.reason = reason, .peak_kib = 300 * k_mib});
    EXPECT_TRUE(details.code == error_code::compile_memory) << reason;
    EXPECT_EQ(details.message,
              "src/half.cu: the compile needed more than its memory limit of 256 MiB");
    EXPECT_THAT(details.hint, HasSubstr("compiler_settings::memory_limit_mib"));
  }
}

TEST(RefuseDeath, OtherwiseHasTheSignalAndWhatIsLikely)
{
  auto const expect = [](char const* reason, char const* verb, char const* hint) {
    for (std::uint64_t const peak_mib : {0, 66, 200}) {
      auto const details = death_of({.reason = reason, .peak_kib = peak_mib * k_mib});
      EXPECT_EQ(details.code.text(), reason);
      EXPECT_EQ(details.message,
                detail::format("src/half.cu: the compiler{} compiling it ({})", verb, reason));
      EXPECT_THAT(details.hint, HasSubstr(hint));
      EXPECT_THAT(details.hint, HasSubstr("the next compile is not affected"));
    }
  };
  expect("SIGSEGV", " crashed", "templates overflow the compiler's stack");
  expect("SIGABRT", " crashed", "raise compiler_settings::memory_limit_mib");
  expect("SIGKILL", "'s process died", "simplify the source");
}

TEST(RefuseDeath, ShowsWhatWasInvalidInAReply)
{
  EXPECT_THAT(death_of({.reason = "EPROTO", .cause = "a reply to another request"}).message,
              HasSubstr("died compiling it (a reply to another request)"));
}

TEST(OutOfMemory, IsACodeOrALineOfTheLog)
{
  for (auto const* code : {"NVRTC_ERROR_OUT_OF_MEMORY", "NVVM_ERROR_OUT_OF_MEMORY"})
    EXPECT_TRUE(is_out_of_memory({.code = code})) << code;
  for (auto const* log : {"bomb.cu(41): catastrophic error: out of memory\n",
                          "LLVM ERROR: out of memory", "ptxas fatal   : Memory allocation failure"})
    EXPECT_TRUE(is_out_of_memory({.code = "NVRTC_ERROR_COMPILATION", .log = log})) << log;
  EXPECT_FALSE(is_out_of_memory(
      {.code = "NVRTC_ERROR_COMPILATION", .log = "half.cu(1): error: no memory of x"}));
}
