// SPDX-License-Identifier: Apache-2.0
#include "cubin/architecture.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <string_view>

namespace fatlink::detail {
namespace {

using cuda_elf::k_abi;
using cuda_elf::k_abi_of_cuda_12;
constexpr std::uint32_t k_arch_specific = 0x800;  // with k_abi_of_cuda_12
constexpr unsigned k_oldest = 20;
constexpr unsigned k_first_with_suffix = 90;
constexpr std::string_view k_owner = "NVIDIA Corp";  // with its NUL
constexpr std::uint32_t k_tool_note = 2000;
constexpr std::uint32_t k_cuda_note = 1000;

/// The number at the beginning of `text`, which it skips; nothing if there is none.
std::optional<unsigned> skip_number(std::string_view& text)
{
  unsigned number = 0;
  auto const [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc{}) return {};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// Removes what stands before the end of `mark`, unless `text` lacks it.
bool skip_past(std::string_view& text, std::string_view mark)
{
  auto const position = text.find(mark);
  if (position == std::string_view::npos) return false;
  text.remove_prefix(position + mark.size());
  return true;
}

/// "Cuda compilation tools, release 13.0, V13.0.88" → 13.0
std::optional<cubin_toolkit> parse_release(std::string_view text)
{
  if (!skip_past(text, "release ")) return {};
  auto const major = skip_number(text);
  if (!major || !text.starts_with('.')) return {};
  text.remove_prefix(1);
  auto const minor = skip_number(text);
  if (!minor) return {};
  return cubin_toolkit{*major, *minor};
}

/// 130 → 13.0
std::optional<cubin_toolkit> toolkit_of(std::uint32_t version)
{
  if (version < 100) return {};
  return cubin_toolkit{version / 10, version % 10};
}

/// "-m 64 -arch sm_90a -c" → sm_90a; nothing for another suffix than `a` and `f`.
std::optional<target> parse_arch(std::string_view options)
{
  if (!skip_past(options, "-arch sm_")) return {};
  auto const number = skip_number(options);
  if (!number) return {};
  auto const suffix = options.substr(0, options.find(' '));
  if (suffix.empty()) return target(*number);
  if (suffix != "a" && suffix != "f") return {};
  return target(*number, suffix.front());
}

/// Returns the more restrictive suffix: `a`, then `f`, then none.
char stricter(char a, char b)
{
  if (a == 'a' || b == 'a') return 'a';
  return a == 'f' || b == 'f' ? 'f' : '\0';
}

class note_reader {
 public:
  note_reader(cubin_file const& file, cubin_architecture& architecture)
      : file_(file), architecture_(architecture)
  {
  }

  void read()
  {
    for (auto const& section : file_.sections())
      if (section.type == SHT_NOTE) read_section(section);
  }

 private:
  // u32 name size, u32 description size, u32 type; name and description, each padded to 4 bytes.
  void read_section(elf_section const& section)
  try {
    auto const padded = [](std::uint64_t size) { return (size + 3) / 4 * 4; };
    byte_reader const notes(file_.content(section));
    for (std::uint64_t offset = 0; offset < notes.size();) {
      auto const name_size = notes.read<std::uint32_t>(offset);
      auto const size = notes.read<std::uint32_t>(offset + 4);
      auto const name = offset + sizeof(Elf64_Nhdr);
      auto const description = name + padded(name_size);
      auto const bytes = notes.view(description, size);
      auto const type = notes.read<std::uint32_t>(offset + 8);
      if (name_size == k_owner.size() + 1 && notes.text(name, k_owner.size()) == k_owner)
        read_note(type, byte_reader(bytes), section.offset + description);
      offset = description + padded(size);
    }
  } catch (out_of_bytes const& end) {
    throw elf_error{section.offset + end.offset, "a note past the end of its section"};
  }

  /// `place`: where the note's description is in the file.
  void read_note(std::uint32_t type, byte_reader const& note, std::uint64_t place)
  try {
    // Of 8 bytes, or of 6 in cubins of the assembler that some of NVIDIA's libraries use.
    if (type == k_cuda_note) add_toolkit(toolkit_of(note.read<std::uint16_t>(4)));
    if (type != k_tool_note) return;
    add_toolkit(parse_release(text(note, 3)));
    auto const arch = parse_arch(text(note, 5));
    if (!arch || arch->number() != architecture_.target.number()) return;
    auto const suffix = stricter(architecture_.target.suffix(), arch->suffix());
    architecture_.target = target(arch->number(), suffix);
    architecture_.has_exact_target = true;
  } catch (out_of_bytes const& end) {
    throw elf_error{place + end.offset, "a note whose text is past its end"};
  }

  /// The text whose offset is the number at `position` of a note of type k_tool_note.
  static std::string_view text(byte_reader const& note, std::uint64_t position)
  {
    constexpr std::uint64_t k_texts = 24;
    auto const offset = k_texts + note.read<std::uint32_t>(position * 4);
    auto const bytes = note.view(offset, note.size() - std::min(offset, note.size()));
    std::string_view const rest(reinterpret_cast<char const*>(bytes.data()), bytes.size());
    return rest.substr(0, rest.find('\0'));
  }

  /// Keeps the newest.
  void add_toolkit(std::optional<cubin_toolkit> toolkit)
  {
    architecture_.toolkit = std::max(architecture_.toolkit, toolkit);
  }

  cubin_file const& file_;
  cubin_architecture& architecture_;
};

}  // namespace

unsigned architecture_number(elf_reader const& elf)
{
  return (elf.os_abi() == k_abi ? elf.flags() >> 8U : elf.flags()) & 0xFFU;
}

cubin_architecture read_architecture(cubin_file const& file)
{
  auto const& elf = file.elf();
  if (elf.os_abi() != k_abi && elf.os_abi() != k_abi_of_cuda_12)
    throw elf_error{EI_OSABI, "an ABI that is not known"};
  auto const number = architecture_number(elf);
  if (number < k_oldest)
    throw elf_error{offsetof(Elf64_Ehdr, e_flags), "an architecture that is not known"};
  cubin_architecture architecture{.target = target(number),
                                  .has_exact_target = number < k_first_with_suffix};
  if (elf.os_abi() == k_abi) {
    note_reader(file, architecture).read();
  } else {
    architecture.target = target(number, (elf.flags() & k_arch_specific) != 0 ? 'a' : '\0');
    architecture.has_exact_target = true;
    architecture.toolkit = toolkit_of(elf.version());
  }
  return architecture;
}

}  // namespace fatlink::detail
