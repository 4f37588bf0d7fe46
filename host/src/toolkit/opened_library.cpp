// SPDX-License-Identifier: Apache-2.0
#include "toolkit/opened_library.hpp"

#include "toolkit/elf_file.hpp"
#include "toolkit/library_identity.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {

shared_library load_library(library_candidate const& candidate, std::string& problem)
{
  if (auto const file = path_of(candidate)) problem = explain_truncation(*file);
  return problem.empty() ? shared_library::open(candidate.path, problem) : shared_library{};
}

std::string open_library(library_candidate const& candidate, vendor_library const& library,
                         char const* function, opened_library& opened)
{
  std::string problem;
  opened.file = load_library(candidate, problem);
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
