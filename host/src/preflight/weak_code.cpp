// SPDX-License-Identifier: Apache-2.0
// Whether the weak definitions of one name are equal. nvcc makes inline functions, members,
// templates and inline variables weak; a link keeps one definition of a name for all inputs, and
// nvJitLink reports nothing where they differ. So a plug-in's `inline float scale(float)` may run
// that of another plug-in.
#include <map>
#include <optional>
#include <utility>

#include "fatbin/ident.hpp"
#include "preflight/entries.hpp"
#include "preflight/findings.hpp"
#include "preflight/symbols.hpp"
#include "ptx/ptx_code.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

/// Whether CUDA's own headers define the function: namespaces cuda, cub, thrust and nvcuda, and the
/// functions of the device runtime (__nv_, __half).
bool is_of_cuda(std::string_view name)
{
  for (std::string_view const part :
       {"4cuda", "3cub", "6thrust", "6nvcuda", "17cooperative_groups", "6__half", "7__half2"})
    for (std::string_view const begin : {"_ZN", "_ZNK", "_ZNV", "_ZTVN"})
      if (name.starts_with(begin) && name.substr(begin.size()).starts_with(part)) return true;
  return name.starts_with("__nv_");
}

/// "scale(float)", with the mangled name behind it; names with C linkage as they are.
std::string readable_name(std::string const& symbol)
{
  auto const text = symbol.starts_with("_Z") ? demangle(symbol) : std::string();
  return text.empty() ? symbol : detail::format("{} ({})", text, symbol);
}

/// The PTX of an input, read when it is first needed.
class module_codes {
 public:
  explicit module_codes(preflight_request const& request) : request_(request) {}

  struct contents {
    std::string origin;
    std::map<std::string, std::string, std::less<>> code;
  };

  /// Nothing for an input without PTX of what is linked.
  std::optional<contents> const& of(preflight_input const& input)
  {
    auto const [entry, is_new] = codes_.try_emplace(&input);
    auto const* const readable = readable_entry(*input.file, choice_of(request_));
    if (is_new && readable != nullptr && readable->kind == entry_kind::ptx) {
      auto const text = read_ptx(*readable, input.file->name());
      entry->second = contents{std::string(read_ptx_origin(text)),
                               read_ptx_code(text, input.file->name(), name_scope::module)};
    }
    return entry->second;
  }

 private:
  preflight_request const& request_;
  std::map<preflight_input const*, std::optional<contents>> codes_;
};

/// The inputs that define a name weakly, each once.
std::vector<preflight_input const*> weak_definers(symbol_group const& group)
{
  std::vector<preflight_input const*> inputs;
  auto const add = [&](preflight_input const& input, bool is_weak) {
    if (is_weak && (inputs.empty() || inputs.back() != &input)) inputs.push_back(&input);
  };
  for (auto const& symbol : group.functions)
    add(*symbol.input, symbol.role != symbol_role::hook && symbol.function->is_weak);
  for (auto const& symbol : group.variables)
    add(*symbol.input, !symbol.is_external && symbol.variable->is_weak);
  return inputs;
}

std::string const& name_of(symbol_group const& group)
{
  return group.functions.empty() ? group.variables.front().variable->name
                                 : group.functions.front().function->name;
}

/// The finding for the definitions of one name in `a` and `b`; nothing if they are equal, or if an
/// lto link compares them.
std::optional<finding> compare(std::string const& name, preflight_input const& a,
                               preflight_input const& b, preflight_request const& request,
                               module_codes& codes)
{
  auto const& own = codes.of(a);
  auto const& other = codes.of(b);
  if (!own || !other) return {};
  auto const mine = own->code.find(name);
  auto const theirs = other->code.find(name);
  if (mine == own->code.end() || theirs == other->code.end() || mine->second == theirs->second)
    return {};
  auto found = weak_mismatch(name, a.file->name(), b.file->name());
  if (own->origin == other->origin) return found;
  if (request.mode == link_mode::lto) return {};
  found.severity = severity::warning;
  found.message +=
      "; they were compiled by different compilers or for different architectures, "
      "which may be the reason";
  return found;
}

}  // namespace

finding weak_mismatch(std::string const& symbol, std::string const& a, std::string const& b)
{
  return {.id = finding_id::weak_mismatch,
          .severity = is_of_cuda(symbol) ? severity::warning : severity::error,
          .files = {a, b},
          .symbol = symbol,
          .message = detail::format("{} and {} define {} with different code, and a link keeps one "
                                    "of the two for both",
                                    a, b, readable_name(symbol)),
          .hint = "make it private in one of them: static, or in an anonymous namespace"};
}

void check_weak_code(preflight_inputs const& inputs, symbol_index const& symbols,
                     preflight_request const& request, std::vector<finding>& findings)
{
  if (inputs.size() < 2 || request.mode == link_mode::sass) return;
  module_codes codes(request);
  finding_limit mismatches(findings);
  for (auto const& group : symbols.groups()) {
    if (group.has(symbol_role::definition)) continue;  // it replaces all weak ones
    auto const definers = weak_definers(group);
    for (std::size_t index = 1; index < definers.size(); ++index)
      if (auto found =
              compare(name_of(group), *definers.front(), *definers[index], request, codes)) {
        mismatches.add([&] { return *found; });
        break;
      }
  }
  mismatches.finish();
}

}  // namespace fatlink::detail
