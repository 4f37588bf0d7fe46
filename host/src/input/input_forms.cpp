// SPDX-License-Identifier: Apache-2.0
#include "input/input_forms.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "fatbin/recognize_form.hpp"
#include "fatbin/write_fatbin.hpp"
#include "fatlink/fatbin.hpp"
#include "input/archive.hpp"
#include "input/bare_entries.hpp"
#include "input/ltoir.hpp"
#include "input/object.hpp"
#include "input/refuse.hpp"
#include "util/bytes/byte_reader.hpp"
#include "util/limits.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr char const* k_forms = "fatbin, ptx, ltoir, cubin, object, archive, source or nvvm-ir";
constexpr char const* k_compile_hint =
    "pass a fatbin, PTX, raw LTO-IR, a cubin, an object or an archive; nvcc -dlto -fatbin "
    "-arch=sm_75 FILE.cu -o FILE.fatbin makes a fatbin";
constexpr char const* k_source_hint =
    "<compile it first with fatlink::compiler>, or: nvcc -dlto -fatbin -arch=sm_75 FILE.cu "
    "-o FILE.fatbin";
constexpr char const* k_nvvm_ir_hint =
    "<compile it first with fatlink::compiler>, or with clang to PTX";

std::optional<input_form> form_of(file_kind kind)
{
  switch (kind) {
    case file_kind::fatbin:
      return input_form::fatbin;
    case file_kind::ptx:
      return input_form::ptx;
    case file_kind::ltoir:
      return input_form::ltoir;
    case file_kind::cubin:
      return input_form::cubin;
    case file_kind::object:
      return input_form::object;
    case file_kind::archive:
      return input_form::archive;
    case file_kind::source:
    case file_kind::nvvm_ir:
    case file_kind::other:
      break;
  }
  return std::nullopt;
}

[[noreturn]] void refuse_source(file_form const& form, std::string_view name)
{
  auto const is_source = form.kind == file_kind::source;
  refuse_input(error_code::unknown_form, name,
               detail::format("is {} (form {}), which is not linked before it is compiled",
                              form.description, is_source ? "source" : "nvvm-ir"),
               is_source ? k_source_hint : k_nvvm_ir_hint);
}

[[noreturn]] void refuse_form(file_form const& form, std::string_view name)
{
  if (form.kind != file_kind::other) refuse_source(form, name);
  refuse_input(error_code::unknown_form, name,
               detail::format("is {}, none of the forms {}", form.description, k_forms),
               form.remedy == k_compile_remedy ? k_compile_hint : form.remedy);
}

}  // namespace

std::optional<input_form> recognize(bytes_view bytes)
{
  return bytes.empty() ? std::nullopt : form_of(recognize_form(bytes).kind);
}

input_form require_form(bytes_view bytes, std::string_view name)
{
  if (bytes.empty())
    refuse_input(error_code::empty_input, name, "the file is empty",
                 "build it again, or copy it again in full");
  auto const form = recognize_form(bytes);
  if (auto const known = form_of(form.kind)) return *known;
  refuse_form(form, name);
}

namespace {

bool is_digit(char letter)
{
  return letter >= '0' && letter <= '9';
}

/// The digits that `name` ends with, after `mark`; removes both. Empty where there are none.
std::string_view take_number(std::string_view& name, char mark)
{
  auto const position = name.rfind(mark);
  if (position == std::string_view::npos) return {};
  auto const digits = name.substr(position + 1);
  if (digits.empty() || !std::ranges::all_of(digits, is_digit)) return {};
  name.remove_suffix(digits.size() + 1);
  return digits;
}

/// The position of the parenthesis that the last character closes; npos where none does.
std::size_t find_opening(std::string_view name)
{
  std::size_t depth = 0;
  for (auto position = name.size(); position-- > 0;) {
    if (name[position] == ')') ++depth;
    if (name[position] == '(' && --depth == 0) return position;
  }
  return std::string_view::npos;
}

}  // namespace

module_name parse_module_name(std::string_view name) noexcept
{
  if (name.ends_with(']')) {
    auto unit = name.substr(0, name.size() - 1);
    if (!take_number(unit, '[').empty()) name = unit;
  }
  if (!name.ends_with(')')) return {.file = name};
  auto const opening = find_opening(name);
  if (opening == std::string_view::npos || opening == 0) return {.file = name};
  auto member = name.substr(opening + 1, name.size() - opening - 2);
  auto const count = take_number(member, '#');
  return {.file = name.substr(0, opening), .member = member, .count = count};
}

std::string name_member(std::string_view file, std::string_view member, std::size_t count)
{
  return count == 1 ? detail::format("{}({})", file, member)
                    : detail::format("{}({}#{})", file, member, count);
}

namespace {

constexpr char const* k_split_file = "split it into several files, each with fewer sources";

byte_buffer copy(bytes_view bytes)
{
  return {bytes.begin(), bytes.end()};
}

/// Whether the name of a member promises code, and its bytes are of no kind that is known: it is
/// not left out, because a transform would be missing without a word. Others are: empty objects,
/// LLVM bitcode of the host's compiler, source and documents.
bool is_damaged(archive_member const& member)
{
  constexpr std::array k_endings{".o", ".cubin", ".fatbin", ".ptx", ".ltoir"};
  auto const has_ending = [&](char const* ending) { return member.name.ends_with(ending); };
  return !member.bytes.empty() && std::any_of(k_endings.begin(), k_endings.end(), has_ending) &&
         recognize_form(member.bytes).kind == file_kind::other;
}

class module_reader {
 public:
  explicit module_reader(std::string const& name) : name_(name) {}

  std::vector<module_bytes> read(bytes_view bytes, input_form form)
  {
    read_file(bytes, form, name_);
    if (modules_.empty()) refuse_empty(form == input_form::archive);
    return std::move(modules_);
  }

 private:
  /// Of the input itself, as an archive is never a member.
  void read_members(bytes_view bytes)
  {
    std::map<std::string, std::size_t> counts;
    for (auto const& member : read_archive(bytes, name_)) {
      auto const name = name_member(name_, member.name, ++counts[member.name]);
      auto const form = recognize(member.bytes);
      if (form == input_form::archive)
        refuse_input(error_code::unknown_form, name, "is an archive inside an archive",
                     "unpack it with ar x, and pass its members or the inner archive");
      if (form)
        read_file(member.bytes, *form, name);
      else if (is_damaged(member))
        (void)require_form(member.bytes, name);
    }
  }

  void read_file(bytes_view bytes, input_form form, std::string const& name)
  {
    switch (form) {
      case input_form::fatbin:
        return add_containers(split_containers(bytes), name);
      case input_form::ptx:
        return add(name, write_fatbin(ptx_entry(read_ptx_text(bytes, name)), name));
      case input_form::ltoir:
        return add(name, write_fatbin(ltoir_entry(bytes, read_ltoir_header(bytes, name)), name));
      case input_form::cubin:
        return add(name, write_fatbin(cubin_entry(bytes, name), name));
      case input_form::object:
        return add_units(read_object(bytes, name), name);
      case input_form::archive:
        return read_members(bytes);
    }
  }

  void add_units(object_code const& code, std::string const& name)
  {
    has_whole_program_ |= code.has_whole_program;
    has_host_lto_ |= code.has_host_lto;
    add_containers(code.containers, name);
  }

  void add_containers(std::vector<bytes_view> const& containers, std::string const& name)
  {
    auto const is_one = containers.size() == 1;
    for (auto const& container : containers)
      add(is_one ? name : detail::format("{}[{}]", name, &container - containers.data() + 1),
          copy(container));
  }

  void add(std::string name, byte_buffer bytes)
  {
    if (modules_.size() == limits::k_modules)
      refuse_input(error_code::above_limit, name_,
                   detail::format("holds more than {} modules, the limit", limits::k_modules),
                   k_split_file);
    for (auto const& entry : read_fatbin(bytes, name)) {
      size_in_all_ += entry.uncompressed_size;
      if (size_in_all_ > limits::k_input_bytes)
        refuse_input(error_code::above_limit, name_,
                     "its entries are above 4 GiB once decompressed, the limit for an input",
                     k_split_file);
    }
    modules_.push_back({std::move(name), std::move(bytes)});
  }

  [[noreturn]] void refuse_empty(bool is_archive) const
  {
    if (has_whole_program_)
      refuse_without_device_code(
          name_, "its device code (section .nv_fatbin) is a whole program and cannot be linked");
    if (has_host_lto_) refuse_host_lto(name_);
    refuse_without_device_code(name_, is_archive ? "no member holds device code that can be linked"
                                                 : "holds no device code");
  }

  std::string const& name_;
  std::vector<module_bytes> modules_;
  std::uint64_t size_in_all_ = 0;  ///< of entries, once decompressed
  bool has_whole_program_ = false;
  bool has_host_lto_ = false;
};

}  // namespace

std::vector<bytes_view> split_containers(bytes_view fatbin)
try {
  byte_reader const reader(fatbin);
  std::vector<bytes_view> containers;
  for (std::uint64_t offset = 0;
       offset < reader.size() && containers.size() <= limits::k_modules;) {
    if (reader.read<std::uint32_t>(offset) != layout::k_magic) return {fatbin};
    auto const length = reader.read<std::uint64_t>(offset + 8);
    (void)reader.view(offset + layout::k_container_header, length);
    auto const size = layout::k_container_header + length;
    if (length != 0) containers.push_back(reader.view(offset, size));
    offset += size;
  }
  return containers.empty() ? std::vector{fatbin} : containers;
} catch (out_of_bytes const&) {
  return {fatbin};  // read_fatbin() says what is damaged
}

std::vector<module_bytes> read_modules(bytes_view bytes, input_form form, std::string const& name)
{
  return module_reader(name).read(bytes, form);
}

}  // namespace fatlink::detail
