// SPDX-License-Identifier: Apache-2.0
#include "inspect/print_ptx.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "fatlink/ptx_interface.hpp"

namespace fatlink::cli {
namespace {

[[noreturn]] void fail_without_ptx(fatbin const& file, std::string const& scope)
{
  std::vector<std::string> names;
  for (auto const& entry : file.entries())
    names.push_back(fmt::format("{}:{}", name_of(entry.kind), entry.target.name()));
  throw file_error(stage::fatbin,
                   {.message = fmt::format("{}: contains no PTX{}; it contains {}", file.name(),
                                           scope, fmt::join(names, ", ")),
                    .input = file.name(),
                    .code = error_code::missing_ptx,
                    .hint = "compile it with nvcc -dlto -fatbin, which writes PTX and LTO-IR"});
}

/// The PTX entries that link for `targets`, without duplicates; every PTX entry if there are none.
std::vector<fatbin_entry const*> ptx_entries(fatbin const& file, std::vector<target> const& targets)
{
  std::vector<fatbin_entry const*> entries;
  for (auto const& entry : file.entries())
    if (entry.kind == entry_kind::ptx && targets.empty()) entries.push_back(&entry);
  for (auto const target : targets) {
    auto const* entry = file.find(entry_kind::ptx, target);
    if (entry == nullptr) fail_without_ptx(file, fmt::format(" that links for {}", target.name()));
    if (std::find(entries.begin(), entries.end(), entry) == entries.end()) entries.push_back(entry);
  }
  if (entries.empty()) fail_without_ptx(file, {});
  return entries;
}

}  // namespace

void print_ptx(fatbin const& file, std::vector<target> const& targets)
{
  for (auto const* entry : ptx_entries(file, targets)) {
    if (targets.size() != 1) fmt::print("// {}: ptx {}\n", file.name(), entry->target.name());
    auto const text = read_ptx(*entry, file.name());
    fmt::print("{}{}", text, text.ends_with('\n') ? "" : "\n");
  }
}

}  // namespace fatlink::cli
