// SPDX-License-Identifier: Apache-2.0
#include "cluster/error_record.hpp"

#include <gmock/gmock.h>

#include <new>
#include <stdexcept>
#include <typeinfo>

#include "fatlink/format_error.hpp"
#include "fatlink/link_once.hpp"

using namespace fatlink;
using namespace fatlink::detail;

namespace {

error_details const k_details{
    .message = "m", .input = "i", .code = vendor_code("c"), .log = "l", .hint = "h"};

/// The error that is thrown for the record of `original`.
template <typename Error>
Error thrown_again(Error const& original)
{
  try {
    throw_error(record_error(std::make_exception_ptr(original)));
  } catch (error const& again) {
    EXPECT_EQ(typeid(again), typeid(original)) << typeid(again).name();
    EXPECT_EQ(again.where(), original.where());
    auto const& details = again.details();
    EXPECT_EQ(details.message + details.input + details.code.text() + details.log + details.hint,
              "miclh");
    return dynamic_cast<Error const&>(again);
  }
}

}  // namespace

TEST(ErrorRecord, KeepsTypeStageAndDetails)
{
  (void)thrown_again(error(stage::cache, k_details));
  (void)thrown_again(usage_error(k_details));
  (void)thrown_again(file_error(stage::input, k_details));
  (void)thrown_again(link_error(stage::linker, k_details));
  (void)thrown_again(compile_error(stage::compiler, k_details));
  (void)thrown_again(device_error(stage::device, k_details));
  (void)thrown_again(unavailable_error(stage::linker, k_details));
}

TEST(ErrorRecord, KeepsWhatTheTypesAdd)
{
  EXPECT_EQ(thrown_again(format_error(stage::fatbin, 12, k_details)).offset(), 12U);
  EXPECT_THAT(thrown_again(rank_error({2, 3}, k_details)).ranks(), testing::ElementsAre(2, 3));
  auto const again = thrown_again(refused_error(k_details, {{.symbol = "f"}}));
  ASSERT_EQ(again.findings().size(), 1U);
  EXPECT_EQ(again.findings()[0].symbol, "f");
}

TEST(ErrorRecord, TakesTheNearestTypeOfADerivedOne)
{
  struct special_error : link_error {
    using link_error::link_error;
  };
  auto const record =
      record_error(std::make_exception_ptr(special_error(stage::linker, k_details)));
  EXPECT_EQ(record.type, error_type::link);
}

TEST(ErrorRecord, OfOtherExceptionsHasACode)
{
  auto const foreign = record_error(std::make_exception_ptr(std::runtime_error("disk is gone")));
  EXPECT_EQ(foreign.details.message, "disk is gone");
  EXPECT_TRUE(foreign.details.code == "rank-failed");
  auto const number = record_error(std::make_exception_ptr(3));
  EXPECT_EQ(number.details.message, "an exception without a text");
  EXPECT_TRUE(number.details.code == "rank-failed");
  auto const memory = record_error(std::make_exception_ptr(std::bad_alloc()));
  EXPECT_EQ(memory.details.message, "there is not enough memory");
  EXPECT_TRUE(memory.details.code == error_code::out_of_memory);
  for (auto const& record : {foreign, number, memory}) EXPECT_FALSE(record.details.hint.empty());
}
