// SPDX-License-Identifier: Apache-2.0
// Findings of preflight for sets of inputs.
#include <gmock/gmock.h>

#include <algorithm>
#include <span>
#include <string>

#include "fatlink/input.hpp"
#include "fatlink/preflight.hpp"
#include "fixtures.hpp"
#include "form_inputs.hpp"

using namespace fatlink;
using fixtures::finding_ids;

namespace {

std::vector<finding> judge_fixtures(std::initializer_list<char const*> names,
                                    preflight_request const& request)
{
  std::vector<fatbin> inputs;
  for (auto const* name : names) inputs.push_back(fixtures::verified(name));
  return preflight(inputs, request);
}

}  // namespace

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Preflight, HasNothingToSayOfAContractedPair)
{
  for (auto const mode : {link_mode::ptx, link_mode::lto})
    EXPECT_THAT(judge_fixtures({"library.fatbin", "transform.fatbin"},
                               {.target = "sm_90", .mode = mode, .kernels = {"apply_transform"}}),
                IsEmpty());
}

TEST(Preflight, ReportsEachInputWithoutDigests)
{
  std::array const inputs{fixtures::verified("library.fatbin"),
                          fixtures::fatbin("transform.fatbin")};
  auto const findings = preflight(inputs, {.target = "sm_90", .mode = link_mode::lto});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].id, finding_id::unverified_bytes);
  EXPECT_EQ(findings[0].severity, severity::warning);
  EXPECT_EQ(findings[0].files, std::vector<std::string>{"transform.fatbin"});
  EXPECT_THAT(findings[0].hint, testing::HasSubstr("fatlink pack -o FILE.fatbin transform.fatbin"));
}

TEST(Preflight, WarnsOfWhatStatesNoContract)
{
  auto const findings = judge_fixtures({"library.fatbin", "uncontracted.fatbin"},
                                       {.target = "sm_90", .mode = link_mode::lto, .kernels = {}});
  ASSERT_THAT(finding_ids(findings), ElementsAre("uncontracted"));
  EXPECT_EQ(findings[0].severity, severity::warning);
  EXPECT_THAT(findings[0].message, HasSubstr("uncontracted.fatbin states no contract"));
}

TEST(Preflight, ExplainsOnceWhatIsNotCheckedWithoutAContract)
{
  auto const findings = judge_fixtures({"uncontracted.fatbin", "library.fatbin", "fast.fatbin"},
                                       {.target = "sm_90", .mode = link_mode::ptx, .kernels = {}});
  auto const is_uncontracted = [](finding const& one) {
    return one.id == finding_id::uncontracted;
  };
  ASSERT_EQ(std::count_if(findings.begin(), findings.end(), is_uncontracted), 1);
  auto const& warning = *std::find_if(findings.begin(), findings.end(), is_uncontracted);
  EXPECT_EQ(warning.files, (std::vector<std::string>{"uncontracted.fatbin", "fast.fatbin"}));
  EXPECT_EQ(
      warning.message,
      "uncontracted.fatbin, fast.fatbin state no contract; only the number and sizes of their "
      "parameters are compared: an int that is passed as a float may remain undetected");
  EXPECT_EQ(warning.hint,
            "build them with fatlink_add_fatbin(… CONTRACT …), or with fatlink::compiler "
            "and compile_options::contract");
}

TEST(Preflight, FindsAHookThatNobodyDefines)
{
  auto const findings = judge_fixtures({"library.fatbin"},
                                       {.target = "sm_90", .mode = link_mode::lto, .kernels = {}});
  ASSERT_THAT(finding_ids(findings), ElementsAre("missing-hook"));
  EXPECT_EQ(findings[0].symbol, "user_transform");
}

TEST(Preflight, FindsADefinitionGivenTwiceAndNamesBothFiles)
{
  auto const findings = judge_fixtures({"library.fatbin", "transform.fatbin", "raw.fatbin"},
                                       {.target = "sm_90", .mode = link_mode::ptx, .kernels = {}});
  ASSERT_THAT(finding_ids(findings), Contains("duplicate-symbol"));
  EXPECT_THAT(findings[0].files, ElementsAre("transform.fatbin", "raw.fatbin"));
}

TEST(Preflight, FindsArchitecturesThatDoNotLink)
{
  EXPECT_THAT(
      finding_ids(judge_fixtures({"library.fatbin", "specific.fatbin"},
                                 {.target = "sm_90", .mode = link_mode::lto, .kernels = {}})),
      Contains("arch-specific"));
  EXPECT_THAT(
      judge_fixtures({"library.fatbin", "transform.fatbin"}, {"sm_90a", link_mode::lto, {}}),
      IsEmpty());
}

TEST(Preflight, TakesFloatFlagsThatDifferWhereTheLinkStatesASet)
{
  EXPECT_THAT(finding_ids(judge_fixtures(
                  {"library.fatbin", "fast.fatbin"},
                  {.target = "sm_90", .mode = link_mode::lto, .states_float_flags = true})),
              Not(Contains("float-contract")));
}

TEST(Preflight, RefusesAnLtoLinkOfCallsAlone)
{
  auto const judged = [](std::initializer_list<char const*> names, char const* architecture) {
    for (auto const& found : judge_fixtures(
             names, {.target = architecture, .mode = link_mode::lto, .allow_calls = true}))
      if (found.id == finding_id::no_ltoir) return found.message + "; " + found.hint;
    return std::string();
  };
  std::string const message =
      "library_sass.fatbin, two_types_sass.fatbin: no LTO-IR to link; an lto link needs an input "
      "with LTO-IR, even if calls are allowed; ";
  EXPECT_EQ(judged({"library_sass.fatbin", "two_types_sass.fatbin"}, "sm_80"),
            message + "link in ptx mode (link_mode::ptx)");
  EXPECT_EQ(judged({"library_sass.fatbin", "two_types_sass.fatbin"}, "sm_90"),
            message + "link in sass mode (link_mode::sass) without link_options::allow_calls");
  EXPECT_EQ(judged({"library.fatbin", "two_types_sass.fatbin"}, "sm_90"), "");
}

TEST(Preflight, OffersOnlyModesThatLinkAllInputs)
{
  auto const hint = [](char const* architecture) {
    for (auto const& found : judge_fixtures({"library.fatbin", "two_types_sass.fatbin"},
                                            {.target = architecture, .mode = link_mode::lto}))
      if (found.id == finding_id::no_ltoir) return found.hint;
    return std::string();
  };
  EXPECT_EQ(hint("sm_80"),
            "link in ptx mode (link_mode::ptx), set link_options::allow_calls where a cubin is "
            "linked, or compile it with nvcc -dlto -fatbin -arch=sm_75 or fatlink compile");
  EXPECT_EQ(hint("sm_90"), hint("sm_80"));  // the library has no SASS
}

TEST(Preflight, FindsFloatFlagsThatDifferInLtoModeOnly)
{
  EXPECT_THAT(
      finding_ids(judge_fixtures({"library.fatbin", "fast.fatbin"},
                                 {.target = "sm_90", .mode = link_mode::lto, .kernels = {}})),
      Contains("float-contract"));
  EXPECT_THAT(
      finding_ids(judge_fixtures({"library.fatbin", "fast.fatbin"},
                                 {.target = "sm_90", .mode = link_mode::ptx, .kernels = {}})),
      Not(Contains("float-contract")));
}

TEST(Preflight, FindsAKernelThatIsInNoInput)
{
  auto const findings =
      judge_fixtures({"library.fatbin", "transform.fatbin"},
                     {.target = "sm_90", .mode = link_mode::lto, .kernels = {"nope"}});
  ASSERT_THAT(finding_ids(findings), ElementsAre("unknown-kernel"));
  EXPECT_THAT(findings[0].hint, HasSubstr("apply_transform"));
}

TEST(Preflight, PutsErrorsFirstAndTheFirstIntoTheRefusal)
{
  auto const findings =
      judge_fixtures({"library.fatbin", "uncontracted.fatbin"},
                     {.target = "sm_90", .mode = link_mode::lto, .kernels = {"nope"}});
  ASSERT_THAT(finding_ids(findings), ElementsAre("unknown-kernel", "uncontracted"));
  refused_error const refused("sm_90", findings);
  EXPECT_THAT(refused.what(), HasSubstr("cannot link for sm_90: no input defines kernel nope"));
  EXPECT_THAT(refused.what(), HasSubstr("[unknown-kernel]"));
}

TEST(Preflight, SuggestsTheKernelThatAMisspeltOneResembles)
{
  auto const findings = judge_fixtures({"library.fatbin", "transform.fatbin"},
                                       {.target = "sm_90",
                                        .mode = link_mode::ptx,
                                        .kernels = {"apply_transform", "aply_transform"}});
  ASSERT_THAT(finding_ids(findings), ElementsAre("unknown-kernel"));
  EXPECT_EQ(findings[0].symbol, "aply_transform");
  EXPECT_THAT(findings[0].hint, HasSubstr("did you mean apply_transform? the kernels are: "));
}

TEST(Preflight, FindsAVariableToKeepThatNoInputDefines)
{
  preflight_request request{.target = "sm_90", .mode = link_mode::lto};
  request.variables = {"nothing"};
  auto const findings = judge_fixtures({"library.fatbin", "transform.fatbin"}, request);
  ASSERT_THAT(finding_ids(findings), ElementsAre("unknown-variable"));
  EXPECT_THAT(findings[0].message, HasSubstr("variable nothing is defined by no input"));
  EXPECT_THAT(findings[0].hint, HasSubstr("neither static nor extern"));
}

TEST(Preflight, NamesTheInputThatDefinesAMissingHookForItselfOnly)
{
  auto const text = std::string(
      ".version 9.0\n.target sm_75\n.address_size 64\n.func (.param .b32 r) "
      "user_transform(.param .b32 x) { ret; }\n");
  auto const* const begin = reinterpret_cast<std::byte const*>(text.data());
  std::vector<input> const inputs{fixtures::verified("library.fatbin"),
                                  input::from_bytes({begin, begin + text.size()}, "invisible.ptx")};
  auto const findings = preflight(inputs, {.target = "sm_90", .mode = link_mode::ptx});
  EXPECT_EQ(findings.front().id, finding_id::missing_hook);
  EXPECT_THAT(findings.front().hint,
              HasSubstr("invisible.ptx defines user_transform only for itself"));
  EXPECT_THAT(finding_ids(findings), Not(Contains("removed-functions")));
}

namespace {

/// `count` modules, of which each defines a function of its own and one that all share.
std::vector<fatbin> many_modules(std::size_t count)
{
  std::vector<fatbin> modules;
  for (std::size_t i = 0; i < count; ++i) {
    auto const text = ".version 8.0\n.target sm_75\n.address_size 64\n.visible .func f" +
                      std::to_string(i) + " () { ret; }\n.weak .func shared () { ret; }\n" +
                      (i == 0 ? ".visible .entry k () { ret; }\n" : "");
    auto const bytes = std::as_bytes(std::span(text));
    auto const name = "m" + std::to_string(i);
    modules.push_back(input::from_bytes({bytes.begin(), bytes.end()}, name).modules().front());
  }
  return modules;
}

std::size_t count_of(finding_id id, std::vector<finding> const& findings)
{
  return static_cast<std::size_t>(std::count_if(
      findings.begin(), findings.end(), [&](finding const& entry) { return entry.id == id; }));
}

}  // namespace

TEST(Preflight, ListsAThousandUnusedInputsAndCountsTheRest)
{
  auto const findings = preflight(many_modules(1100), {.target = "sm_90", .mode = link_mode::ptx});
  EXPECT_EQ(count_of(finding_id::unused_input, findings), 1001U);
  auto const rest = std::find_if(findings.rbegin(), findings.rend(), [](finding const& entry) {
    return entry.id == finding_id::unused_input;
  });
  EXPECT_EQ(rest->message, "m1001: 99 more findings of this kind; the first 1000 are listed");
}

TEST(Preflight, ListsAThousandUnknownKernelsAndCountsTheRest)
{
  preflight_request request{.target = "sm_90", .mode = link_mode::ptx};
  for (int i = 0; i < 1100; ++i) request.kernels.push_back("kernel_" + std::to_string(i));
  auto const findings = preflight(many_modules(2), request);
  EXPECT_EQ(count_of(finding_id::unknown_kernel, findings), 1001U);
}

namespace {

/// A module for sm_75 by the compiler `compiler`, whose weak function f adds `summand`.
fatbin weak_module(std::string const& name, std::string const& compiler, std::string const& summand)
{
  auto const text = "// Compiler Build ID: " + compiler +
                    "\n.version 9.0\n.target sm_75\n.address_size 64\n"
                    ".weak .func f(.param .b64 f_param_0)\n{\nadd.f32 %f1, %f1, " +
                    summand + ";\nret;\n}\n.visible .func user_of_" + name + "() { ret; }\n";
  return input::from_bytes(fixtures::to_bytes(text), name).modules().front();
}

std::vector<finding> weak_mismatches(fatbin const& first, fatbin const& second)
{
  std::array const inputs{first, second};
  auto findings = preflight(inputs, {.target = "sm_90", .mode = link_mode::ptx});
  std::erase_if(findings, [](finding const& one) { return one.id != finding_id::weak_mismatch; });
  return findings;
}

}  // namespace

TEST(Preflight, RefusesWeakCodeOfOneCompilerThatDiffers)
{
  auto const findings = weak_mismatches(weak_module("a", "CL-1", "0f40000000"),
                                        weak_module("b", "CL-1", "0f40400000"));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].severity, severity::error);
  EXPECT_EQ(findings[0].files, (std::vector<std::string>{"a", "b"}));
  EXPECT_THAT(findings[0].message, HasSubstr("a and b define f with different code"));
}

TEST(Preflight, AcceptsWeakCodeThatIsEqual)
{
  EXPECT_THAT(weak_mismatches(weak_module("a", "CL-1", "0f40000000"),
                              weak_module("b", "CL-2", "0f40000000")),
              IsEmpty());
}

TEST(Preflight, WarnsOfWeakCodeOfOtherCompilersThatDiffers)
{
  auto const findings = weak_mismatches(weak_module("a", "CL-1", "0f40000000"),
                                        weak_module("b", "CL-2", "0f40400000"));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].severity, severity::warning);
  EXPECT_THAT(findings[0].message, HasSubstr("compiled by different compilers"));
}

namespace {

/// The missing-hook findings of a kernel that calls `name`.
std::vector<finding> missing_hooks(std::string const& name)
{
  std::vector const inputs{fixtures::ptx_module(
      "k.ptx", ".extern .func " + name + "();\n.visible .entry k() { call " + name + "; ret; }\n")};
  auto findings = preflight(inputs, {.target = "sm_90", .mode = link_mode::ptx});
  std::erase_if(findings, [](finding const& one) { return one.id != finding_id::missing_hook; });
  return findings;
}

}  // namespace

TEST(Preflight, KnowsWhatTheDriverProvides)
{
  for (auto const* name : {"vprintf", "malloc", "free", "__assertfail", "cnpGetLastError",
                           "__cuda_syscall_cnpv2LaunchDevice", "__cuda_syscall_CGS_sync"})
    EXPECT_THAT(missing_hooks(name), IsEmpty()) << name;
  for (auto const* name : {"cnp", "cnpoint", "__cuda_sys", "__assert_fail"})
    EXPECT_EQ(missing_hooks(name).size(), 1U) << name;
}

TEST(Preflight, NamesTheArchiveOfTheDeviceRuntime)
{
  for (auto const* name : {"cudaGetLastError", "__cudaCDP2LaunchDeviceV2"})
    EXPECT_EQ(
        missing_hooks(name).at(0).hint,
        "the CUDA Toolkit's device runtime defines it: also pass its libcudadevrt.a, and link "
        "in sass mode (link_mode::sass), or in lto mode (link_mode::lto) and set "
        "link_options::allow_calls")
        << name;
  EXPECT_EQ(missing_hooks("__assert_fail").at(0).hint,
            "call __assertfail, which the driver provides");
}
