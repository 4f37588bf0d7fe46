// SPDX-License-Identifier: Apache-2.0
#include "compiler/messages/missing_header.hpp"

#include <algorithm>
#include <filesystem>

#include "compiler/messages/compile_log.hpp"
#include "fatlink/error.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr char const* k_headers_remedy =
    "the headers of CUDA come with NVRTC 13.3 and newer, with a toolkit (CUDA_HOME), or with the "
    "wheels nvidia-cuda-runtime and nvidia-cuda-cccl";

/// Names of the C and C++ standard libraries, which NVRTC does not have: <vector>, not <lib/core>.
bool is_standard_header(std::string_view name)
{
  constexpr std::string_view k_c_headers[] = {"assert.h", "float.h",  "limits.h",
                                              "math.h",   "stddef.h", "stdint.h",
                                              "stdio.h",  "stdlib.h", "string.h"};
  constexpr std::string_view k_not_in_names = "./-+ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return name.find_first_of(k_not_in_names) == std::string_view::npos ||
         std::ranges::count(k_c_headers, name) > 0;
}

std::string folders_text(compile_subject const& subject)
{
  if (subject.folders.empty()) return "no folders were searched";
  std::string text;
  for (auto const& folder : subject.folders) text += (text.empty() ? "searched: " : ", ") + folder;
  return text;
}

/// The folder of the source, if it has the header `name`, which is not searched there; else empty.
std::string own_folder_with(std::string const& name, compile_subject const& subject)
{
  namespace fs = std::filesystem;
  std::error_code ignored;
  fs::path const header(name);
  auto const is_below = header.is_relative() && std::ranges::count(header, fs::path("..")) == 0;
  if (!is_below || !fs::is_regular_file(subject.name, ignored)) return {};
  auto const folder = fs::path(subject.name).parent_path();
  if (!fs::is_regular_file(folder / header, ignored)) return {};
  return folder.empty() ? "." : folder.string();
}

bool has_headers_of_cuda(compile_subject const& subject)
{
  return std::ranges::any_of(subject.folders, [](std::string const& folder) {
    std::error_code ignored;
    return std::filesystem::exists(std::filesystem::path(folder) / "cuda_fp16.h", ignored);
  });
}

/// `place`: of the line that includes the header, "half.cu(1)", which may be in another header.
std::string standard_header_hint(std::string const& name, compile_subject const& subject,
                                 std::string const& place)
{
  auto const remedy =
      place.starts_with(subject.name)
          ? std::string("remove the line; CUDA's own functions (sqrtf, printf) need no header")
          : std::string(
                "leave out the header that includes it, or this line if the header is yours");
  return detail::format(
      "NVRTC has no C++ standard library, and CCCL in these folders has no <cuda/std/{}>: {}; {}",
      name.substr(0, name.find('.')), remedy, folders_text(subject));
}

std::string header_hint(std::string const& name, compile_subject const& subject,
                        std::string const& place)
{
  if (auto const folder = own_folder_with(name, subject); !folder.empty())
    return detail::format(
        "it is beside the source, whose folder is not searched: add it with "
        "<compile_options::include_folders> {}",
        folder);
  if (is_standard_header(name)) return standard_header_hint(name, subject, place);
  if (!subject.headers_problem.empty())
    return detail::format(
        "the headers of CUDA, which NVRTC brings, could not be unpacked ({}): correct this, use "
        "another folder (FATLINK_CACHE_DIR<, cache_settings::folder>), or add the header's folder "
        "with <compile_options::include_folders>; {}",
        subject.headers_problem, folders_text(subject));
  auto hint = detail::format("add its folder with <compile_options::include_folders>; {}",
                             folders_text(subject));
  return has_headers_of_cuda(subject) ? hint : detail::format("{}; {}", hint, k_headers_remedy);
}

}  // namespace

void refuse_header(std::string const& name, compile_product const& product,
                   compile_subject const& subject, std::string const& refusal)
{
  auto const cause = refusal.empty() ? std::string("is in none of the folders") : refusal;
  auto const place = place_of_catastrophe(product.log, subject);
  auto hint = refusal.empty() ? header_hint(name, subject, place)
                              : detail::format(
                                    "include a regular file in a folder of "
                                    "<compile_options::include_folders>; {}",
                                    folders_text(subject));
  throw compile_error(
      stage::compiler,
      {.message = detail::format("{}: the header {} {}", place, name, cause),
       .input = subject.name,
       .code = error_code::header_not_found,
       .log = refusal.empty() ? with_header_files(product.log, subject) : std::string(),
       .hint = std::move(hint)});
}

}  // namespace fatlink::detail
