// SPDX-License-Identifier: Apache-2.0
#include "compiler/collect_headers.hpp"

namespace fatlink::detail {
namespace {

header_set read_headers(header_request const& request,
                        std::vector<std::filesystem::path> const& cuda_folders)
{
  auto folders = request.options.include_folders;
  folders.insert(folders.end(), cuda_folders.begin(), cuda_folders.end());
  header_set headers(std::move(folders), request.options.headers);
  if (request.forced != nullptr) {
    headers.add_text(request.forced->name, request.forced->text);
    headers.add_includes_of(request.forced->text);
  }
  for (auto const& [name, text] : request.options.headers) headers.add_includes_of(text);
  headers.add_includes_of(request.code.text());
  return headers;
}

/// Returns why the headers cannot be unpacked; empty on success.
std::string unpack(cache::unpacked_headers const& headers, compiler_helpers& helpers)
try {
  headers.make_folder();
  helpers.unpack_headers(headers.path().string());
  return {};
} catch (cache::fault const& failure) {
  return failure.message;
} catch (unavailable_error const& failure) {
  auto const& log = failure.details().log;  // NVRTC's: "nvrtc: error: failed to …"
  return failure.details().message + (log.empty() ? "" : ": ") + log.substr(0, log.find('\n'));
}

}  // namespace

collected_headers collect_headers(header_request const& request, cuda_headers const& places,
                                  compiler_helpers& helpers)
{
  auto headers = read_headers(request, places.folders());
  if (!headers.has_missing() || !places.must_unpack()) return {std::move(headers)};
  auto problem = unpack(places.unpacked(), helpers);
  auto const folders = problem.empty() ? places.folders() : places.installed_folders();
  return {read_headers(request, folders), std::move(problem)};
}

}  // namespace fatlink::detail
