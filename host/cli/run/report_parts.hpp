// SPDX-License-Identifier: Apache-2.0
// Parts of reports about links and runs, as text and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "compile/source_inputs.hpp"
#include "fatlink/device_info.hpp"
#include "fatlink/image.hpp"

namespace fatlink::cli {

/// A finite number; "inf", "-inf" and "nan" for others, which JSON does not have.
nlohmann::json to_number(double value);

/// "1,048,576".
std::string with_commas(std::size_t value);

/// "H200 (sm_90), as there is no GPU (no driver)". `no_gpu_reason`: empty if a GPU was not looked
/// for, or found.
std::string describe_device(device_info const& device, std::string const& no_gpu_reason);

/// "LTO link".
char const* name_of(link_mode mode);
/// "LTO link (link-time optimised)".
std::string title_of(link_mode mode);
/// Time to the linked code, ms: of the link, or of its look-up in the cache. The reference device
/// links a set of PTX when it loads it, in `load_ms`.
double link_time(linked_image const& image, double load_ms);
/// ", user_transform inlined" for each hook of a link in lto mode, ", load default" for those that
/// the library defines itself, and ", from the cache".
std::string describe_link(linked_image const& image);

/// Wall time of each step that produced `image`, in milliseconds; `read_ms`: reading the inputs.
nlohmann::json describe_start(linked_image const& image, double read_ms);

nlohmann::json compiles_to_json(compile_report const& compiles);
/// Prints a line for each source.
void print_compiles(compile_report const& compiles);

}  // namespace fatlink::cli
