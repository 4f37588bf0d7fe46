// SPDX-License-Identifier: Apache-2.0
// Text files: PTX, LLVM IR, CUDA C++, JSON, HTML, and what version control leaves in their place.
#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>

#include "fatbin/recognize_form.hpp"
#include "util/bytes/byte_reader.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

using namespace std::string_view_literals;

constexpr std::uint64_t k_most_read = 65536;

bool is_text(std::string_view head)
{
  return std::none_of(head.begin(), head.end(), [](char letter) {
    auto const code = static_cast<unsigned char>(letter);
    return (code < 0x20 && code != '\n' && code != '\r' && code != '\t' && code != '\f') ||
           code == 0x7F;
  });
}

std::string_view skip_space(std::string_view text)
{
  auto const start = text.find_first_not_of(" \t\r\n\f");
  return start == std::string_view::npos ? std::string_view{} : text.substr(start);
}

/// `text` from the first character that is neither white space nor in a // or /* comment.
std::string_view skip_comments(std::string_view text)
{
  for (text = skip_space(text); text.starts_with("//") || text.starts_with("/*");
       text = skip_space(text)) {
    std::string_view const close = text.starts_with("//") ? "\n" : "*/";
    auto const end = text.find(close, 2);
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + close.size());
  }
  return text;
}

/// "9.0" of ".version 9.0\n…".
std::string ptx_version(std::string_view statement)
{
  statement = skip_space(statement.substr(std::string_view(".version").size()));
  return std::string(
      statement.substr(0, std::min<std::size_t>(statement.find_first_not_of("0123456789."), 8)));
}

bool is_nvvm_ir(std::string_view text)
{
  return text.starts_with("; ModuleID") || text.starts_with("source_filename") ||
         text.starts_with("target datalayout") || text.starts_with("target triple");
}

bool contains_any(std::string_view text, std::initializer_list<std::string_view> words)
{
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

/// PTX whose first statement is damaged or missing is PTX all the same.
constexpr std::array k_ptx_directives{
    ".target"sv, ".address_size"sv, ".visible"sv, ".extern"sv, ".weak"sv, ".common"sv,
    ".func"sv,   ".entry"sv,        ".global"sv,  ".const"sv,  ".file"sv, ".shared"sv,
};

file_form describe_ptx(std::string_view text)
{
  auto const statement = skip_comments(text);
  if (statement.starts_with(".version"))
    return {file_kind::ptx, detail::format("PTX text of version {}", ptx_version(statement)),
            k_pack_remedy};
  auto const begins = [&](std::string_view directive) { return statement.starts_with(directive); };
  if (std::any_of(k_ptx_directives.begin(), k_ptx_directives.end(), begins))
    return {file_kind::ptx, "PTX text without .version", k_compile_remedy};
  return {};
}

file_form describe_text(std::string_view text)
{
  if (is_nvvm_ir(text)) return {file_kind::nvvm_ir, "LLVM IR text", k_compile_remedy};
  if (text.starts_with("version https://git-lfs"))
    return {file_kind::other, "a Git LFS pointer",
            "fetch the file that it stands for: git lfs pull"};
  if (text.starts_with("{") || text.starts_with("["))
    return {file_kind::other, "JSON text", "pass the .fatbin beside it"};
  if (text.starts_with("<"))
    return {file_kind::other, "HTML text",
            "a server answered with a page: download the .fatbin itself"};
  if (contains_any(text, {"__device__", "__global__", "#include", "extern \"C\""}))
    return {file_kind::source, "CUDA C++ source", k_compile_remedy};
  return {file_kind::other, "text", k_compile_remedy};
}

}  // namespace

file_form recognize_text(bytes_view bytes)
{
  byte_reader const reader(bytes);
  auto text = reader.text(0, std::min(reader.size(), k_most_read));
  text.erase(text.find_last_not_of('\0') + 1);  // NVRTC ends PTX with a NUL
  if (auto ptx = describe_ptx(text); ptx.kind == file_kind::ptx) return ptx;
  return !text.empty() && is_text(text) ? describe_text(skip_space(text)) : file_form{};
}

}  // namespace fatlink::detail
