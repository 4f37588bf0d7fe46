// SPDX-License-Identifier: Apache-2.0
// Which entry of an input a link takes, and whether it can be linked: its kind, architecture, float
// flags and digests.
#include "preflight/entries.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fatbin/entry_facts.hpp"
#include "input/input_forms.hpp"
#include "preflight/findings.hpp"
#include "preflight/rules.hpp"
#include "util/process/immortal.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace {

constexpr std::array k_lto_kinds{entry_kind::ltoir, entry_kind::ptx, entry_kind::elf};
constexpr std::array k_ptx_kinds{entry_kind::ptx, entry_kind::elf};
constexpr std::array k_sass_kinds{entry_kind::elf};

std::span<entry_kind const> all_kinds(link_mode mode) noexcept
{
  switch (mode) {
    case link_mode::lto:
      return k_lto_kinds;
    case link_mode::ptx:
      return k_ptx_kinds;
    case link_mode::sass:
      break;
  }
  return k_sass_kinds;
}

/// SASS links for exactly its own target: sm_90a code does not run wherever sm_90 code does, though
/// nvJitLink takes one for the other.
fatbin_entry const* find_sass(fatbin const& input, target link_target) noexcept
{
  auto const& entries = input.entries();
  auto const entry = std::find_if(entries.begin(), entries.end(), [&](fatbin_entry const& sass) {
    return sass.kind == entry_kind::elf && sass.target == link_target && shows_interface(sass);
  });
  return entry == entries.end() ? nullptr : &*entry;
}

fatbin_entry const* find_entry(fatbin const& input, entry_kind kind, target link_target) noexcept
{
  return kind == entry_kind::elf ? find_sass(input, link_target) : input.find(kind, link_target);
}

/// Whether the ident states that the PTX beside `ltoir` is from another file.
bool is_stated_opaque(fatbin const& input, fatbin_entry const& ltoir)
{
  if (!input.ident() || input.ident()->opaque.empty()) return false;
  auto const& opaque = input.ident()->opaque;
  return std::find(opaque.begin(), opaque.end(), ltoir.target.name()) != opaque.end();
}

/// The PTX entry that states the types of `ltoir`; null if none or several have its architecture.
fatbin_entry const* find_ptx_of(fatbin const& input, fatbin_entry const& ltoir) noexcept
try {
  if (is_stated_opaque(input, ltoir)) return nullptr;
  fatbin_entry const* ptx = nullptr;
  for (auto const& entry : input.entries()) {
    if (entry.target != ltoir.target || &entry == &ltoir) continue;
    if (entry.kind != entry_kind::ltoir && entry.kind != entry_kind::ptx) continue;
    if (entry.kind == entry_kind::ltoir || ptx != nullptr) return nullptr;
    ptx = &entry;
  }
  return ptx;
} catch (std::exception const&) {
  return nullptr;  // out of memory: types count as unknown
}

fatbin_entry const* last_of(fatbin const& input, entry_kind kind) noexcept
{
  fatbin_entry const* last = nullptr;
  for (auto const& entry : input.entries())
    if (entry.kind == kind && shows_interface(entry)) last = &entry;
  return last;
}

/// An entry whose interface can be read: PTX that links for `link_target`, else any PTX, else SASS.
fatbin_entry const* find_readable(fatbin const& input, target link_target) noexcept
{
  if (auto const* ptx = input.find(entry_kind::ptx, link_target); ptx != nullptr) return ptx;
  if (auto const* ptx = last_of(input, entry_kind::ptx); ptx != nullptr) return ptx;
  return last_of(input, entry_kind::elf);
}

}  // namespace

entry_kind detail::kind_of(link_mode mode) noexcept
{
  return all_kinds(mode).front();
}

std::span<entry_kind const> detail::kinds_of(entry_choice const& choice) noexcept
{
  auto const kinds = all_kinds(choice.mode);
  return choice.allow_calls ? kinds : kinds.first(1);
}

bool detail::states_float_flags(fatbin_entry const& entry) noexcept
{
  return fatlink::states_float_flags(entry.options);
}

char const* detail::kind_text(entry_kind kind) noexcept
{
  switch (kind) {
    case entry_kind::ptx:
      return "PTX";
    case entry_kind::ltoir:
      return "LTO-IR";
    case entry_kind::tileir:
      return "Tile IR";
    case entry_kind::elf:
      break;
  }
  return "SASS";
}

fatbin_entry const* linked_entry(fatbin const& input, entry_choice const& choice) noexcept
{
  for (auto const kind : detail::kinds_of(choice))
    if (auto const* entry = find_entry(input, kind, choice.target); entry != nullptr) return entry;
  return nullptr;
}

bool is_opaque(fatbin const& input, entry_choice const& choice) noexcept
{
  auto const* entry = linked_entry(input, choice);
  return entry != nullptr && entry->kind == entry_kind::ltoir &&
         find_ptx_of(input, *entry) == nullptr;
}

fatbin_entry const* detail::readable_entry(fatbin const& input, entry_choice const& choice) noexcept
{
  auto const* linked = linked_entry(input, choice);
  if (linked == nullptr) return find_readable(input, choice.target);
  return linked->kind == entry_kind::ltoir ? find_ptx_of(input, *linked) : linked;
}

ptx_interface const& interface_of(fatbin const& input, entry_choice const& choice)
{
  static detail::immortal<ptx_interface const> const empty;
  auto const* readable = detail::readable_entry(input, choice);
  return readable == nullptr ? empty.get() : input.interface(*readable);
}

}  // namespace fatlink

namespace fatlink::detail {
namespace {

std::vector<std::string> targets_of(fatbin const& input, entry_kind kind)
{
  std::vector<std::string> names;
  for (auto const& entry : input.entries())
    if (entry.kind == kind) names.push_back(entry.target.name());
  return names;
}

bool all_specific(fatbin const& input, entry_kind kind)
{
  for (auto const& entry : input.entries())
    if (entry.kind == kind && entry.target.suffix() == 0) return false;
  return true;
}

char const* api_name(link_mode mode)
{
  switch (mode) {
    case link_mode::lto:
      return "<link_mode::lto>";
    case link_mode::ptx:
      return "<link_mode::ptx>";
    case link_mode::sass:
      break;
  }
  return "<link_mode::sass>";
}

/// What links all inputs, among them `input`, as they are, as advice: "link in ptx mode
/// (link_mode::ptx), set link_options::allow_calls where a cubin is linked, or ".
std::string alternatives(preflight_inputs const& inputs, fatbin const& input,
                         entry_choice const& choice)
{
  auto const all_link_in = [&](link_mode mode) {
    return std::ranges::all_of(inputs, [&](preflight_input const& other) {
      return linked_entry(*other.file, {choice.target, mode}) != nullptr;
    });
  };
  std::string advice;
  for (auto const mode : {link_mode::lto, link_mode::ptx, link_mode::sass})
    if (mode != choice.mode && all_link_in(mode))
      advice += detail::format("{}{} mode ({}), ", advice.empty() ? "link in " : "or ",
                               to_string(mode), api_name(mode));
  auto with_calls = choice;
  with_calls.allow_calls = true;
  if (choice.mode != link_mode::sass && !choice.allow_calls &&
      linked_entry(input, with_calls) != nullptr)
    advice += "<set link_options::allow_calls> where a cubin is linked, ";
  return advice.empty() ? advice : advice + "or ";
}

finding lacks_kind(preflight_inputs const& inputs, fatbin const& input, entry_choice const& choice)
{
  auto const mode = choice.mode;
  return {
      .id = mode == link_mode::lto   ? finding_id::no_ltoir
            : mode == link_mode::ptx ? finding_id::no_ptx
                                     : finding_id::no_sass,
      .severity = severity::error,
      .files = {input.name()},
      .message = detail::format("{} holds no {}, which {} mode needs", input.name(),
                                kind_text(kind_of(mode)), to_string(mode)),
      .hint =
          alternatives(inputs, input, choice) +
          (mode == link_mode::sass
               ? detail::format(
                     "compile its source with nvcc -cubin -rdc=true -arch={0} or "
                     "fatlink compile --sass {0}, or get a build with SASS for {0} from its author",
                     choice.target.name())
               : std::string("compile it with nvcc -dlto -fatbin -arch=sm_75 or fatlink compile"))};
}

finding lacks_target(preflight_inputs const& inputs, fatbin const& input, entry_kind kind,
                     entry_choice const& choice)
{
  auto const link_target = choice.target;
  auto const specific = kind == entry_kind::elf || all_specific(input, kind);
  auto const names = targets_of(input, kind);
  return {.id = specific ? finding_id::arch_specific : finding_id::arch_too_new,
          .severity = severity::error,
          .files = {input.name()},
          .message = kind == entry_kind::elf
                         ? detail::format(
                               "{} holds SASS for {}, which links only for that target, not for {}",
                               input.name(), fmt::join(names, ", "), link_target.name())
                         : detail::format("{} is compiled for {}, which does not link for {}",
                                          input.name(), fmt::join(names, ", "), link_target.name()),
          .hint = kind == entry_kind::elf
                      ? detail::format("compile it with nvcc -rdc=true -cubin -arch={0}, fatlink "
                                       "compile --sass {0}, or fatlink_add_fatbin(… SASS {1})",
                                       link_target.name(), link_target.name().substr(3))
                      : alternatives(inputs, input, choice) +
                            detail::format(
                                "compile it for {0} or older: nvcc -arch=sm_{1}, fatlink compile "
                                "--arch {1}, or fatlink_add_fatbin(… ARCHITECTURES {1})",
                                link_target.name(), link_target.number())};
}

std::vector<std::string> unknown_targets(fatbin const& input, entry_kind kind)
{
  std::vector<std::string> names;
  for (auto const& entry : input.entries())
    if (entry.kind == kind && !entry.target.is_known()) names.push_back(entry.target.name());
  return names;
}

/// For an input with entries of `kind` for `names`, which no nvJitLink of CUDA 13 supports.
finding unknown_target(fatbin const& input, entry_kind kind, std::vector<std::string> const& names,
                       fatbin_entry const* linked)
{
  auto const* const form = kind_text(kind);
  return {.id = finding_id::arch_unknown,
          .severity = linked == nullptr ? severity::error : severity::warning,
          .files = {input.name()},
          .message = detail::format(
              "{} holds {} for {}, which CUDA 13 does not have; {}", input.name(), form,
              fmt::join(names, ", "),
              linked == nullptr
                  ? "no other entry links"
                  : detail::format("its {} for {} is linked", form, linked->target.name())),
          .hint = "compile it for an architecture of nvcc --list-gpu-arch"};
}

/// Warns of entries that no link can take; Tile IR is not meant for links.
void check_newer(fatbin const& file, std::vector<finding>& findings)
{
  std::vector<std::string> names;
  for (auto const& entry : file.entries()) {
    auto const is_known = entry.kind == entry_kind::ltoir || entry.kind == entry_kind::tileir ||
                          shows_interface(entry);
    if (is_known) continue;
    auto text = std::string_view(to_string(entry.kind)) == "unknown"
                    ? name_of(entry.kind)
                    : detail::format("{} for {} of unknown compression", kind_text(entry.kind),
                                     entry.target.name());
    if (std::ranges::find(names, text) == names.end()) names.push_back(std::move(text));
  }
  if (names.empty()) return;
  findings.push_back(
      {.id = finding_id::newer_entry,
       .severity = severity::warning,
       .files = {file.name()},
       .message = detail::format(
           "{} has entries of a newer toolkit than this fatlink knows, which are ignored: {}",
           file.name(), list_names(names)),
       .hint = "use a newer fatlink to link one of them"});
}

/// Of the input `file`: a link takes one entry, and would lose the other without a word.
void check_single(fatbin const& file, fatbin_entry const& linked, std::vector<finding>& findings)
{
  auto const count = std::ranges::count_if(file.entries(), [&](fatbin_entry const& entry) {
    return entry.kind == linked.kind && entry.target == linked.target;
  });
  if (count < 2) return;
  findings.push_back(
      {.id = finding_id::duplicate_entry,
       .severity = severity::error,
       .files = {file.name()},
       .message = detail::format("{} holds {} entries of {} for {}, and a link uses only one",
                                 file.name(), count, kind_text(linked.kind), linked.target.name()),
       .hint = "read concatenated fatbins as fatlink::input, or pass each as a separate input"});
}

/// The first of the kinds that the link can take of which `input` has an entry; else the mode's
/// own.
entry_kind tried_kind(fatbin const& input, entry_choice const& choice)
{
  for (auto const kind : kinds_of(choice))
    if (!targets_of(input, kind).empty()) return kind;
  return kind_of(choice.mode);
}

/// `sass` is the linked entry of `input`.
void check_relocatable(fatbin const& input, fatbin_entry const& sass,
                       std::vector<finding>& findings)
{
  if (entry_access::facts_of(input, sass).is_relocatable) return;
  findings.push_back(
      {.id = finding_id::not_relocatable,
       .severity = severity::error,
       .files = {input.name()},
       .message = detail::format("{} holds SASS for {} of a whole program, which cannot be linked",
                                 input.name(), sass.target.name()),
       .hint = "compile it with nvcc -rdc=true -cubin, or -dc for an object"});
}

void check_options(preflight_inputs const& inputs, preflight_request const& request,
                   std::vector<finding>& findings)
{
  for (auto const& input : inputs) {
    auto const* entry = linked_entry(*input.file, choice_of(request));
    if (entry == nullptr || entry->kind != entry_kind::ltoir) continue;
    auto const unknown = unknown_options(entry->options);
    if (unknown.empty()) continue;
    findings.push_back(
        {.id = finding_id::unread_option,
         .severity = severity::warning,
         .files = {input.file->name()},
         .message = detail::format("{} was compiled with options that this fatlink does not know, "
                                   "and does not pass to the link: {}",
                                   input.file->name(), list_names(unknown)),
         .hint = "if one of them affects floating-point results, set the flags of the link:  "
                 "<link_options::ftz>, <link_options::prec_div>, <link_options::prec_sqrt> and "
                 "<link_options::fma>"});
  }
}

}  // namespace

void check_entries(preflight_inputs const& inputs, preflight_request const& request,
                   std::vector<finding>& findings)
{
  auto const choice = choice_of(request);
  for (auto const& input : inputs) {
    auto const kind = tried_kind(*input.file, choice);
    auto const* linked = linked_entry(*input.file, choice);
    auto const unknown = unknown_targets(*input.file, kind);
    if (!unknown.empty()) findings.push_back(unknown_target(*input.file, kind, unknown, linked));
    check_newer(*input.file, findings);
    if (linked != nullptr) check_single(*input.file, *linked, findings);
    if (linked != nullptr && linked->kind == entry_kind::elf)
      check_relocatable(*input.file, *linked, findings);
    if (linked != nullptr || !unknown.empty()) continue;
    findings.push_back(targets_of(*input.file, kind).empty()
                           ? lacks_kind(inputs, *input.file, choice)
                           : lacks_target(inputs, *input.file, kind, choice));
  }
}

void check_float_flags(preflight_inputs const& inputs, preflight_request const& request,
                       std::vector<finding>& findings)
{
  if (request.states_float_flags) return;
  check_options(inputs, request, findings);
  // Raw LTO-IR records no flags; those of the link apply to it.
  preflight_input const* reference = nullptr;
  float_flags flags;
  for (auto const& input : inputs) {
    auto const* entry = linked_entry(*input.file, choice_of(request));
    if (entry == nullptr || entry->kind != entry_kind::ltoir || !states_float_flags(*entry))
      continue;
    if (reference == nullptr) {
      reference = &input;
      flags = entry->float_flags();
    } else if (flags != entry->float_flags()) {
      findings.push_back(
          {.id = finding_id::float_contract,
           .severity = severity::error,
           .files = {reference->file->name(), input.file->name()},
           .message = detail::format(
               "{} is compiled with {} and {} with {}; an LTO link has one set of float flags",
               reference->file->name(), to_string(flags), input.file->name(),
               to_string(entry->float_flags())),
           .hint = "compile both with the same float flags, link in ptx mode "
                   "(<link_mode::ptx>), or state the set of the link: "
                   "<link_options::ftz>, <link_options::prec_div>, "
                   "<link_options::prec_sqrt> and <link_options::fma>"});
    }
  }
}

namespace {

// An LTO link needs something to compile: libNVVM refuses a program without a module.

constexpr std::size_t k_listed_inputs = 3;

/// The mode that links the inputs as they are.
std::string advise_mode(preflight_inputs const& inputs, preflight_request const& request)
{
  auto const links_in = [&](link_mode mode) {
    return std::ranges::all_of(inputs, [&](preflight_input const& input) {
      return linked_entry(*input.file, {request.target, mode, mode == link_mode::ptx}) != nullptr;
    });
  };
  if (links_in(link_mode::sass))
    return "link in sass mode (<link_mode::sass>) without <link_options::allow_calls>";
  if (links_in(link_mode::ptx)) return "link in ptx mode (<link_mode::ptx>)";
  return "compile one of them with nvcc -dlto -fatbin -arch=sm_75 or fatlink compile";
}

}  // namespace

void check_ltoir_parts(preflight_inputs const& inputs, preflight_request const& request,
                       std::vector<finding>& findings)
{
  if (request.mode != link_mode::lto || !request.allow_calls || inputs.empty()) return;
  std::vector<std::string> names;
  for (auto const& input : inputs) {
    auto const* entry = linked_entry(*input.file, choice_of(request));
    if (entry == nullptr || entry->kind == entry_kind::ltoir) return;  // check_entries reports null
    names.push_back(input.file->name());
  }
  findings.push_back({.id = finding_id::no_ltoir,
                      .severity = severity::error,
                      .files = names,
                      .message = detail::format("{}: no LTO-IR to link; an lto link needs an input "
                                                "with LTO-IR, even if calls are allowed",
                                                list_names(names, k_listed_inputs)),
                      .hint = advise_mode(inputs, request)});
}

namespace {

/// Of a file with several modules, which are seldom of one translation unit, as pack needs them.
std::string state_digest(std::string_view file)
{
  return detail::format(
      "build it with fatlink_add_fatbin, or state the digest of a copy of {0} that is known to be "
      "good: echo \"{{\\\"sha256\\\": \\\"$(sha256sum < {1} | cut -d' ' -f1)\\\"}}\" > {2}",
      file, detail::shell_word(file), detail::shell_word(std::string(file) + ".json"));
}

std::string pack(std::string_view file)
{
  return detail::format(
      "build it with fatlink_add_fatbin, or add digests to a copy that is known "
      "to be good: fatlink pack -o FILE.fatbin {}",
      detail::shell_word(file));
}

/// One finding for `modules` of `file`, which is not `file` itself where there are several.
finding unverified(std::string_view file, std::vector<std::string> modules)
{
  auto const is_file = modules.size() == 1 && modules.front() == file;
  auto const subject = modules.size() == 1 ? modules.front() + " states"
                                           : detail::format("{} ({} modules: {}) states", file,
                                                            modules.size(), list_names(modules));
  return {.id = finding_id::unverified_bytes,
          .severity = severity::warning,
          .files = std::move(modules),
          .message = detail::format("{} no digest, so damage may not be detected", subject),
          .hint = is_file ? pack(file) : state_digest(file)};
}

}  // namespace

void check_digests(preflight_inputs const& inputs, std::vector<finding>& findings)
{
  std::map<std::string_view, std::vector<std::string>> modules;
  std::vector<std::string_view> files;
  for (auto const& input : inputs) {
    if (input.file->is_verified()) continue;
    auto const file = parse_module_name(input.file->name()).file;
    auto& names = modules[file];
    if (names.empty()) files.push_back(file);
    names.push_back(input.file->name());
  }
  for (auto const file : files) findings.push_back(unverified(file, std::move(modules[file])));
}

}  // namespace fatlink::detail
