// SPDX-License-Identifier: Apache-2.0
#include "cache/claim.hpp"

#include <algorithm>
#include <cerrno>
#include <span>

#include "cache/ledger.hpp"
#include "util/text/format.hpp"

namespace fatlink::cache {
namespace {

constexpr std::string_view k_tag =  // bford.info/cachedir
    "Signature: 8a477f597d28d172789f06886806bc55\n# fatlink's linked images; safe to remove.\n";
constexpr std::string_view k_tag_start = k_tag.substr(0, k_tag.find(';'));
constexpr std::uint64_t k_largest_tag = 4096;

/// Whether `name` is what a process left that died while it claimed the folder. Older versions
/// created the lock, which is always empty, and the ledger before.
bool is_unfinished(folder const& in, std::string const& name)
{
  auto const file = in.facts(name);
  if (!file) return false;
  if (name == "lock") return file->size == 0;
  return name == "ledger" ? has_ledger(in) : written_as(name) == k_tag_file;
}

/// The name of a file that is not the cache's; empty: there is none.
std::string find_foreign_file(folder const& in)
{
  for (auto const& name : in.names())
    if (!is_unfinished(in, name)) return name;
  return {};
}

[[noreturn]] void refuse(folder const& in, std::string const& name)
{
  throw fault{detail::format("{} holds files that are not the cache's ({}): name another folder "
                             "in FATLINK_CACHE_DIR",
                             in.path().string(), name),
              ENOTEMPTY};
}

}  // namespace

bool is_claimed(folder const& in)
{
  auto const tag = in.read(k_tag_file, k_largest_tag);
  return tag && tag->size() >= k_tag_start.size() &&
         std::equal(k_tag_start.begin(), k_tag_start.end(), tag->begin(),
                    [](char expected, std::byte actual) {
                      return expected == std::to_integer<char>(actual);
                    });
}

bool holds_cache(folder const& in)
{
  if (is_claimed(in)) return true;
  auto const foreign = find_foreign_file(in);
  if (foreign.empty()) return false;
  if (is_claimed(in)) return true;  // another process claimed it meanwhile
  refuse(in, foreign);
}

void claim(folder const& in)
{
  if (holds_cache(in)) return;
  try {
    in.write(k_tag_file, std::as_bytes(std::span(k_tag)));
  } catch (fault const&) {
    // Another process claimed the folder meanwhile, and removed the temporary file as an orphan.
    if (!is_claimed(in)) throw;
  }
}

}  // namespace fatlink::cache
