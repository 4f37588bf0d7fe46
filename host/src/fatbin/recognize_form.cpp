// SPDX-License-Identifier: Apache-2.0
#include "fatbin/recognize_form.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "cubin/cubin.hpp"
#include "util/bytes/byte_reader.hpp"
#include "util/bytes/elf_reader.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

bool has_section(elf_reader const& elf, char const* name)
{
  for (std::uint32_t index = 0; index < elf.section_count(); ++index)
    if (elf.has_name(elf.section(index), name)) return true;
  return false;
}

std::string describe_device_code(elf_reader const& elf)
try {
  if (has_section(elf, "__nv_relfatbin"))
    return " with relocatable device code (section __nv_relfatbin)";
  if (has_section(elf, ".nv_fatbin")) return " with whole-program device code (section .nv_fatbin)";
  return " without device code";
} catch (out_of_bytes const&) {
  return ", truncated";
} catch (elf_error const&) {
  return " without device code";
}

std::string describe_type(std::uint16_t type)
{
  if (type == ET_REL) return "relocatable object";
  return type == ET_EXEC ? "executable" : type == ET_DYN ? "executable or shared library" : "file";
}

std::string describe_machine(std::uint16_t machine)
{
  return machine == EM_X86_64    ? "x86-64"
         : machine == EM_AARCH64 ? "AArch64"
                                 : detail::format("machine {}", machine);
}

std::string describe_cubin(elf_reader const& elf)
{
  auto const sm = architecture_number(elf);
  if (elf.type() == ET_REL) return detail::format("a relocatable CUDA cubin for sm_{}", sm);
  return detail::format("a CUDA cubin for sm_{} (whole program, cannot be linked)", sm);
}

/// By the header's machine, which files of every class and byte order have at one place.
bool is_cubin(bytes_view bytes)
{
  constexpr auto k_machine = offsetof(Elf64_Ehdr, e_machine);
  return bytes.size() >= k_machine + 2 &&
         byte_reader(bytes).read<std::uint16_t>(k_machine) == k_elf_machine_cuda;
}

/// Whether fatlink pack may make a fatbin of it.
bool is_packable(elf_reader const& elf)
{
  return elf.type() == ET_REL &&
         (elf.machine() == k_elf_machine_cuda || has_section(elf, "__nv_relfatbin"));
}

std::string describe_elf(elf_reader const& elf)
{
  if (elf.machine() == k_elf_machine_cuda) return describe_cubin(elf);
  return detail::format("an ELF {} ({}){}", describe_type(elf.type()),
                        describe_machine(elf.machine()), describe_device_code(elf));
}

}  // namespace

file_form recognize_elf(bytes_view bytes)
{
  auto const kind = is_cubin(bytes) ? file_kind::cubin : file_kind::object;
  try {
    elf_reader const elf(bytes);
    return {kind, describe_elf(elf), is_packable(elf) ? k_pack_remedy : k_compile_remedy};
  } catch (elf_error const&) {
    return {kind, "an ELF file that is not 64-bit little-endian", k_compile_remedy};
  } catch (out_of_bytes const&) {
    return {kind, "a truncated ELF file", k_compile_remedy};
  }
}

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

namespace {

using namespace std::string_view_literals;

constexpr auto k_fatbin_magic = "\x50\xED\x55\xBA"sv;
constexpr char const* k_unpack = "unpack it and pass the .fatbin";

struct magic {
  file_kind kind;
  std::string_view bytes;
  char const* description;
  char const* remedy;
};

// The first match wins: a Debian package is an ar archive.
constexpr std::array k_magics{
    magic{file_kind::other, "!<arch>\ndebian-binary"sv, "a Debian package", "install it with apt"},
    magic{file_kind::archive, "!<arch>\n"sv, "an ar archive", k_pack_remedy},
    magic{file_kind::archive, "!<thin>\n"sv, "a thin ar archive", k_compile_remedy},
    magic{file_kind::other, "\xED\xAB\xEE\xDB"sv, "an RPM package", "install it with dnf"},
    magic{file_kind::nvvm_ir, "BC\xC0\xDE"sv, "LLVM bitcode", k_compile_remedy},
    magic{file_kind::nvvm_ir, "\xDE\xC0\x17\x0B"sv, "LLVM bitcode", k_compile_remedy},
    magic{file_kind::other, "\x93NUMPY"sv, "a .npy file",
          "<pass it as the elements of a run>, not as a fatbin"},
    magic{file_kind::other, "PK\x03\x04"sv, "a zip archive", k_unpack},
    magic{file_kind::other, "\x1F\x8B"sv, "gzip-compressed data",
          "decompress it and pass the .fatbin"},
    magic{file_kind::other, "\x28\xB5\x2F\xFD"sv, "zstd-compressed data",
          "decompress it and pass the .fatbin"},
    magic{file_kind::other,
          "\xFD"
          "7zXZ"sv,
          "xz-compressed data", "decompress it and pass the .fatbin"},
};

/// Raw LTO-IR: u32 magic 0x7F4E43ED, u8 container version major and minor at 4, u16 tag and value
/// pairs from 0x18, of which the first is tag 1: the architecture times 10.
/// Source: no public specification; observed with nvcc 12.9 to 13.5.
constexpr auto k_ltoir_start = "\xED\x43\x4E\x7F"sv;

file_form describe_ltoir(byte_reader const& bytes)
try {
  auto const major = bytes.read<std::uint8_t>(4);
  auto const minor = bytes.read<std::uint8_t>(5);
  auto const has_target = bytes.read<std::uint16_t>(0x18) == 1;
  auto const target = has_target
                          ? detail::format(" for sm_{}", bytes.read<std::uint16_t>(0x1A) / 10)
                          : std::string{};
  return {file_kind::ltoir,
          detail::format("raw LTO-IR{} (container version {}.{})", target, major, minor),
          k_pack_remedy};
} catch (out_of_bytes const&) {
  return {file_kind::ltoir, "truncated raw LTO-IR", k_compile_remedy};
}

/// POSIX tar has its magic in the header of the first member, at 257.
bool is_tar(byte_reader const& bytes)
{
  return bytes.size() >= 512 && bytes.text(257, 5) == "ustar";
}

file_form describe_unknown(bytes_view bytes)
{
  auto const is_zero = [](std::byte value) { return value == std::byte{0}; };
  if (std::all_of(bytes.begin(), bytes.end(), is_zero))
    return {file_kind::other, detail::format("{} zero bytes", bytes.size()),
            "the copy or download is incomplete: get the file again"};
  std::string head;
  for (auto const value : bytes.first(std::min<std::size_t>(bytes.size(), 4)))
    head += detail::format(" {:02x}", std::to_integer<unsigned>(value));
  return {file_kind::other, detail::format("unknown data that begins with{}", head),
          k_compile_remedy};
}

}  // namespace

file_form recognize_form(bytes_view bytes)
{
  byte_reader const reader(bytes);
  auto const head = reader.text(0, std::min<std::uint64_t>(reader.size(), 64));
  if (head.starts_with("\x7F"
                       "ELF"))
    return recognize_elf(bytes);
  if (head.starts_with(k_fatbin_magic)) return {file_kind::fatbin, "a fatbin", ""};
  if (k_fatbin_magic.starts_with(head))
    return {file_kind::other, detail::format("the first {} bytes of a fatbin", bytes.size()),
            "copy or build it again in full"};
  if (head.starts_with(k_ltoir_start)) return describe_ltoir(reader);
  for (auto const& magic : k_magics)
    if (head.starts_with(magic.bytes)) return {magic.kind, magic.description, magic.remedy};
  if (is_tar(reader)) return {file_kind::other, "a tar archive", k_unpack};
  auto text = recognize_text(bytes);
  return text.description.empty() ? describe_unknown(bytes) : text;
}

}  // namespace fatlink::detail
