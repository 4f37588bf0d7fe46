// SPDX-License-Identifier: Apache-2.0
#include "toolkit/opened_library.hpp"

#include "toolkit/library_identity.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {

std::string open_library(library_candidate const& candidate, vendor_library const& library,
                         char const* function, opened_library& opened)
{
  std::string problem;
  opened.file = shared_library::open(candidate.path, problem);
  if (!opened.file) return problem;
  auto const* const address = opened.file.find({function});
  if (address == nullptr) return detail::format("exports no {}", function);
  opened.path = opened.file.path();
  opened.reason = candidate.reason;
  opened.identity = library_identity(opened.path, library).value_or("");
  // If the file was replaced after it was loaded, the path no longer tells what is loaded.
  auto const mapped = mapped_build_id(address);
  if (!mapped.empty() && opened.identity.find(mapped) == std::string::npos) opened.identity.clear();
  return {};
}

}  // namespace fatlink::detail
