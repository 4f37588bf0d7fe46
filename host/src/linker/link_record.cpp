// SPDX-License-Identifier: Apache-2.0
#include "linker/link_record.hpp"

#include <array>
#include <filesystem>
#include <optional>

#include "cache/record.hpp"
#include "fatlink/error.hpp"
#include "fatlink/input.hpp"
#include "util/bytes/sha256.hpp"

namespace fatlink::detail {
namespace {

/// Calls `visit(name, field)` for each option that is part of the key, except target, mode and
/// emit.
template <typename Options, typename Visitor>
void visit_options(Options& options, Visitor const& visit)
{
  visit("allow_calls", options.allow_calls);
  visit("kernels", options.kernels);
  visit("variables", options.variables);
  visit("drop_unused_variables", options.drop_unused_variables);
  visit("max_registers", options.max_registers);
  visit("optimization", options.optimization);
  visit("fast_compile", options.fast_compile);
  visit("line_info", options.line_info);
  visit("debug", options.debug);
  visit("ftz", options.ftz);
  visit("prec_div", options.prec_div);
  visit("prec_sqrt", options.prec_sqrt);
  visit("fma", options.fma);
  visit("stack_protector", options.stack_protector);
  visit("latest_nvvm", options.latest_nvvm);
  visit("threads", options.threads);
  visit("ptxas", options.ptxas);
  visit("nvvm", options.nvvm);
}

struct option_writer {
  nlohmann::json& json;

  void operator()(char const* name, bool value) const
  {
    if (value) json[name] = value;
  }
  template <typename Value>
  void operator()(char const* name, std::optional<Value> const& value) const
  {
    if (value) json[name] = *value;
  }
  void operator()(char const* name, std::vector<std::string> const& values) const
  {
    if (!values.empty()) json[name] = values;
  }
  void operator()(char const* name, fast_compile level) const
  {
    if (level != fast_compile::none) json[name] = to_string(level);
  }
};

template <typename Enumeration>
Enumeration enumerator(std::string const& text, std::initializer_list<Enumeration> values)
{
  for (auto const value : values)
    if (text == to_string(value)) return value;
  cache::refuse_record("unknown value '" + text + "'");
}

struct option_reader {
  nlohmann::json const& json;

  template <typename Value>
  void operator()(char const* name, Value& value) const
  {
    if (json.contains(name)) json.at(name).get_to(value);
  }
  template <typename Value>
  void operator()(char const* name, std::optional<Value>& value) const
  {
    if (json.contains(name)) value = json.at(name).get<Value>();
  }
  void operator()(char const* name, fast_compile& level) const
  {
    if (json.contains(name))
      level = enumerator(json.at(name).get<std::string>(),
                         {fast_compile::min, fast_compile::mid, fast_compile::max});
  }
};

nlohmann::json record_input(fatbin const& module)
{
  auto const digest = to_hexadecimal(module.digest());
  nlohmann::json entry{{"name", module.name()}, {"sha256", digest}};
  if (cache::was_compiled(digest)) return entry;
  if (auto file = file_of(module); !file.empty())
    entry["file"] = std::move(file);
  else
    entry["bytes"] = cache::to_digits(module.bytes());
  return entry;
}

}  // namespace

std::string file_of(fatbin const& module)
try {
  std::error_code failure;
  auto const path = std::filesystem::absolute(module.name(), failure);
  if (failure || !std::filesystem::is_regular_file(path, failure)) return {};
  auto const modules = input::read(path).modules();
  return modules.size() == 1 && modules.front().digest() == module.digest() ? path.string() : "";
} catch (error const&) {
  return {};  // another file of this name
}

nlohmann::json record_link(std::vector<fatbin> const& inputs, link_options const& options)
{
  auto stated = nlohmann::json::object();
  visit_options(options, option_writer{stated});
  nlohmann::json entry{{"job", "link"},
                       {"target", options.target.name()},
                       {"mode", to_string(options.mode)},
                       {"emit", to_string(options.emit)},
                       {"options", std::move(stated)},
                       {"inputs", nlohmann::json::array()}};
  for (auto const& module : inputs) entry["inputs"].push_back(record_input(module));
  return entry;
}

recorded_link read_link_record(nlohmann::json const& entry)
try {
  recorded_link link;
  link.options.target = target(entry.at("target").get<std::string>());
  link.options.mode = enumerator(entry.at("mode").get<std::string>(),
                                 {link_mode::lto, link_mode::ptx, link_mode::sass});
  link.options.emit = enumerator(entry.at("emit").get<std::string>(),
                                 {image_kind::cubin, image_kind::ptx, image_kind::ptx_set,
                                  image_kind::ltoir, image_kind::relocatable});
  visit_options(link.options, option_reader{entry.at("options")});
  for (auto const& input : entry.at("inputs"))
    link.inputs.push_back({.name = input.at("name"),
                           .digest = input.at("sha256"),
                           .file = input.value("file", ""),
                           .bytes = input.value("bytes", "")});
  return link;
} catch (nlohmann::json::exception const& malformed) {
  cache::refuse_record(malformed.what());
}

}  // namespace fatlink::detail
