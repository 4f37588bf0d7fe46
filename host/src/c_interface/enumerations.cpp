// SPDX-License-Identifier: Apache-2.0
#include "c_interface/enumerations.hpp"

#include "device/misuse.hpp"
#include "util/text/format.hpp"

namespace fatlink::c {
namespace {

static_assert(static_cast<int>(scalar_kind::float16) + 1 == FATLINK_FLOAT16);
static_assert(static_cast<int>(scalar_kind::int8) + 1 == FATLINK_INT8);
static_assert(static_cast<int>(scalar_kind::uint64) + 1 == FATLINK_UINT64);
static_assert(static_cast<int>(scalar_kind::record) + 1 == FATLINK_RECORD);
static_assert(static_cast<int>(argument_role::input) + 1 == FATLINK_ROLE_INPUT);
static_assert(static_cast<int>(argument_role::state) + 1 == FATLINK_ROLE_STATE);
static_assert(static_cast<int>(cache_outcome::off) == FATLINK_CACHE_OFF);
static_assert(static_cast<int>(cache_outcome::hit) == FATLINK_CACHE_HIT);
static_assert(static_cast<int>(image_kind::cubin) + 1 == FATLINK_IMAGE_CUBIN);
static_assert(static_cast<int>(image_kind::ptx_set) + 1 == FATLINK_IMAGE_PTX_SET);
static_assert(static_cast<int>(image_kind::relocatable) + 1 == FATLINK_IMAGE_RELOCATABLE);

[[noreturn]] void fail_value(char const* parameter, std::int32_t value, char const* type)
{
  detail::fail_use(
      detail::format("{} is {}, which is not a constant of {}", parameter, value, type), parameter,
      detail::format("pass a constant of {}", type));
}

}  // namespace

link_mode read_mode(fatlink_link_mode mode)
{
  switch (mode) {
    case FATLINK_MODE_LTO:
      return link_mode::lto;
    case FATLINK_MODE_PTX:
      return link_mode::ptx;
    case FATLINK_MODE_SASS:
      return link_mode::sass;
    default:
      fail_value("mode", mode, "fatlink_link_mode");
  }
}

image_kind read_kind(fatlink_image_kind kind)
{
  if (kind < FATLINK_IMAGE_DEFAULT || kind > FATLINK_IMAGE_RELOCATABLE)
    fail_value("emit", kind, "fatlink_image_kind");
  return kind == FATLINK_IMAGE_DEFAULT ? image_kind::cubin : static_cast<image_kind>(kind - 1);
}

std::optional<bool> read_choice(fatlink_choice choice, char const* parameter)
{
  if (choice < FATLINK_OFF || choice > FATLINK_ON) fail_value(parameter, choice, "fatlink_choice");
  return choice == FATLINK_UNSET ? std::optional<bool>() : choice == FATLINK_ON;
}

bool is_scalar(fatlink_scalar scalar) noexcept
{
  return scalar >= FATLINK_SCALAR_UNSTATED && scalar <= FATLINK_RECORD;
}

std::optional<scalar_kind> read_scalar(fatlink_scalar scalar) noexcept
{
  if (scalar == FATLINK_SCALAR_UNSTATED) return {};
  return static_cast<scalar_kind>(scalar - 1);
}

fatlink_link_mode mode_of(link_mode mode) noexcept
{
  return mode == link_mode::lto   ? FATLINK_MODE_LTO
         : mode == link_mode::ptx ? FATLINK_MODE_PTX
                                  : FATLINK_MODE_SASS;
}

fatlink_image_kind kind_of(image_kind kind) noexcept
{
  return static_cast<fatlink_image_kind>(kind) + 1;
}

fatlink_cache_outcome outcome_of(cache_outcome outcome) noexcept
{
  return static_cast<fatlink_cache_outcome>(outcome);
}

fatlink_role role_of(argument_role role) noexcept
{
  return static_cast<fatlink_role>(role) + 1;
}

fatlink_scalar scalar_of(scalar_kind kind) noexcept
{
  return static_cast<fatlink_scalar>(kind) + 1;
}

}  // namespace fatlink::c
