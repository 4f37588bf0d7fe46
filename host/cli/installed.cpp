// SPDX-License-Identifier: Apache-2.0
#include "installed.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <system_error>

#include "catalogue/installed_library.hpp"
#include "compiler/installed_contract.hpp"
#include "fatlink/error.hpp"
#include "fatlink/source.hpp"
#include "options.hpp"
#include "preflight/symbols.hpp"

namespace fatlink::cli {
namespace {

[[noreturn]] void fail_missing(std::string const& name, std::string const& package,
                               std::string const& option, std::string log)
{
  throw file_error(
      stage::input,
      {.message = fmt::format("{} is not installed (the default{})", name,
                              option.empty() ? "" : " of " + option),
       .input = name,
       .code = error_code::not_installed,
       .log = std::move(log),
       .hint = fmt::format("install the package {}{}", package,
                           option.empty() ? "" : fmt::format(", or pass {} FILE", option))});
}

/// A contract, and which transform states it.
struct stated_contract {
  ident contract = {};
  std::string transform = {};
};

/// What the modules of `transform` state, or of a source the macros. A pipe is not read: its
/// content is there once.
std::optional<stated_contract> read_contract(std::string const& transform)
try {
  auto const file = input_file(transform);
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return std::nullopt;
  if (is_source_name(file)) {
    auto name = detail::contract_of_macros(source::read(file).text());
    if (name.empty()) return std::nullopt;
    return stated_contract{.contract = {.contract = std::move(name)}, .transform = transform};
  }
  auto const contents = input::read(file);
  if (auto const* const ident = find_contract(contents))
    return stated_contract{.contract = *ident, .transform = transform};
  return std::nullopt;
} catch (error const&) {
  return std::nullopt;
}

std::optional<stated_contract> first_contract(std::vector<std::string> const& transforms,
                                              std::string const& contract)
{
  if (!contract.empty())
    return stated_contract{.contract = {.contract = contract}, .transform = "the source"};
  for (auto const& transform : transforms)
    if (auto stated = read_contract(transform)) return stated;
  return std::nullopt;
}

std::vector<installed_library> libraries_that_include(ident const& contract)
{
  auto libraries = read_libraries(search_path());
  std::erase_if(libraries, [&](installed_library const& library) {
    auto const& stated = library.contents.ident();
    return !stated || !stated->includes.contains(contract.contract);
  });
  return libraries;
}

/// Those of the stated version, or where there are none, of any. Of a contract without a library,
/// those whose contracts include it.
std::vector<installed_library> libraries_of(ident const& contract)
{
  auto libraries = read_libraries(search_path());
  std::erase_if(libraries, [&](installed_library const& library) {
    auto const& stated = library.contents.ident();
    return !stated || stated->contract != contract.contract;
  });
  if (libraries.empty()) return libraries_that_include(contract);
  auto const is_other = [&](installed_library const& library) {
    return library.contents.ident()->version != contract.version;
  };
  if (!std::ranges::all_of(libraries, is_other)) std::erase_if(libraries, is_other);
  return libraries;
}

}  // namespace

bool is_used(installed_fatbin const& entry)
{
  return entry.hidden_by.empty() && entry.problem.empty();
}

std::vector<search_folder> search_path()
{
  return default_search_path();
}

std::filesystem::path input_file(std::string const& name)
{
  return is_input_name(name) ? find_fatbin(name, search_path()) : std::filesystem::path(name);
}

std::filesystem::path fatbin_or_default(std::string const& name, shipped_fatbin const& shipped)
{
  if (!name.empty()) return input_file(name);
  try {
    return find_fatbin(shipped.name, search_path());
  } catch (file_error const& missing) {
    fail_missing(shipped.name, shipped.package, shipped.option, missing.details().log);
  }
}

std::filesystem::path bench_fatbin()
{
  auto file = installed_data_folder() / "bench" / "bench.fatbin";
  if (!std::filesystem::exists(file)) fail_missing(file.string(), "fatlink-runtime", {}, {});
  return file;
}

ident const* find_contract(input const& file)
{
  for (auto const& module : file.modules())
    if (auto const& ident = module.ident(); ident && !ident->contract.empty()) return &*ident;
  return nullptr;
}

std::string library_for(std::string const& library, std::vector<std::string> const& transforms,
                        std::string const& contract)
{
  if (!library.empty()) return library;
  auto const stated = first_contract(transforms, contract);
  if (!stated || stated->contract.contract == k_default_library) return {};
  auto const libraries = libraries_of(stated->contract);
  if (libraries.empty()) return {};
  if (libraries.size() == 1) return libraries.front().contents.name();
  std::vector<std::string> names;
  for (auto const& each : libraries) names.push_back(each.name);
  fail_usage(fmt::format("{} is for the contract {}, which {} installed libraries have: {}",
                         stated->transform, stated->contract.contract, names.size(),
                         fmt::join(names, ", ")),
             stated->transform, fmt::format("select one: --library {}", names.front()));
}

}  // namespace fatlink::cli
