// SPDX-License-Identifier: Apache-2.0
// The records of FATLINK_ELEMENT (kernels/include/fatlink/element.cuh) in PTX: weak functions
// fatlink_elements::HOOK<TYPE, SIZE, ALIGNMENT>(). Threads: no shared state.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "fatlink/ident.hpp"
#include "fatlink/ptx_interface.hpp"

namespace fatlink::detail {

/// Whether `ptx` may have records: a cheap test before its interface is read.
bool may_record_elements(std::string_view ptx) noexcept;

/// The recorded elements of `interface`, by hook. Of a hook with several records, none.
std::map<std::string, ident_element> element_records(ptx_interface const& interface);

}  // namespace fatlink::detail
