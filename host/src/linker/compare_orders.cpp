// SPDX-License-Identifier: Apache-2.0
#include "linker/compare_orders.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "linker/check_calls.hpp"
#include "linker/reachable_functions.hpp"
#include "preflight/entries.hpp"
#include "preflight/findings.hpp"
#include "preflight/rules.hpp"
#include "ptx/ptx_code.hpp"

namespace fatlink::detail {
namespace {

/// Above this number of inputs, not each is linked in the first place: they are the members of one
/// author's archive, and the time of the links grows with the square of the number.
constexpr std::size_t k_most_first = 8;

constexpr char const* k_linked = "the linked PTX";

using code_map = std::map<std::string, std::string, std::less<>>;
using link_order = std::vector<fatbin const*>;

/// The orders besides that of `inputs`.
std::vector<link_order> other_orders(link_order const& inputs)
{
  std::vector<link_order> orders;
  if (inputs.size() > k_most_first) return {{inputs.rbegin(), inputs.rend()}};
  for (std::size_t first = 1; first < inputs.size(); ++first) {
    auto const place = static_cast<std::ptrdiff_t>(first);
    auto& order = orders.emplace_back(inputs);
    std::rotate(order.begin(), order.begin() + place, order.begin() + place + 1);
  }
  return orders;
}

class order_comparison {
 public:
  order_comparison(std::vector<fatbin> const& inputs, link_options const& options,
                   link_function const& link)
      : options_(options), link_(link), texts_(check_options(inputs, options))
  {
    for (auto const& input : inputs)
      if (linked_entry(input, choice_of(options))->kind == entry_kind::ltoir)
        order_.push_back(&input);
    ptx_ = unoptimized_link(order_, options_, texts_, link_);
  }

  /// The PTX of the inputs in the order in which they were passed.
  [[nodiscard]] std::string const& ptx() const { return ptx_; }

  /// weak-mismatch of each name whose code differs between two orders.
  std::vector<finding> find()
  {
    if (order_.size() < 2) return {};
    auto const given = read_ptx_code(ptx_, k_linked, name_scope::linked);
    for (auto const& other : other_orders(order_)) compare(given, other);
    std::vector<finding> findings;
    finding_limit mismatches(findings);
    for (auto& [name, difference] : differences_)
      mismatches.add([&difference = difference] { return std::move(difference); });
    mismatches.finish();
    return findings;
  }

 private:
  [[nodiscard]] code_map code_of(link_order const& order) const
  {
    return read_ptx_code(unoptimized_link(order, options_, texts_, link_), k_linked,
                         name_scope::linked);
  }

  void compare(code_map const& given, link_order const& other)
  {
    auto const code = code_of(other);
    for (auto const& [name, text] : code) {
      auto const same = given.find(name);
      if (same == given.end() || same->second == text || differences_.contains(name)) continue;
      auto const& first = definer(order_, given, name);
      auto const& second = definer(other, code, name);
      // The same one: nvJitLink chose other instructions for the same definition.
      if (&first != &second)
        differences_.emplace(name, weak_mismatch(name, first.name(), second.name()));
    }
  }

  /// The input of `order` whose definition of `name` the link chose: without it, the code is
  /// another one. Inputs with kernels cannot be left out; one of these is it if no other is.
  [[nodiscard]] fatbin const& definer(link_order const& order, code_map const& code,
                                      std::string const& name) const
  {
    fatbin const* rest = order.front();
    for (auto const* input : order) {
      if (!interface_of(*input, choice_of(options_)).kernels.empty()) {
        rest = input;
        continue;
      }
      auto others = order;
      std::erase(others, input);
      auto const without = code_of(others);
      auto const left = without.find(name);
      if (left == without.end() || left->second != code.find(name)->second) return *input;
    }
    return *rest;
  }

  link_options const& options_;
  link_function const& link_;
  std::vector<std::string> texts_;
  link_order order_;
  std::string ptx_;
  std::map<std::string, finding> differences_;
};

}  // namespace

std::vector<finding> compare_orders(std::vector<fatbin> const& inputs, link_options const& options,
                                    link_function const& link)
{
  if (options.mode != link_mode::lto || inputs.size() < 2) return {};
  order_comparison comparison(inputs, options, link);
  auto findings = check_calls(inputs, options, comparison.ptx());
  return findings.empty() ? comparison.find() : findings;
}

}  // namespace fatlink::detail
