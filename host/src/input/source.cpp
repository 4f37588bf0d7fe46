// SPDX-License-Identifier: Apache-2.0
#include "fatlink/source.hpp"

#include <algorithm>

#include "fatbin/recognize_form.hpp"
#include "fatlink/error.hpp"
#include "util/files/read_file.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace {

constexpr std::string_view k_bitcode = "BC\xC0\xDE";
constexpr std::string_view k_wrapped_bitcode = "\xDE\xC0\x17\x0B";

[[noreturn]] void fail_source(std::string const& name, error_code code, std::string const& cause,
                              char const* hint)
{
  throw file_error(stage::compiler, {.message = detail::format("{}: {}", name, cause),
                                     .input = name,
                                     .code = code,
                                     .hint = hint});
}

/// @throws file_error above-limit.
void check_size(std::uint64_t size, std::uint64_t limit, std::string const& name)
{
  if (size <= limit) return;
  auto const is_cuda = limit == k_largest_source;
  fail_source(name, error_code::above_limit,
              detail::format("has {} bytes; the limit is {} MiB for {}", size, limit >> 20,
                             is_cuda ? "CUDA C++" : "LLVM IR"),
              is_cuda ? "compile it with nvcc, which has no limit"
                      : "leave out functions that nothing calls, for example with "
                        "llvm-extract, or compile parts of it");
}

std::size_t line_of(std::string_view text, std::size_t offset)
{
  auto const head = text.substr(0, offset);
  return static_cast<std::size_t>(std::count(head.begin(), head.end(), '\n')) + 1;
}

bool begins_as_bitcode(std::string_view text)
{
  return text.starts_with(k_bitcode) || text.starts_with(k_wrapped_bitcode);
}

/// @throws file_error a NUL, or bytes that are not UTF-8.
void check_text(std::string_view text, std::string const& name)
{
  constexpr char const* k_hint = "save it as UTF-8 text";
  for (std::size_t offset = 0; offset < text.size();) {
    if (text[offset] == '\0')
      fail_source(name, error_code::invalid_source,
                  detail::format("line {} has a NUL byte", line_of(text, offset)), k_hint);
    auto const size = detail::utf8_size(text.substr(offset));
    if (size == 0)
      fail_source(name, error_code::invalid_source,
                  detail::format("line {} has bytes that are not UTF-8", line_of(text, offset)),
                  k_hint);
    offset += size;
  }
}

/// @throws file_error a .bc that is no bitcode.
void check_bitcode(std::string_view text, std::string const& name)
{
  if (std::filesystem::path(name).extension() == ".bc" && !begins_as_bitcode(text))
    fail_source(name, error_code::invalid_source, "is not LLVM bitcode",
                "make it again, and name a text of LLVM IR .ll");
}

source_language language_of(std::string_view text, std::filesystem::path const& name)
{
  auto const ending = name.extension();
  if (begins_as_bitcode(text) || ending == ".ll") return source_language::nvvm_ir;
  auto const form = detail::recognize_text(std::as_bytes(std::span(text)));
  return form.kind == detail::file_kind::nvvm_ir ? source_language::nvvm_ir : source_language::cuda;
}

}  // namespace

char const* to_string(source_language language) noexcept
{
  return language == source_language::cuda ? "cuda" : "nvvm-ir";
}

source source::read(std::filesystem::path const& path)
{
  constexpr char const* k_hint = "pass a CUDA C++ source (.cu) or LLVM IR (.ll, .bc)";
  auto const opened = detail::open_regular(path, k_hint);
  check_size(opened.size, k_largest_ir, path.string());
  auto const bytes = detail::read_file(path, k_largest_ir, k_hint);
  return from_text({reinterpret_cast<char const*>(bytes.data()), bytes.size()}, path.string(),
                   path.has_parent_path() ? path.parent_path() : ".");
}

source source::from_text(std::string text, std::string name, std::filesystem::path folder)
{
  check_size(text.size(), k_largest_ir, name);
  auto const language = language_of(text, name);
  if (language == source_language::cuda) check_size(text.size(), k_largest_source, name);
  check_bitcode(text, name);
  if (!begins_as_bitcode(text)) check_text(text, name);
  source result(std::move(name), std::move(text), language);
  result.folder_ = std::move(folder);
  return result;
}

bool source::is_bitcode() const noexcept
{
  return begins_as_bitcode(text_);
}

bool is_source_name(std::filesystem::path const& path)
{
  auto const ending = path.extension();
  return ending == ".cu" || ending == ".ll" || ending == ".bc";
}

}  // namespace fatlink
