// SPDX-License-Identifier: Apache-2.0
#include "verification/transform_reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/identifier.hpp"
#include "expression/program.hpp"
#include "expression/words.hpp"
#include "fatlink/error.hpp"
#include "fatlink/source.hpp"
#include "input/find_sidecar.hpp"
#include "plan/components.hpp"
#include "plan/read_plan.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace {

using detail::json_place;

constexpr std::size_t k_most_parameters = 256;

// What the members of one form are; the other form has none of them.
constexpr std::array k_old_keys{"hook", "reference", "tolerance_ulp"};
constexpr std::array k_new_keys{"hooks", "state", "element", "error_model"};

json_place place_of(detail::json_file const& file)
{
  return {file.json(), file.name(), error_code::invalid_sidecar};
}

std::vector<std::string> known_keys()
{
  std::vector<std::string> keys{"name", "summary"};
  keys.insert(keys.end(), k_old_keys.begin(), k_old_keys.end());
  keys.insert(keys.end(), k_new_keys.begin(), k_new_keys.end());
  return keys;
}

template <std::size_t Count>
bool has_any(nlohmann::json const& json, std::array<char const*, Count> const& keys)
{
  return std::ranges::any_of(keys, [&](char const* key) { return json.contains(key); });
}

void check_form(json_place const& sidecar)
{
  for (auto const* key : k_old_keys)
    if (auto const old = sidecar.find(key); old && has_any(sidecar.value(), k_new_keys))
      old->fail("belongs to the form for one hook in x, other members to the form with \"hooks\"",
                R"(state it in "hooks": {"load": {"parameters": ["x"], "result": "2 * x"}})");
}

/// Members of the form for one hook that stand within "hooks".
void refuse_old_keys(json_place const& hook)
{
  constexpr std::array<std::array<char const*, 2>, 3> k_remedies{
      {{"reference", R"(state the expression as "result": "2 * x")"},
       {"tolerance_ulp", R"(state it as "tolerance": {"ulp": 1})"},
       {"hook", R"(leave it out: the key in "hooks" is the name of the hook)"}}};
  for (auto const& [key, remedy] : k_remedies)
    if (auto const member = hook.find(key))
      member->fail("belongs to the form for one hook in x, not into \"hooks\"", remedy);
}

std::vector<std::string> read_parameters(json_place const& hook)
{
  std::vector<std::string> names;
  for (auto const& member : hook.member("parameters").not_empty().elements(k_most_parameters)) {
    auto const name = member.identifier();
    if (name == "state" || name == "pi")
      member.fail(detail::format("is \"{}\", which has a meaning of its own", name),
                  "choose another name");
    if (std::ranges::find(names, name) != names.end())
      member.fail(detail::format("is \"{}\", as another parameter", name), "choose another name");
    names.push_back(name);
  }
  return names;
}

/// The names that an expression may use: of the parameters, with any field, and the state's.
class name_check {
 public:
  name_check(std::vector<std::string> const& parameters, detail::transform_types const& types)
      : parameters_(parameters), known_(parameters)
  {
    if (!types.state) return;
    for (auto const& part : detail::components_of(*types.state))
      known_.push_back("state." + part.name);
  }

  void check(json_place const& member, std::string const& text) const
  {
    try {
      detail::expression_syntax const syntax(text, detail::expression_use::reference);
      for (auto const& name : syntax.names()) check_name(member, name);
      check_types(syntax);
    } catch (detail::expression_error const& error) {
      member.fail(error.what(), error.hint_with("write an expression in the parameters, such as "
                                                "\"max(0, x)\""));
    }
  }

 private:
  void check_name(json_place const& member, std::string const& name) const
  {
    auto const base = std::string(detail::base_of(name));
    auto const is_parameter =
        std::ranges::find(parameters_, base) != parameters_.end() && !name.ends_with('.');
    if (!is_parameter && std::ranges::find(known_, name) == known_.end())
      member.fail_unknown("name", name, known_);
  }

  /// The types of the operands are not known yet; what integers cannot do, floats cannot either.
  static void check_types(detail::expression_syntax const& syntax)
  {
    double const real = 0;
    detail::int128 const whole = 0;
    std::vector<detail::expression_variable> variables;
    for (auto const& name : syntax.names()) variables.push_back({name, true, &real, &whole});
    (void)detail::expression_program(syntax, variables);
  }

  std::vector<std::string> const& parameters_;
  std::vector<std::string> known_;
};

std::vector<result_expression> read_result(json_place const& member, name_check const& names)
{
  std::vector<result_expression> list;
  if (!member.value().is_object()) {
    list.push_back({.text = member.text()});
    names.check(member, list.back().text);
    return list;
  }
  for (auto const& [field, value] : member.not_empty().members(k_most_parameters)) {
    list.push_back({.field = field, .text = value.text()});
    names.check(value, list.back().text);
  }
  return list;
}

double read_limit(json_place const& tolerance, char const* key, double most)
{
  auto const member = tolerance.find(key);
  if (!member) return 0;
  auto const value = member->number();
  if (!(value >= 0) || std::isinf(value))
    member->fail("is not a number, 0 or more", "state how far results may be off");
  if (value > most)
    member->fail(detail::format("is {}, above {}: it would verify anything", value, most),
                 detail::format("state at most {}", most));
  return value;
}

hook_tolerance read_tolerance(json_place const& hook)
{
  auto const tolerance = hook.find("tolerance");
  if (!tolerance) return {};
  tolerance->check_keys({"ulp", "absolute", "relative", "operands"});
  return {.ulp = read_limit(*tolerance, "ulp", k_most_tolerance_ulp),
          .absolute = read_limit(*tolerance, "absolute", std::numeric_limits<double>::max()),
          .relative = read_limit(*tolerance, "relative", 0.5),
          .operands = read_limit(*tolerance, "operands", 0.5)};
}

std::optional<element_type> read_type(json_place const& hook, detail::transform_types const& types)
{
  auto const member = hook.find("type");
  if (!member) return std::nullopt;
  auto const text = member->text();
  if (text == "element" && types.element) return types.element;
  if (auto type = parse_element_type(text); type && type->kind != scalar_kind::bytes) return type;
  member->fail(detail::format("is \"{:.64}\", which is not the type of a number", text),
               types.element ? "write a type such as \"float32\", or \"element\""
                             : "write a type such as \"float32\"");
}

error_model read_model(json_place const& sidecar)
{
  auto const member = sidecar.find("error_model");
  if (!member) return error_model::none;
  auto const text = member->text();
  for (auto const model : {error_model::exact, error_model::additive, error_model::relative})
    if (text == to_string(model)) return model;
  member->fail_unknown("error model", text, {"exact", "additive", "relative"});
}

void read_hooks(json_place const& sidecar, transform_reference& read)
{
  read.types = detail::transform_types::read(sidecar);
  read.model = read_model(sidecar);
  auto const hooks = sidecar.find("hooks");
  if (!hooks) return;
  for (auto const& [name, member] : hooks->not_empty().members(detail::k_most_hooks)) {
    if (!detail::is_identifier(name))
      member.fail("is not the name of a function", "state the hook that the source defines");
    refuse_old_keys(member);
    member.check_keys({"parameters", "result", "type", "tolerance"});
    hook_reference hook{.hook = name, .parameters = read_parameters(member)};
    name_check const names(hook.parameters, read.types);
    hook.result = read_result(member.member("result"), names);
    hook.type = read_type(member, read.types);
    hook.tolerance = read_tolerance(member);
    read.hooks.push_back(std::move(hook));
  }
}

/// The form for one hook in x.
void read_one_hook(json_place const& sidecar, transform_reference& read)
{
  hook_reference hook{.hook = sidecar.member("hook").text(), .parameters = {"x"}};
  auto const expression = sidecar.member("reference");
  hook.result = {{.text = expression.text()}};
  name_check(hook.parameters, read.types).check(expression, hook.result.front().text);
  (void)sidecar.member("tolerance_ulp");
  hook.tolerance.ulp = read_limit(sidecar, "tolerance_ulp", k_most_tolerance_ulp);
  read.hooks.push_back(std::move(hook));
}

bool states_reference(nlohmann::json const& json)
{
  return has_any(json, k_old_keys) || has_any(json, k_new_keys);
}

/// The members of a file that a person wrote: nothing in it may be lost.
void check_authored(detail::json_file const& file, std::vector<std::string> keys)
{
  place_of(file).check_keys(keys);
  file.check_unique_keys(error_code::invalid_sidecar);
}

/// The keys of the sidecar of a source, beside which `compile` writes x.fatbin.
std::vector<std::string> source_keys(detail::json_file const& file)
{
  auto keys = known_keys();
  keys.emplace_back("sha256");
  if (detail::states_plan(file.json()))
    keys.insert(keys.end(), detail::plan_keys().begin(), detail::plan_keys().end());
  return keys;
}

transform_reference read_reference(detail::json_file const& file)
{
  auto const sidecar = place_of(file);
  check_form(sidecar);
  auto const summary = sidecar.find("summary");
  transform_reference read{.name = sidecar.member("name").string(),
                           .summary = summary ? summary->string() : std::string(),
                           .states_hooks = has_any(file.json(), k_new_keys),
                           .file = file.name()};
  if (read.states_hooks)
    read_hooks(sidecar, read);
  else
    read_one_hook(sidecar, read);
  return read;
}

std::optional<transform_reference> read_reference(detail::sidecar_ptr const& sidecar,
                                                  std::filesystem::path const& file)
{
  if (!sidecar) return std::nullopt;
  if (is_source_name(file)) check_authored(*sidecar, source_keys(*sidecar));
  if (!states_reference(sidecar->json())) return std::nullopt;
  auto reference = read_reference(*sidecar);
  reference.subject = file.string();
  return reference;
}

}  // namespace

char const* to_string(error_model model) noexcept
{
  switch (model) {
    case error_model::none:
      return "none";
    case error_model::exact:
      return "exact";
    case error_model::additive:
      return "additive";
    case error_model::relative:
      return "relative";
  }
  return "unknown";
}

transform_reference transform_reference::read(std::filesystem::path const& path)
{
  return read_reference(*detail::json_file::read(path));
}

std::optional<transform_reference> transform_reference::read_source(
    std::filesystem::path const& path, bool allows_digest)
{
  auto const file = detail::json_file::read(path);
  auto keys = known_keys();
  if (allows_digest) keys.emplace_back("sha256");
  if (!allows_digest && file->json().contains("sha256"))
    place_of(*file).fail(R"(unknown key "sha256")", "remove it: the build adds it");
  check_authored(*file, std::move(keys));
  if (!states_reference(file->json())) return std::nullopt;
  return read_reference(*file);
}

std::optional<transform_reference> transform_reference::beside(std::filesystem::path const& file)
{
  return read_reference(detail::find_sidecar(file), file);
}

std::optional<transform_reference> transform_reference::beside(input const& file)
{
  return read_reference(detail::sidecar_of(file), file.name());
}

hook_reference const* transform_reference::find(std::string const& hook) const noexcept
{
  auto const place = std::ranges::find(hooks, hook, &hook_reference::hook);
  return place == hooks.end() ? nullptr : &*place;
}

}  // namespace fatlink
