// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_call_state.hpp"

#include <gtest/gtest.h>

#include <vector>

using namespace fatlink;

namespace {

std::string hint_of(error_code code, std::string const& message,
                    std::vector<std::string> const& null_states)
{
  try {
    detail::rethrow_with_states(
        device_error(stage::device, {.message = message, .code = code, .hint = "fix the code"}),
        null_states);
  } catch (device_error const& failure) {
    EXPECT_EQ(failure.details().message, message);
    return failure.details().hint;
  }
}

}  // namespace

TEST(NullStates, AreNamedWhereANullPointerIsUsed)
{
  EXPECT_EQ(hint_of(error_code::illegal_address, "reads 4 bytes at 0x0: a null pointer",
                    {"load_state", "store_state"}),
            "if the transform needs a state (load_state, store_state), pass the address of its "
            "bytes; otherwise fix the code");
}

TEST(NullStates, AreNotNamedForOtherFailures)
{
  EXPECT_EQ(hint_of(error_code::illegal_address, "reads 4 bytes at 0x0: a null pointer", {}),
            "fix the code");
  EXPECT_EQ(hint_of(error_code::illegal_address, "reads 4 bytes at 0x7f0000000000", {"state"}),
            "fix the code");
  EXPECT_EQ(hint_of(error_code::endless_kernel, "a null pointer", {"state"}), "fix the code");
}
