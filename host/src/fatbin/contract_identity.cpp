// SPDX-License-Identifier: Apache-2.0
#include "fatbin/contract_identity.hpp"

#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

/// The type of `hook`; empty where the contract does not declare it.
std::string type_of(ident const& stated, std::string const& hook)
{
  auto const entry = stated.hooks.find(hook);
  return entry == stated.hooks.end() ? std::string{} : entry->second;
}

bool both_list_hooks(ident const& a, ident const& b)
{
  return !a.hooks.empty() && !b.hooks.empty();
}

}  // namespace

std::string contract_of(ident const& stated)
{
  return detail::format("{}/{}", stated.contract, stated.version);
}

bool states_contract(std::optional<ident> const& stated)
{
  return stated && !stated->contract.empty();
}

bool same_contract(ident const& a, ident const& b)
{
  if (a.contract != b.contract || a.version != b.version) return false;
  return both_list_hooks(a, b) ? a.hooks == b.hooks : a.header_sha256 == b.header_sha256;
}

std::string differing_hook(ident const& a, ident const& b)
{
  if (!both_list_hooks(a, b)) return {};
  std::string name;
  for (auto const* hooks : {&a.hooks, &b.hooks})
    for (auto const& [hook, type] : *hooks)
      if (type_of(a, hook) != type_of(b, hook) && (name.empty() || hook < name)) name = hook;
  return name;
}

std::string describe_hook(ident const& stated, std::string const& hook)
{
  auto const type = type_of(stated, hook);
  return type.empty() ? detail::format("declares no {}", hook)
                      : detail::format("declares {}", hook_declaration(hook, type));
}

bool may_declare(ident const& stated, std::string const& hook)
{
  return stated.hooks.empty() || stated.hooks.contains(hook);
}

}  // namespace fatlink::detail
