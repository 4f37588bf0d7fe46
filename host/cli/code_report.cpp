// SPDX-License-Identifier: Apache-2.0
#include "code_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>

#include "error_report.hpp"
#include "fatbin/ident.hpp"
#include "fatbin_files.hpp"
#include "options.hpp"
#include "util/bytes/sha256.hpp"

namespace fatlink::cli {
namespace {

nlohmann::json kernel_to_json(kernel_resources const& kernel)
{
  nlohmann::json json{{"kernel", kernel.name},
                      {"registers", kernel.registers},
                      {"max_registers", kernel.max_registers},
                      {"frame_bytes", kernel.frame_bytes},
                      {"static_shared_bytes", kernel.static_shared_bytes},
                      {"parameter_bytes", kernel.parameter_bytes},
                      {"constant_bytes", kernel.constant_bytes}};
  if (kernel.stack_bytes) json["stack_bytes"] = *kernel.stack_bytes;
  if (kernel.local_store_bytes) json["local_store_bytes"] = *kernel.local_store_bytes;
  if (kernel.local_load_bytes) json["local_load_bytes"] = *kernel.local_load_bytes;
  if (kernel.max_block_threads != 0) json["max_block_threads"] = kernel.max_block_threads;
  if (kernel.required_block[0] != 0) json["required_block"] = kernel.required_block;
  return json;
}

/// "208", or "unknown" for what is absent.
std::string text_of(nlohmann::json const& kernel, char const* key)
{
  auto const value = kernel.find(key);
  return value == kernel.end() ? "unknown" : std::to_string(value->get<std::uint64_t>());
}

}  // namespace

std::string entry_name(fatbin_entry const& entry)
{
  return fmt::format("{}:{}", name_of(entry.kind), entry.target.name());
}

std::string entry_names(fatbin const& code, char const* separator)
{
  std::vector<std::string> names;
  for (auto const& entry : code.entries()) names.push_back(entry_name(entry));
  return fmt::format("{}", fmt::join(names, separator));
}

std::string contract_name(fatbin const& code)
{
  auto const& ident = code.ident();
  return ident && !ident->contract.empty() ? detail::contract_of(*ident) : "none";
}

nlohmann::json describe_output(fatbin const& code, std::string const& output,
                               std::vector<std::string> const& warnings)
{
  auto entries = nlohmann::json::array();
  for (auto const& entry : code.entries())
    entries.push_back({{"kind", name_of(entry.kind)},
                       {"target", entry.target.name()},
                       {"stored_bytes", entry.payload.size()}});
  nlohmann::json json{{"output", output},
                      {"bytes", code.bytes().size()},
                      {"sha256", detail::to_hexadecimal(code.digest())},
                      {"entries", entries},
                      {"warnings", warnings}};
  if (auto const contract = contract_name(code); contract != "none") json["contract"] = contract;
  if (has_sidecar(output)) json["sidecar"] = sidecar_name(output);
  return json;
}

void add_fatbin_output(CLI::App& verb, std::string& output)
{
  verb.add_option("-o,--output", output,
                  "fatbin to write; its sidecar is written beside it; -: standard output")
      ->type_name("FILE.fatbin")
      ->required();
}

void add_resources(CLI::App& verb, bool& resources)
{
  verb.add_flag("--resources", resources,
                "show registers, stack, local, shared and constant memory of each kernel");
}

void refuse_resources(std::string const& cause, std::string const& remedy)
{
  fail_usage(fmt::format("--resources: this option has no effect {}: only a cubin states resources",
                         cause),
             "--resources", fmt::format("{}, or leave out --resources", remedy),
             error_code::option_has_no_effect);
}

nlohmann::json describe_resources(std::vector<kernel_resources> const& kernels)
{
  auto list = nlohmann::json::array();
  for (auto const& kernel : kernels) list.push_back(kernel_to_json(kernel));
  return list;
}

void print_resources(nlohmann::json const& kernels, char const* indentation)
{
  for (auto const& kernel : kernels) {
    auto const is_linked = kernel.contains("stack_bytes");
    fmt::print(
        "{}{}: {} registers; bytes: {} {}, {} local stores, {} local loads, {} shared, {} "
        "constant\n",
        indentation, kernel["kernel"], text_of(kernel, "registers"),
        text_of(kernel, is_linked ? "stack_bytes" : "frame_bytes"), is_linked ? "stack" : "frame",
        text_of(kernel, "local_store_bytes"), text_of(kernel, "local_load_bytes"),
        text_of(kernel, "static_shared_bytes"), text_of(kernel, "constant_bytes"));
  }
}

}  // namespace fatlink::cli
