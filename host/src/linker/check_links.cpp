// SPDX-License-Identifier: Apache-2.0
#include "linker/check_links.hpp"

#include <fmt/ranges.h>

#include <utility>

#include "fatlink/preflight.hpp"
#include "linker/link_options.hpp"
#include "preflight/entries.hpp"
#include "toolkit/link_in_process.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {

ptx_interface read_linked_interface(std::string_view linked, std::string_view name)
{
  std::string ptx;
  for (auto end = linked.find("\n.func"); end != std::string_view::npos;
       end = linked.find("\n.func")) {
    ptx.append(linked.substr(0, end + 1)).append(".visible ");
    linked.remove_prefix(end + 1);
  }
  return read_ptx_interface(ptx.append(linked), name);
}

std::vector<std::string> check_options(std::vector<fatbin> const& inputs,
                                       link_options const& options)
{
  link_options check{.target = options.target, .mode = options.mode};
  check.driver_cache = false;  // a link from the driver's cache reports nothing
  return nvjitlink_options(inputs, check);
}

std::string unoptimized_link(std::vector<fatbin const*> const& inputs, link_options const& options,
                             std::vector<std::string> texts, link_function const& link)
{
  texts.insert(texts.end(), {"-O0", "-ptx"});
  std::vector<link_input> parts;
  for (auto const* input : inputs)
    if (auto const& entry = *linked_entry(*input, choice_of(options));
        entry.kind == entry_kind::ltoir)
      parts.push_back(link_input::write(*input, entry));
  auto const product = link(parts, texts, image_kind::ptx);
  return {reinterpret_cast<char const*>(product.bytes.data()), product.bytes.size()};
}

ptx_interface read_reachable(fatbin const& input, link_options const& options,
                             std::vector<std::string> texts, link_function const& link)
{
  return read_linked_interface(unoptimized_link({&input}, options, std::move(texts), link),
                               input.name());
}

namespace {

/// ".param .align 8 .b8 p0[16]"
std::string declare(ptx_parameter const& parameter, std::string const& name)
{
  auto const align = parameter.align == 0 ? "" : detail::format(".align {} ", parameter.align);
  auto const count = parameter.count == 0 ? "" : detail::format("[{}]", parameter.count);
  return detail::format(".param {}.{} {}{}", align, parameter.type, name, count);
}

std::vector<std::string> declare(std::vector<ptx_parameter> const& parameters, char prefix)
{
  std::vector<std::string> texts;
  for (auto const& parameter : parameters)
    texts.push_back(declare(parameter, detail::format("{}{}", prefix, texts.size())));
  return texts;
}

/// "(r0) " and the like; empty for no names.
std::string name_all(std::vector<ptx_parameter> const& parameters, char prefix)
{
  std::vector<std::string> names;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    names.push_back(detail::format("{}{}", prefix, i));
  return names.empty() ? "" : detail::format("({})", fmt::join(names, ", "));
}

std::string write_head(stated_function const& stated)
{
  auto const& function = stated.function;
  auto const results = declare(function.results, 'r');
  return detail::format("{} .func {}{} ({})\n{}\n", stated.is_defined ? ".weak" : ".extern",
                        results.empty() ? "" : detail::format("({}) ", fmt::join(results, ", ")),
                        function.name, fmt::join(declare(function.parameters, 'p'), ", "),
                        stated.is_defined ? "{ ret; }" : ";");
}

std::string write_call(ptx_function const& function)
{
  std::string text = "{\n";
  for (auto const& variable : declare(function.results, 'r')) text += variable + ";\n";
  for (auto const& variable : declare(function.parameters, 'p')) text += variable + ";\n";
  auto const results = name_all(function.results, 'r');
  auto const parameters = name_all(function.parameters, 'p');
  return text + detail::format("call {}{}{}{}{};\n}}\n", results, results.empty() ? "" : ", ",
                               function.name, parameters.empty() ? "" : ", ", parameters);
}

/// ".v4" and ".f32" of "v4.f32" are two words of PTX already.
std::string declare(stated_variable const& stated)
{
  auto const& variable = stated.variable;
  auto const align = variable.align == 0 ? "" : detail::format(".align {} ", variable.align);
  auto const count = variable.is_unsized   ? "[]"
                     : variable.count == 0 ? ""
                                           : detail::format("[{}]", variable.count);
  return detail::format("{} .{} {}.{} {}{};\n", stated.is_defined ? ".weak" : ".extern",
                        variable.space, align, variable.type, variable.name, count);
}

/// Stores the address, so that it is needed.
std::string write_use(ptx_variable const& variable)
{
  return detail::format("mov.u64 %address, {};\nst.u64 [%address], %address;\n", variable.name);
}

}  // namespace

std::string write_witness(std::vector<stated_function> const& functions,
                          std::vector<stated_variable> const& variables)
{
  std::string text = ".version 8.0\n.target sm_75\n.address_size 64\n";
  for (auto const& stated : variables) text += declare(stated);
  for (auto const& stated : functions) text += write_head(stated);
  text += ".visible .entry fatlink_witness ()\n{\n.reg .b64 %address;\n";
  for (auto const& stated : variables) text += write_use(stated.variable);
  for (auto const& stated : functions) text += write_call(stated.function);
  return text + "ret;\n}\n";
}

namespace {

constexpr char const* k_witness_name = "the types that the other inputs state";

witness_observation read_log(std::string const& log)
{
  witness_observation result;
  for (auto const& line : lines_of(log)) {
    for (auto const* subject : {"Prototype", "Size", "Memory space"})
      if (auto name = quoted_after(line, std::string(subject) + " doesn't match for '");
          !name.empty())
        result.mismatched.insert(std::move(name));
    if (auto name = quoted_after(line, "Undefined reference to '"); !name.empty())
      result.undefined.insert(std::move(name));
  }
  return result;
}

}  // namespace

witness_observation observe_witness(fatbin const& input, std::string const& witness,
                                    link_options const& options,
                                    std::vector<std::string> const& texts,
                                    link_function const& link)
try {
  (void)link({link_input::write(input, *linked_entry(input, choice_of(options))),
              link_input::from_ptx(witness, k_witness_target, k_witness_name)},
             texts, image_kind::cubin);
  return {};
} catch (link_error const& failed) {
  auto result = read_log(failed.details().log);
  if (result.mismatched.empty() && result.undefined.empty()) throw;
  return result;
}

}  // namespace fatlink::detail
