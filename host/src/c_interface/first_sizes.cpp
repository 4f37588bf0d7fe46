// SPDX-License-Identifier: Apache-2.0
// The size of each struct in the version of the interface that added it. A number never changes:
// when one of these lines fails, because a member was appended, specialize k_first_size with it, so
// that callers of older versions can still pass their shorter structs.
#include "c_interface/struct_size.hpp"
#include "fatlink/fatlink.h"

namespace fatlink::c {

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

}  // namespace fatlink::c
