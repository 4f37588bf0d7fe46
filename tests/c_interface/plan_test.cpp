// SPDX-License-Identifier: Apache-2.0
// Plans of the C interface, on the reference device and on memory of the host.
#include <array>
#include <cstdint>
#include <map>

#include "c_plan_fixture.hpp"

using fixtures::c_call;
using fixtures::c_plan;
using fixtures::fail_usage;
using fixtures::result_of;
using fixtures::succeed;

namespace {

class CPlan : public fixtures::c_plans {
 protected:
  [[nodiscard]] fatlink_error* run(std::vector<fatlink_argument> const& given) const
  {
    return fatlink_plan_run(plan_.get(), nullptr, given.data(), given.size(), 0, 0);
  }
  c_plan plan_ = prepare();
};

struct range {
  float low;
  std::int32_t stride;
};

}  // namespace

TEST_F(CPlan, RunsOnMemoryOfTheHost)
{
  succeed(run(arguments()));
  EXPECT_EQ(sum_, k_sum);
}

TEST_F(CPlan, IsOfALibraryThatWasRead)
{
  auto const path = places::corpus("weighted_sum.fatbin");
  auto const library = fixtures::read_c_input(path);
  fatlink_plan_request request = {};
  request.size = sizeof request;
  request.library_input = library.get();
  auto const* const transform = transform_.get();
  request.transforms = &transform;
  request.transform_count = 1;
  request.mode = FATLINK_MODE_PTX;
  c_plan plan;
  succeed(fatlink_plan_prepare(device_.get(), linker_.get(), &request, result_of(plan)));
  EXPECT_STREQ(fatlink_plan_name(plan.get()), "weighted_sum");
  request.library = path.c_str();
  fail_usage(fatlink_plan_prepare(device_.get(), linker_.get(), &request, result_of(plan)),
             "request has both a library and a library_input");
}

TEST_F(CPlan, DescribesItsArguments)
{
  EXPECT_STREQ(fatlink_plan_name(plan_.get()), "weighted_sum");
  ASSERT_EQ(fatlink_plan_argument_count(plan_.get()), 7U);
  std::map<std::string, fatlink_plan_argument> all;
  for (std::size_t i = 0; i < 7; ++i) {
    fatlink_plan_argument argument = {};
    argument.size = sizeof argument;
    succeed(fatlink_plan_get_argument(plan_.get(), i, &argument));
    all[argument.name] = argument;
  }
  EXPECT_EQ(all["in"].role, FATLINK_ROLE_INPUT);
  EXPECT_EQ(all["in"].scalar, FATLINK_FLOAT32);
  EXPECT_EQ(all["in"].element_bytes, 4U);
  EXPECT_STREQ(all["in"].type_name, "float32");
  EXPECT_EQ(all["in"].dimensions, 1U);
  EXPECT_EQ(all["in"].alignment, 4U);
  EXPECT_EQ(all["out"].role, FATLINK_ROLE_OUTPUT);
  EXPECT_EQ(all["partial"].role, FATLINK_ROLE_SCRATCH);
  EXPECT_EQ(all["n"].role, FATLINK_ROLE_SIZE);
  EXPECT_EQ(all["n"].dimensions, 0U);
  EXPECT_EQ(all["bounds"].role, FATLINK_ROLE_VALUE);
  EXPECT_EQ(all["bounds"].scalar, FATLINK_RECORD);
  EXPECT_EQ(all["bounds"].element_bytes, sizeof(range));
  EXPECT_EQ(all["bounds"].has_default, 1);
  EXPECT_EQ(all["state"].role, FATLINK_ROLE_STATE);
  EXPECT_EQ(all["state"].element_bytes, 0U);
  fatlink_plan_argument argument = {};
  argument.size = sizeof argument;
  fail_usage(fatlink_plan_get_argument(plan_.get(), 7, &argument), "index 7 is too large");
}

TEST_F(CPlan, HasTheImage)
{
  fatlink_image_info info = {};
  info.size = sizeof info;
  succeed(fatlink_image_get_info(fatlink_plan_image(plan_.get()), &info));
  EXPECT_EQ(info.mode, FATLINK_MODE_PTX);
  EXPECT_STREQ(info.target, "sm_90");
}

TEST_F(CPlan, TakesValuesOfEveryKind)
{
  auto given = arguments();
  range const bounds{-1e30F, 2};
  float const init = 0;
  given.push_back(value("bounds", &bounds, sizeof bounds));
  given.push_back(value("init", &init, 0, FATLINK_FLOAT32));
  given.push_back(array("state", 0));
  std::int32_t const count = 1000;
  given[2] = value("n", &count, sizeof count, FATLINK_INT32);
  given[0].count = 1000;
  given[0].scalar = FATLINK_FLOAT32;
  succeed(run(given));
  EXPECT_EQ(sum_, 250'000.0F);  // 1 + 3 + … + 999
}

TEST_F(CPlan, GivesExtentsAndScratchMemory)
{
  auto const size = value("n", &count_, sizeof count_);
  std::array<std::uint64_t, 2> extents{};
  std::size_t dimensions = 0;
  succeed(fatlink_plan_extents(plan_.get(), &size, 1, "in", extents.data(), extents.size(),
                               &dimensions));
  EXPECT_EQ(dimensions, 1U);
  EXPECT_EQ(extents[0], 1000U);
  succeed(fatlink_plan_extents(plan_.get(), &size, 1, "in", nullptr, 0, &dimensions));
  EXPECT_EQ(dimensions, 1U);
  fail_usage(fatlink_plan_extents(plan_.get(), &size, 1, "x", nullptr, 0, &dimensions),
             "plan weighted_sum has no array x");
  std::size_t bytes = 0;
  succeed(fatlink_plan_scratch_bytes(plan_.get(), &size, 1, &bytes));
  EXPECT_EQ(bytes, 4U * 64 * 4);
}

TEST_F(CPlan, IsBoundToItsArguments)
{
  auto const scratch = allocate(4 * 64 * 4);
  auto const given = arguments();
  c_call call;
  succeed(fatlink_plan_bind(plan_.get(), given.data(), given.size(),
                            fatlink_buffer_address(scratch.get()),
                            fatlink_buffer_bytes(scratch.get()), result_of(call)));
  plan_.reset();
  succeed(fatlink_call_run(call.get(), nullptr));
  EXPECT_EQ(sum_, k_sum);
  fail_usage(fatlink_call_run(nullptr, nullptr), "call is NULL");
}

TEST_F(CPlan, RefusesMalformedArguments)
{
  auto const refuse = [&](std::size_t index, auto const& change, std::string const& text) {
    auto given = arguments();
    change(given[index]);
    fail_usage(run(given), text);
  };
  refuse(
      0, [](auto& a) { a.size = 0; }, "the size of arguments[0] is 0");
  refuse(
      2, [](auto& a) { a.size = 8; }, "the size of arguments[2] is 8; that of arguments[0] is");
  refuse(
      1, [](auto& a) { a.name = nullptr; }, "arguments[1].name is NULL");
  refuse(
      1, [](auto& a) { a.name = "oat"; }, "argument oat is unknown to plan weighted_sum");
  refuse(
      2, [](auto& a) { a.address = 1; }, "argument n has both an address and a value");
  refuse(
      2, [](auto& a) { a.element_bytes = 0; }, "argument n is a value of an unknown size");
  refuse(
      2, [](auto& a) { a.scalar = 17; },
      "argument n has the scalar 17, which is not a constant of fatlink_scalar");
  refuse(
      2, [](auto& a) { a.scalar = FATLINK_INT32; },
      "argument n has elements of 8 bytes; int32 has 4");
  refuse(
      2, [](auto& a) { a.element_bytes = 3; }, "argument n is");
  refuse(
      0, [](auto& a) { a.scalar = FATLINK_FLOAT64; },
      "argument in is an array of float32; an array of float64 was given");
  refuse(
      0, [](auto& a) { a.element_bytes = 8; },
      "argument in is an array of float32; an array of 8 bytes was given");
  for (auto const scalar : {FATLINK_RECORD, FATLINK_BYTES})
    refuse(
        0,
        [=](auto& a) {
          a.scalar = scalar;
          a.element_bytes = 0;
        },
        "argument in is an array of elements of an unknown size");
  refuse(
      0, [](auto& a) { a.count = 999; }, "argument in has 999 elements; the plan needs 1000");
  refuse(
      0, [](auto& a) { a.reserved = 1; }, "the member reserved of an entry of arguments is 1");
}

TEST_F(CPlan, RefusesNull)
{
  auto const given = arguments();
  fatlink_plan* plan = nullptr;
  fatlink_call* call = nullptr;
  std::size_t size = 0;
  fatlink_plan_request request = {};
  request.size = sizeof request;
  fail_usage(fatlink_plan_prepare(nullptr, linker_.get(), &request, &plan), "device is NULL");
  fail_usage(fatlink_plan_prepare(device_.get(), nullptr, &request, &plan), "linker is NULL");
  fail_usage(fatlink_plan_prepare(device_.get(), linker_.get(), nullptr, &plan), "request is NULL");
  fail_usage(fatlink_plan_prepare(device_.get(), linker_.get(), &request, nullptr), "plan is NULL");
  fail_usage(fatlink_plan_prepare(device_.get(), linker_.get(), &request, &plan),
             "request.library is NULL");
  fail_usage(fatlink_plan_run(nullptr, nullptr, given.data(), 3, 0, 0), "plan is NULL");
  fail_usage(fatlink_plan_run(plan_.get(), nullptr, nullptr, 3, 0, 0), "arguments is NULL");
  fail_usage(fatlink_plan_bind(plan_.get(), given.data(), 3, 0, 0, nullptr), "call is NULL");
  fail_usage(fatlink_plan_bind(nullptr, given.data(), 3, 0, 0, &call), "plan is NULL");
  fail_usage(fatlink_plan_scratch_bytes(plan_.get(), nullptr, 0, nullptr), "bytes is NULL");
  fail_usage(fatlink_plan_scratch_bytes(nullptr, nullptr, 0, &size), "plan is NULL");
  fail_usage(fatlink_plan_extents(plan_.get(), nullptr, 0, nullptr, nullptr, 0, &size),
             "array is NULL");
  fail_usage(fatlink_plan_extents(plan_.get(), nullptr, 0, "in", nullptr, 1, &size),
             "extents is NULL");
  EXPECT_STREQ(fatlink_plan_name(nullptr), "");
  EXPECT_EQ(fatlink_plan_image(nullptr), nullptr);
  EXPECT_EQ(fatlink_plan_argument_count(nullptr), 0U);
  fatlink_plan_free(nullptr);
  fatlink_call_free(nullptr);
}
