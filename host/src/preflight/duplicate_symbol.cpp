// SPDX-License-Identifier: Apache-2.0
// The finding of a symbol that two modules define, with a remedy for members of archives.
#include "input/read_modules.hpp"
#include "preflight/rules.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

/// The command that removes the member: "ar d lib.a b.o", "ar dN 2 lib.a b.o".
std::string removal(module_name const& member)
{
  return member.count.empty()
             ? detail::format("ar d {} {}", member.file, member.member)
             : detail::format("ar dN {} {} {}", member.count, member.file, member.member);
}

/// `a` and `b` differ.
std::string advise_removal(std::string const& a, std::string const& b)
{
  auto const first = parse_module_name(a);
  auto const second = parse_module_name(b);
  auto const& member = second.member.empty() ? first : second;
  if (member.member.empty()) return "pass one of the two";
  if (first.file == second.file)
    return detail::format("remove one of the two from the archive: {}", removal(member));
  return detail::format("pass one of the two, or remove a member from its archive: {}",
                        removal(member));
}

}  // namespace

finding duplicate_symbol(std::string const& name, std::string const& a, std::string const& b,
                         bool is_hook)
{
  auto const is_twice = a == b;
  auto const file = parse_module_name(a).file;
  return {.id = finding_id::duplicate_symbol,
          .severity = severity::error,
          .files = {a, b},
          .symbol = name,
          .message = is_twice ? detail::format("{} is defined by {}, and {} is passed twice", name,
                                               a, file)
                              : detail::format("{} is defined by {} and by {}", name, a, b),
          .hint = is_twice  ? detail::format("pass {} once", file)
                  : is_hook ? advise_removal(a, b)
                            : advise_removal(a, b) + ", or declare what is private static"};
}

}  // namespace fatlink::detail
