// SPDX-License-Identifier: Apache-2.0
#include "c_interface/structs.hpp"

#include "device/device_checks.hpp"
#include "fatlink/fatlink.h"
#include "util/text/format.hpp"

namespace fatlink::c {

// The size of each struct in the version of the interface that added it. A number never changes:
// when one of these lines fails, because a member was appended, specialize k_first_size with it, so
// that callers of older versions can still pass their shorter structs.
static_assert(k_first_size<fatlink_cache_settings> == 32);
static_assert(k_first_size<fatlink_cache_statistics> == 80);
static_assert(k_first_size<fatlink_compiler_settings> == 48);
static_assert(k_first_size<fatlink_compile_options> == 112);
static_assert(k_first_size<fatlink_device_options> == 32);
static_assert(k_first_size<fatlink_device_info> == 56);
static_assert(k_first_size<fatlink_memory_pool> == 32);
static_assert(k_first_size<fatlink_finding> == 56);
static_assert(k_first_size<fatlink_image_info> == 56);
static_assert(k_first_size<fatlink_hook> == 24);
static_assert(k_first_size<fatlink_launch_shape> == 40);
static_assert(k_first_size<fatlink_linker_settings> == 40);
static_assert(k_first_size<fatlink_link_options> == 128);
static_assert(k_first_size<fatlink_live_settings> == 16);
static_assert(k_first_size<fatlink_swap_report> == 48);
static_assert(k_first_size<fatlink_plan_argument> == 56);
static_assert(k_first_size<fatlink_argument> == 56);
static_assert(k_first_size<fatlink_array_exchange> == 48);
static_assert(k_first_size<fatlink_object_call> == 48);
static_assert(k_first_size<fatlink_plan_request> == 40);
static_assert(k_first_size<fatlink_xla_call> == 80);

namespace {

/// Far above every version of a struct: other sizes come from memory that was not initialized.
constexpr std::size_t k_largest_size = 4096;

}  // namespace

void check_size(std::size_t size, std::size_t first, char const* parameter)
{
  if (size >= first && size <= k_largest_size && size % alignof(std::size_t) == 0) return;
  detail::fail_use(detail::format("the size of {} is {}; it must be a multiple of {} from {} to {}",
                                  parameter, size, alignof(std::size_t), first, k_largest_size),
                   detail::format("{}.size", parameter),
                   "set the member size to the sizeof of the struct before the call");
}

void check_unknown_members(void const* given, std::size_t size, std::size_t known,
                           char const* parameter)
{
  if (size <= known) return;
  auto const* const bytes = static_cast<std::byte const*>(given);
  if (std::all_of(bytes + known, bytes + size, [](std::byte b) { return b == std::byte{0}; }))
    return;
  detail::fail_use(
      detail::format("{} has {} bytes, of which this version of fatlink knows {}; the others are "
                     "not 0",
                     parameter, size, known),
      parameter, "leave newer members 0, or install the version of fatlink that has them");
}

void check_reserved(std::int32_t value, char const* parameter)
{
  if (value == 0) return;
  detail::fail_use(detail::format("the member reserved of {} is {}", parameter, value), parameter,
                   "set it to 0");
}

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

namespace {

/// 0 stands for none.
std::optional<unsigned> number_of(std::uint32_t value)
{
  return value == 0 ? std::optional<unsigned>() : value;
}

void read_flags(link_options& options, fatlink_link_options const& stated)
{
  options.allow_calls = stated.allow_calls != 0;
  options.whole_archive = stated.whole_archive != 0;
  options.require_inlined = stated.require_inlined != 0;
  options.drop_unused_variables = stated.drop_unused_variables != 0;
  options.latest_nvvm = stated.latest_nvvm != 0;
  options.line_info = stated.line_info != 0;
  options.debug = stated.debug != 0;
  if (stated.no_optimization != 0) options.optimization = 0;
}

void read_float_flags(link_options& options, fatlink_link_options const& stated)
{
  options.ftz = read_choice(stated.ftz, "options.ftz");
  options.prec_div = read_choice(stated.prec_div, "options.prec_div");
  options.prec_sqrt = read_choice(stated.prec_sqrt, "options.prec_sqrt");
  options.fma = read_choice(stated.fma, "options.fma");
}

}  // namespace

std::vector<input> read_inputs(fatlink_input const* const* inputs, std::size_t count)
{
  std::vector<input> result;
  for (auto const* const entry : list(inputs, count, "inputs")) {
    if (entry == nullptr) fail_null(detail::format("inputs[{}]", result.size()));
    result.push_back(entry->contents);
  }
  return result;
}

namespace {

input library_of(fatlink_plan_request const& request)
{
  if (request.library_input == nullptr)
    return input::find(required_text(request.library, "request.library"));
  if (request.library == nullptr) return request.library_input->contents;
  detail::fail_use("request has both a library and a library_input", "request.library_input",
                   "set one of them, and the other one to NULL");
}

}  // namespace

std::vector<input> read_plan_inputs(fatlink_plan_request const& request)
{
  std::vector<input> inputs{library_of(request)};
  for (auto& transform : read_inputs(request.transforms, request.transform_count))
    inputs.push_back(std::move(transform));
  return inputs;
}

link_options read_options(fatlink_link_options const* given)
{
  auto const stated = required_struct(given, "options");
  link_options options;
  options.target = target(required_text(stated.target, "options.target"));
  options.mode = read_mode(stated.mode);
  options.emit = read_kind(stated.emit);
  read_flags(options, stated);
  read_float_flags(options, stated);
  options.kernels = texts(stated.kernels, stated.kernel_count, "options.kernels");
  options.variables = texts(stated.variables, stated.variable_count, "options.variables");
  options.max_registers = number_of(stated.max_registers);
  options.threads = number_of(stated.threads);
  options.ptxas = texts(stated.ptxas, stated.ptxas_count, "options.ptxas");
  return options;
}

}  // namespace fatlink::c
