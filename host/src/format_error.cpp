// SPDX-License-Identifier: Apache-2.0
#include "fatlink/format_error.hpp"

namespace fatlink {

format_error::format_error(stage origin, std::uint64_t offset, error_details details)
    : file_error(origin, std::move(details)), offset_(offset)
{
}

}  // namespace fatlink
