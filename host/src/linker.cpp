// SPDX-License-Identifier: Apache-2.0
#include "fatlink/linker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "detail/link_session.hpp"
#include "detail/link_worker.hpp"

namespace fatlink {
namespace {

bool has_error(std::vector<finding> const& findings)
{
  return std::any_of(findings.begin(), findings.end(),
                     [](finding const& found) { return found.severity == severity::error; });
}

/// The entries' own float flags: preflight saw to it that in LTO mode all inputs agree.
float_flags flags_of(std::vector<fatbin> const& inputs, link_options const& options)
{
  auto const kind = options.mode == link_mode::lto ? entry_kind::ltoir : entry_kind::ptx;
  for (auto const& input : inputs)
    if (auto const* entry = input.find(kind, options.target); entry != nullptr)
      return entry->float_flags();
  return {};
}

std::vector<std::string> nvjitlink_options(std::vector<fatbin> const& inputs,
                                           link_options const& options)
{
  std::vector<std::string> texts{"-arch=" + options.target.name()};
  if (options.mode == link_mode::ptx) return texts;  // PTX has its flags baked in
  auto const flags = flags_of(inputs, options);
  texts.insert(
      texts.end(),
      {"-lto", fmt::format("-ftz={:d}", flags.ftz), fmt::format("-prec-div={:d}", flags.prec_div),
       fmt::format("-prec-sqrt={:d}", flags.prec_sqrt), fmt::format("-fma={:d}", flags.fmad)});
  if (options.emit == image_kind::ptx) texts.emplace_back("-ptx");
  return texts;
}

/// The hooks of all inputs that another input defines.
std::set<std::string> filled_hooks(std::vector<fatbin> const& inputs, target wanted)
{
  std::set<std::string> asked;
  std::set<std::string> defined;
  for (auto const& input : inputs) {
    auto const interface = interface_of(input, wanted);
    for (auto const& hook : interface.hooks) asked.insert(hook.name);
    for (auto const& function : interface.definitions) defined.insert(function.name);
    for (auto const& function : interface.weak) defined.insert(function.name);
  }
  std::erase_if(asked, [&](std::string const& name) { return !defined.contains(name); });
  return asked;
}

/// The inputs' own PTX for the target; preflight saw to it that each has some.
std::vector<ptx_part> ptx_of(std::vector<fatbin> const& inputs, target wanted)
{
  std::vector<ptx_part> parts;
  for (auto const& input : inputs)
    if (auto const* entry = input.find(entry_kind::ptx, wanted); entry != nullptr)
      parts.push_back({input.name(), read_ptx(*entry, input.name())});
  return parts;
}

/// Only once nvJitLink is found is it known what it reads.
void refuse_toolkits(std::vector<fatbin> const& inputs, link_options const& options,
                     toolkit_version linker)
{
  auto findings = preflight(
      inputs,
      {.target = options.target, .mode = options.mode, .kernel = options.kernel, .linker = linker});
  if (has_error(findings)) throw refused_error(options.target, std::move(findings));
}

void check_inlined(linked_image const& image, std::vector<fatbin> const& inputs)
{
  for (auto const& hook : image.hooks) {
    if (hook.inlined) continue;
    std::string names;
    for (auto const& input : inputs) names += (names.empty() ? "" : ", ") + input.name();
    throw link_error(
        stage::linker,
        {.message = fmt::format("{}: {} was not inlined: the {} link left a call to it", names,
                                hook.name, to_string(image.mode)),
         .input = names,
         .code = "NOT_INLINED",
         .log = {},
         .hint = image.mode == link_mode::ptx
                     ? "a ptx link never inlines: link in lto mode"
                     : "a recursive, very large or __noinline__ function stays a call"});
  }
}

[[noreturn]] void refuse_emit(link_options const& options)
{
  auto const mode = std::string(to_string(options.mode));
  throw usage_error(
      stage::linker,
      {.message = fmt::format("{} cannot be emitted in {} mode", to_string(options.emit), mode),
       .input = to_string(options.emit),
       .code = {},
       .log = {},
       .hint = "PTX is emitted in lto mode; either mode emits a cubin"});
}

std::vector<std::string> functions_in(linked_image const& image)
{
  if (image.kind == image_kind::ptx_set) {
    std::vector<std::string> all;
    for (auto const& part : image.parts)
      for (auto& name : functions_in_ptx(part.text)) all.push_back(std::move(name));
    return all;
  }
  if (image.kind == image_kind::cubin) return functions_in_cubin(image.bytes);
  return functions_in_ptx({reinterpret_cast<char const*>(image.bytes.data()), image.bytes.size()});
}

void state_inlining(linked_image& image, std::set<std::string> const& hooks)
{
  auto const functions = functions_in(image);
  for (auto const& hook : hooks) {
    auto const inlined = is_inlined(functions, hook);
    image.hooks.push_back({hook, inlined});
    if (image.mode == link_mode::lto && !inlined)
      image.warnings.push_back(
          fmt::format("{} was not inlined: the LTO link left a call to it", hook));
  }
}

}  // namespace

void linker::link_with_nvjitlink(linked_image& image, std::vector<fatbin> const& inputs,
                                 link_options const& options)
{
  detail::link_product made;
  auto const texts = nvjitlink_options(inputs, options);
  if (isolation_ == isolation::worker) {
    detail::leased_worker const worker;
    refuse_toolkits(inputs, options, {worker->hello().major, worker->hello().minor});
    detail::link_request request{.emit = options.emit, .options = texts, .inputs = {}};
    for (auto const& input : inputs) request.inputs.push_back({input.name(), input.bytes()});
    made = worker->link(request, limit_);
  } else {
    if (!library_) library_ = nvjitlink::open();
    refuse_toolkits(inputs, options, {library_->major(), library_->minor()});
    made = detail::link_unchecked(*library_, inputs, texts, options.emit);
  }
  image.bytes = std::move(made.bytes);
  image.link_ms = made.ms;
  image.warnings.insert(image.warnings.end(), made.warnings.begin(), made.warnings.end());
}

linked_image linker::link(std::vector<fatbin> const& inputs, link_options const& options)
{
  if (options.emit == (options.mode == link_mode::ptx ? image_kind::ptx : image_kind::ptx_set))
    refuse_emit(options);
  auto const findings =
      preflight(inputs, {.target = options.target, .mode = options.mode, .kernel = options.kernel});
  if (has_error(findings)) throw refused_error(options.target, findings);
  linked_image image;
  image.kind = options.emit;
  image.target = options.target;
  image.mode = options.mode;
  for (auto const& found : findings)
    image.warnings.push_back(fmt::format("{} [{}]", found.message, found.id));
  if (options.emit == image_kind::ptx_set)
    image.parts = ptx_of(inputs, options.target);
  else
    link_with_nvjitlink(image, inputs, options);
  state_inlining(image, filled_hooks(inputs, options.target));
  if (options.require_inlined) check_inlined(image, inputs);
  return image;
}

}  // namespace fatlink
