// SPDX-License-Identifier: Apache-2.0
// Errors and findings of the C interface; exceptions that become errors.
#include <new>
#include <stdexcept>

#include "c_interface/guard.hpp"
#include "c_interface_fixture.hpp"
#include "fatlink/error.hpp"
#include "fatlink/finding.hpp"

using namespace fatlink;
using fixtures::c_error;

namespace {

template <typename Exception>
c_error error_of(Exception const& cause)
{
  return c_error(c::guarded([&] { throw cause; }));
}

error_details const k_details{
    .message = "m", .input = "i", .code = error_code::invalid_argument, .log = "l", .hint = "h"};

template <typename Exception>
void expect_kind(Exception const& cause, fatlink_error_kind kind, std::int32_t status)
{
  auto const error = error_of(cause);
  EXPECT_EQ(fatlink_error_get_kind(error.get()), kind);
  EXPECT_EQ(fatlink_error_exit_status(error.get()), status);
}

}  // namespace

TEST(CError, HasEveryFieldOfTheException)
{
  auto const error = error_of(device_error(stage::device, k_details));
  EXPECT_STREQ(fatlink_error_stage(error.get()), "device");
  EXPECT_STREQ(fatlink_error_code(error.get()), "invalid-argument");
  EXPECT_STREQ(fatlink_error_message(error.get()), "m");
  EXPECT_STREQ(fatlink_error_input(error.get()), "i");
  EXPECT_STREQ(fatlink_error_hint(error.get()), "h");
  EXPECT_STREQ(fatlink_error_log(error.get()), "l");
  EXPECT_EQ(fatlink_error_findings(error.get()), nullptr);
}

TEST(CError, IsOneLineThatATerminalMayShow)
{
  auto const text = std::string("a\nb\tc\x1b[2Jd\xff");
  auto const error = error_of(usage_error(
      {.message = text, .input = text, .code = error_code::defect, .log = text, .hint = text}));
  EXPECT_STREQ(fatlink_error_message(error.get()), "a b c\\x1b[2Jd\\xff");
  EXPECT_STREQ(fatlink_error_hint(error.get()), "a b c\\x1b[2Jd\\xff");
  EXPECT_STREQ(fatlink_error_input(error.get()), text.c_str());
  EXPECT_STREQ(fatlink_error_log(error.get()), "a\nb\tc\\x1b[2Jd\\xff");

  auto const refusal = error_of(refused_error({{.message = text, .hint = text}}));
  fatlink_finding finding = {};
  finding.size = sizeof finding;
  ASSERT_EQ(fatlink_findings_get(fatlink_error_findings(refusal.get()), 0, &finding), nullptr);
  EXPECT_STREQ(finding.message, "a b c\\x1b[2Jd\\xff");
  EXPECT_STREQ(finding.hint, "a b c\\x1b[2Jd\\xff");
}

TEST(CError, HasTheKindAndStatusOfTheClass)
{
  expect_kind(cancelled_error(stage::device, k_details), FATLINK_ERROR_CANCELLED, 130);
  expect_kind(usage_error(k_details), FATLINK_ERROR_USAGE, 2);
  expect_kind(file_error(stage::input, k_details), FATLINK_ERROR_FILE, 3);
  expect_kind(format_error(0, k_details), FATLINK_ERROR_FILE, 3);
  expect_kind(refused_error(std::vector<finding>{{.message = "m"}}), FATLINK_ERROR_REFUSED, 4);
  expect_kind(link_error(stage::linker, k_details), FATLINK_ERROR_LINK, 4);
  expect_kind(compile_error(stage::compiler, k_details), FATLINK_ERROR_COMPILE, 4);
  expect_kind(device_error(stage::device, k_details), FATLINK_ERROR_DEVICE, 5);
  expect_kind(unavailable_error(stage::linker, k_details), FATLINK_ERROR_UNAVAILABLE, 5);
  expect_kind(std::bad_alloc(), FATLINK_ERROR_MEMORY, 5);
  expect_kind(std::length_error("x"), FATLINK_ERROR_USAGE, 2);
  expect_kind(error(stage::report, k_details), FATLINK_ERROR_DEFECT, 70);
  expect_kind(std::logic_error("x"), FATLINK_ERROR_DEFECT, 70);
  expect_kind(7, FATLINK_ERROR_DEFECT, 70);
}

TEST(CError, OfMissingMemoryHasAKindOfItsOwn)
{
  error_details const of_host{.message = "m", .code = error_code::out_of_memory};
  error_details const of_gpu{.message = "m", .code = vendor_code("CUDA_ERROR_OUT_OF_MEMORY")};
  expect_kind(device_error(stage::device, of_host), FATLINK_ERROR_MEMORY, 5);
  expect_kind(device_error(stage::device, of_gpu), FATLINK_ERROR_MEMORY, 5);
  expect_kind(unavailable_error(stage::device, of_host), FATLINK_ERROR_MEMORY, 5);
  EXPECT_STREQ(fatlink_error_code(error_of(device_error(stage::device, of_gpu)).get()),
               "CUDA_ERROR_OUT_OF_MEMORY");
}

TEST(CError, SaysThatAnUnknownExceptionIsADefect)
{
  fixtures::fail(error_of(std::logic_error("x")).release(), FATLINK_ERROR_DEFECT,
                 "defect in fatlink: x");
  fixtures::fail(error_of(7).release(), FATLINK_ERROR_DEFECT,
                 "defect in fatlink: an exception of an unknown type");
}

TEST(CError, OfMissingMemoryCanBeFreed)
{
  auto* const first = c::guarded([] { throw std::bad_alloc(); });
  auto* const second = c::guarded([] { throw std::bad_alloc(); });
  fatlink_error_free(first);
  fatlink_error_free(second);
  fixtures::fail(first, FATLINK_ERROR_MEMORY, "the host has no memory left");
}

TEST(CError, OfARefusalHasTheFindings)
{
  auto const error = error_of(refused_error({{.id = finding_id::missing_hook,
                                              .files = {"a", "b"},
                                              .symbol = "f",
                                              .message = "m",
                                              .hint = "h"},
                                             {.severity = severity::warning}}));
  EXPECT_STREQ(fatlink_error_code(error.get()), "missing-hook");
  auto const* const findings = fatlink_error_findings(error.get());
  ASSERT_EQ(fatlink_findings_count(findings), 2U);
  fatlink_finding finding = {};
  finding.size = sizeof finding;
  fixtures::succeed(fatlink_findings_get(findings, 0, &finding));
  EXPECT_STREQ(finding.id, "missing-hook");
  EXPECT_EQ(finding.is_error, 1);
  ASSERT_EQ(finding.file_count, 2U);
  EXPECT_STREQ(finding.files[1], "b");
  EXPECT_STREQ(finding.symbol, "f");
  EXPECT_STREQ(finding.message, "m");
  EXPECT_STREQ(finding.hint, "h");
  fixtures::succeed(fatlink_findings_get(findings, 1, &finding));
  EXPECT_EQ(finding.is_error, 0);
  fixtures::fail_usage(fatlink_findings_get(findings, 2, &finding),
                       "index 2 is too large: there are 2 findings");
}

TEST(CError, IsEmptyWhereThereIsNone)
{
  EXPECT_EQ(fatlink_error_get_kind(nullptr), 0);
  EXPECT_EQ(fatlink_error_exit_status(nullptr), 0);
  for (auto const* const text :
       {fatlink_error_stage(nullptr), fatlink_error_code(nullptr), fatlink_error_message(nullptr),
        fatlink_error_input(nullptr), fatlink_error_hint(nullptr), fatlink_error_log(nullptr)})
    EXPECT_STREQ(text, "");
  EXPECT_EQ(fatlink_error_findings(nullptr), nullptr);
  EXPECT_EQ(fatlink_findings_count(nullptr), 0U);
  fatlink_error_free(nullptr);
  fatlink_findings_free(nullptr);
}
