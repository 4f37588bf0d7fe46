// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/ir_signature.hpp"

#include <algorithm>

namespace fatlink::detail {
namespace {

constexpr std::string_view k_spaces = " \t\r\n";
constexpr std::string_view k_define = "define";
constexpr char const* k_unknown = "?";

std::string_view trim(std::string_view text)
{
  auto const start = text.find_first_not_of(k_spaces);
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(k_spaces) - start + 1);
}

/// The type that `word` spells, or "?".
std::string type_of(std::string_view word)
{
  if (word.ends_with('*') || word == "ptr") return "ptr";
  auto const is_name = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !word.empty() && std::all_of(word.begin(), word.end(), is_name) ? std::string(word)
                                                                         : k_unknown;
}

/// Of "float noundef %x": the type is first, attributes and the name follow.
std::string parameter_type(std::string_view text)
{
  if (text.find('*') != std::string_view::npos) return "ptr";
  return type_of(text.substr(0, text.find_first_of(k_spaces)));
}

/// The parameters between the parentheses that open before `text`.
std::vector<std::string> read_parameters(std::string_view text)
{
  std::vector<std::string> types;
  std::size_t start = 0;
  int depth = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto const letter = text[i];
    if (std::string_view("([{<").find(letter) != std::string_view::npos) ++depth;
    if (std::string_view(")]}>").find(letter) != std::string_view::npos) --depth;
    if (depth > 1 || (depth == 1 && letter != ',')) continue;
    auto const parameter = trim(text.substr(start, i - start));
    if (!parameter.empty()) types.push_back(parameter_type(parameter));
    if (depth == 0) return types;
    start = i + 1;
  }
  return types;
}

/// Of "define dso_local float @name(": attributes are before the type.
std::string result_type(std::string_view text)
{
  text = trim(text);
  return type_of(text.substr(text.find_last_of(k_spaces) + 1));
}

/// The type of the definition whose "define" ends before `text`, if its name is `name`. Only then
/// is more than a line read.
std::optional<ir_signature> read_definition(std::string_view text, std::string_view name)
{
  auto const at = text.find_first_of("@;\n");
  if (at == std::string_view::npos || text[at] != '@') return std::nullopt;
  auto rest = text.substr(at + 1);
  auto const is_quoted = rest.starts_with('"');
  if (is_quoted) rest.remove_prefix(1);
  if (!rest.starts_with(name)) return std::nullopt;
  rest.remove_prefix(name.size());
  if (!rest.starts_with(is_quoted ? "\"(" : "(")) return std::nullopt;
  return ir_signature{result_type(text.substr(0, at)),
                      read_parameters(rest.substr(is_quoted ? 2 : 1))};
}

/// Takes the next type off `mangled`: its name in LLVM IR, or "?".
std::string take_type(std::string_view& mangled)
{
  auto const is_pointer = mangled.starts_with('P');
  mangled.remove_prefix(std::min(mangled.find_first_not_of("PKV"), mangled.size()));
  if (mangled.empty()) return k_unknown;
  auto const letter = mangled.front();
  mangled.remove_prefix(1);
  if (std::string_view("vbcahstijlmxyfd").find(letter) == std::string_view::npos) {
    mangled = {};  // a class, an array: where it ends is not known
    return is_pointer ? "ptr" : k_unknown;
  }
  if (is_pointer) return "ptr";
  switch (letter) {
    case 'f':
      return "float";
    case 'd':
      return "double";
    case 'i':
    case 'j':
      return "i32";
    case 'l':
    case 'm':
    case 'x':
    case 'y':
      return "i64";
    case 'v':
      return "void";
    default:
      return k_unknown;  // narrow integers may be widened
  }
}

/// A pointer to what `mangled` begins with, for LLVM 7.
std::string typed_pointer(std::string_view mangled)
{
  mangled.remove_prefix(std::min(mangled.find_first_not_of("PKV"), mangled.size()));
  auto const pointee = take_type(mangled);
  return (pointee == k_unknown || pointee == "void" ? "i8" : pointee) + "*";
}

/// Whether `type` of LLVM IR is one that is compared.
bool is_compared(std::string_view type)
{
  constexpr std::string_view k_types[] = {"float", "double", "i32", "i64", "ptr", "void"};
  return std::find(std::begin(k_types), std::end(k_types), type) != std::end(k_types);
}

bool agree(std::string_view a, std::string_view b)
{
  auto const is_address = [](std::string_view type) { return type == "ptr" || type == "i64"; };
  return a == b || !is_compared(a) || !is_compared(b) || (is_address(a) && is_address(b));
}

}  // namespace

std::string to_string(ir_signature const& signature)
{
  auto text = signature.result + " (";
  for (auto const& parameter : signature.parameters) {
    if (&parameter != signature.parameters.data()) text += ", ";
    text += parameter;
  }
  return text + ")";
}

std::optional<ir_signature> find_ir_definition(std::string_view text, std::string_view name)
{
  for (std::size_t start = 0; start < text.size();) {
    auto const end = std::min(text.find('\n', start), text.size());
    auto const line = text.substr(start, end - start);
    auto const first = std::min(line.find_first_not_of(k_spaces), line.size());
    if (line.substr(first).starts_with(k_define))
      if (auto type = read_definition(text.substr(start + first + k_define.size()), name))
        return type;
    start = end + 1;
  }
  return std::nullopt;
}

bool agrees(ir_signature const& signature, std::string_view mangled)
{
  if (!mangled.starts_with('F')) return true;
  mangled.remove_prefix(1);
  if (!agree(signature.result, take_type(mangled))) return false;
  for (auto const& parameter : signature.parameters)
    if (!agree(parameter, take_type(mangled))) return false;
  return true;
}

std::optional<ir_signature> ir_signature_of(std::string_view mangled, bool is_opaque)
{
  if (!mangled.starts_with('F') || !mangled.ends_with('E')) return std::nullopt;
  mangled = mangled.substr(1, mangled.size() - 2);
  std::vector<std::string> types;
  while (!mangled.empty()) {
    auto const start = mangled;
    auto type = take_type(mangled);
    auto const is_double_pointer = start.starts_with("PP") || start.starts_with("PKP");
    if (type == k_unknown || is_double_pointer || (mangled.empty() && start.size() > 4))
      return std::nullopt;
    if (type == "ptr" && !is_opaque) type = typed_pointer(start);
    types.push_back(std::move(type));
  }
  if (types.empty()) return std::nullopt;
  ir_signature signature{.result = types.front()};
  if (types.size() != 2 || types[1] != "void")
    signature.parameters.assign(types.begin() + 1, types.end());
  return signature;
}

bool has_only_numbers(std::string_view mangled)
{
  return ir_signature_of(mangled, true) && mangled.find('P') == std::string_view::npos;
}

}  // namespace fatlink::detail
