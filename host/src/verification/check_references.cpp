// SPDX-License-Identifier: Apache-2.0
#include "verification/check_references.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "fatbin/ident.hpp"
#include "fatlink/error.hpp"
#include "plan/read_plan.hpp"
#include "preflight/findings.hpp"
#include "util/text/format.hpp"
#include "util/text/nearest.hpp"
#include "verification/plan_reference.hpp"

namespace fatlink::detail {
namespace {

bool has_ptx(fatbin const& module)
{
  return std::ranges::any_of(
      module.entries(), [](fatbin_entry const& entry) { return entry.kind == entry_kind::ptx; });
}

/// The module whose ident states hooks; null if none does.
fatbin const* contracted(std::span<fatbin const> modules)
{
  for (auto const& module : modules)
    if (module.ident() && !module.ident()->hooks.empty()) return &module;
  return nullptr;
}

/// The hooks that a sidecar of `modules` may name.
std::vector<std::string> hooks_of(std::span<fatbin const> modules)
{
  auto const* const module = contracted(modules);
  if (module == nullptr)
    return names_in(modules, {&ptx_interface::definitions, &ptx_interface::weak});
  std::vector<std::string> names;
  for (auto const& [hook, type] : module->ident()->hooks) names.push_back(hook);
  return names;
}

hook_error unknown_hook(std::span<fatbin const> modules, std::string const& name,
                        std::string const& stated, std::vector<std::string> const& hooks)
{
  auto const* const module = contracted(modules);
  auto const is_of_contract = module != nullptr && !module->ident()->contract.empty();
  auto const similar = nearest(hooks, stated);
  return {.cause = detail::format("which is not a hook of {} ({})",
                                  is_of_contract ? contract_of(*module->ident()) : name,
                                  list_names(hooks)),
          .hint = similar.empty() ? "state the hook that the reference describes"
                                  : detail::format(R"(did you mean "{}"?)", similar)};
}

}  // namespace

std::vector<std::string> names_in(
    std::span<fatbin const> modules,
    std::initializer_list<std::vector<ptx_function> ptx_interface::*> const& lists)
{
  std::vector<std::string> names;
  for (auto const& module : modules)
    for (auto const& entry : module.entries()) {
      if (entry.kind != entry_kind::ptx || !shows_interface(entry)) continue;
      for (auto const list : lists)
        for (auto const& function : module.interface(entry).*list) names.push_back(function.name);
    }
  return names;
}

std::optional<hook_error> find_wrong_hook(std::span<fatbin const> modules, std::string const& name,
                                          transform_reference const& stated)
{
  if (!std::ranges::all_of(modules, has_ptx)) return std::nullopt;  // nothing to compare
  auto const hooks = hooks_of(modules);
  auto const own =
      names_in(modules, {&ptx_interface::definitions, &ptx_interface::weak, &ptx_interface::hooks});
  auto const* const place = stated.states_hooks ? R"("hooks" has)" : R"("hook" is)";
  for (auto const& reference : stated.hooks) {
    auto const& hook = reference.hook;
    auto const is_known = std::ranges::find(hooks, hook) != hooks.end();
    if (is_known && std::ranges::find(own, hook) != own.end()) continue;
    auto wrong = is_known ? hook_error{detail::format("which {} neither defines nor calls", name),
                                       "state the hook that the source defines"}
                          : unknown_hook(modules, name, hook, hooks);
    wrong.cause = detail::format(R"({} "{}", {})", place, hook, wrong.cause);
    return wrong;
  }
  return std::nullopt;
}

void check_stated_hooks(std::span<fatbin const> modules, std::string const& name,
                        transform_reference const& stated)
{
  auto wrong = find_wrong_hook(modules, name, stated);
  if (!wrong) return;
  throw file_error(stage::sidecar, {.message = detail::format("{}: {}", stated.file, wrong->cause),
                                    .input = stated.file,
                                    .code = error_code::invalid_sidecar,
                                    .hint = std::move(wrong->hint)});
}

namespace {

/// Arrays of zeros for the typed arguments of a plan: of one element, of offsets of one segment.
class zeros {
 public:
  explicit zeros(launch_plan const& plan)
  {
    for (auto const& argument : plan.arguments)
      if (argument.type) bytes_[argument.name].resize(2 * argument.type->size);
    for (auto const& argument : plan.arguments)
      if (argument.type) data_.arguments[argument.name] = view(argument, 1);
    for (auto const& result : plan.results)
      if (has_segments(result.value.kind) && result.value.operands.size() > 1)
        if (auto const* const offsets = plan.find(result.value.operands[1].name);
            offsets != nullptr && offsets->type)
          data_.arguments[offsets->name] = view(*offsets, 2);
  }

  [[nodiscard]] plan_data const& data() const noexcept { return data_; }

 private:
  [[nodiscard]] array_view view(plan_argument const& argument, std::size_t count) const
  {
    return {.type = *argument.type,
            .bytes = std::span(bytes_.at(argument.name)).first(count * argument.type->size)};
  }

  std::map<std::string, std::vector<std::byte>> bytes_ = {};
  plan_data data_ = {};
};

finding make_plan_mismatch(launch_plan const& plan, file_error const& cause)
{
  return {.id = finding_id::plan_mismatch,
          .severity = severity::error,
          .files = {cause.details().input, plan.file},
          .message = cause.details().message,
          .hint = cause.details().hint};
}

}  // namespace

std::vector<finding> check_references(launch_plan const& plan,
                                      std::vector<transform_reference> const& references)
{
  std::vector<finding> findings;
  zeros const arrays(plan);
  plan_reference const reference(plan, references, arrays.data());
  for (auto const& result : plan.results) try {
      auto const output = arrays.data().arguments.find(result.output);
      if (output == arrays.data().arguments.end()) continue;
      (void)reference.verify(result.output, output->second);  // only what it throws matters
    } catch (file_error const& cause) {
      auto found = make_plan_mismatch(plan, cause);
      if (std::ranges::find(findings, found.message, &finding::message) == findings.end())
        findings.push_back(std::move(found));
    }
  return findings;
}

}  // namespace fatlink::detail
