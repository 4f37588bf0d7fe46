// SPDX-License-Identifier: Apache-2.0
#include "compiler/headers/collect_headers.hpp"

#include <functional>
#include <utility>

#include "compiler/contract/installed_contract.hpp"

namespace fatlink::detail {
namespace {

collected_headers read_headers(header_request const& request,
                               std::vector<std::filesystem::path> const& cuda_folders,
                               std::function<void()> const& check_time)
{
  auto folders = request.options.include_folders;
  for (auto& folder : data_include_folders()) folders.push_back(std::move(folder));
  collected_headers collected{header_set({.folders = std::move(folders),
                                          .cuda_folders = cuda_folders,
                                          .in_memory = request.options.headers,
                                          .check_time = check_time})};
  auto& headers = collected.headers;
  headers.add_definitions(request.options.definitions);
  if (auto const* forced = request.forced)
    collected.forced_name =
        headers.add_forced(forced->file_name, forced->text, forced->folder, forced->path);
  headers.add_includes_of(request.code);
  return collected;
}

/// Returns why the headers cannot be unpacked; empty on success.
std::string unpack(cache::unpacked_headers const& headers, compiler_helpers& helpers)
try {
  auto const turn = headers.make_folder();
  if (headers.are_complete()) return {};  // another process unpacked them meanwhile
  helpers.unpack_headers(headers.path().string());
  headers.record();
  return {};
} catch (cache::fault const& failure) {
  return failure.message;
} catch (file_error const& failure) {
  return failure.details().message;
} catch (unavailable_error const& failure) {
  auto const& log = failure.details().log;  // NVRTC's: "nvrtc: error: failed to …"
  return failure.details().message + (log.empty() ? "" : ": ") + log.substr(0, log.find('\n'));
}

}  // namespace

collected_headers collect_own_headers(header_request const& request, compiler_helpers& helpers)
{
  return read_headers(request, {}, [&] { helpers.check_time(); });
}

collected_headers collect_headers(header_request const& request, cuda_headers const& places,
                                  compiler_helpers& helpers)
{
  auto const check_time = [&] { helpers.check_time(); };
  auto collected = read_headers(request, places.folders(), check_time);
  if (!collected.headers.has_missing() || !places.must_unpack()) return collected;
  auto problem = unpack(places.unpacked(), helpers);
  collected = read_headers(request, problem.empty() ? places.folders() : places.installed_folders(),
                           check_time);
  collected.problem = std::move(problem);
  return collected;
}

}  // namespace fatlink::detail
