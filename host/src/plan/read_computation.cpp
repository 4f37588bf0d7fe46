// SPDX-License-Identifier: Apache-2.0
#include "plan/read_computation.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "expression/words.hpp"
#include "plan/read_parts.hpp"
#include "util/limits.hpp"
#include "util/text/format.hpp"
#include "util/text/nearest.hpp"
#include "util/text/printable.hpp"

namespace fatlink::detail {
namespace {

constexpr std::array k_results{
    operation::map,      operation::fold,     operation::scan,           operation::exclusive_scan,
    operation::filter,   operation::count,    operation::segmented_fold, operation::sort,
    operation::rejected, operation::histogram};
constexpr std::int64_t k_largest_offset = 0x7FFFFFFF;

[[noreturn]] void fail_unknown(char const* what, std::string_view name,
                               std::vector<std::string> const& known)
{
  auto const similar = nearest(known, name);
  throw expression_error(detail::format("{} is no {}", printable_line(name), what),
                         !similar.empty() ? detail::format("did you mean {}?", similar)
                         : known.empty()
                             ? "the plan has none; add one to \"arguments\""
                             : detail::format("write {}{}", known.size() == 1 ? "" : "one of ",
                                              fmt::join(known, ", ")));
}

class computation_parser {
 public:
  computation_parser(std::string const& text, launch_plan const& plan)
      : words_(text, "docs/launch_plans.md"), plan_(plan)
  {
  }

  computation parse()
  {
    auto result = parse_result();
    words_.expect_end();
    return result;
  }

 private:
  computation parse_result()
  {
    auto const word = words_.take_name("an operation, such as map");
    std::vector<std::string> names;
    for (auto const kind : k_results) {
      if (word == to_string(kind)) return parse_operation(kind);
      names.emplace_back(to_string(kind));
    }
    fail_unknown("operation", word, names);
  }

  computation parse_operation(operation kind)
  {
    nesting_level const level(depth_);
    words_.expect("(");
    computation node{.kind = kind, .name = std::string(words_.take_name("the name of a hook"))};
    if (kind == operation::map) {
      while (words_.take_if(",")) parse_operand(node.operands);
    } else {
      words_.expect(",");
      node.operands.push_back(parse_array());
      if (kind == operation::segmented_fold) add_argument(node.operands, {argument_role::input});
      if (kind == operation::segmented_fold || kind == operation::fold ||
          kind == operation::exclusive_scan)
        add_argument(node.operands, {argument_role::value});
      if (kind == operation::sort && words_.is(","))
        add_argument(node.operands, {argument_role::input});
      if (kind == operation::histogram) add_argument(node.operands, {argument_role::size});
    }
    words_.expect(")");
    return node;
  }

  /// ", NAME"
  void add_argument(std::vector<computation>& operands, std::vector<argument_role> const& roles)
  {
    words_.expect(",");
    add(operands, argument(words_.take_name("an argument"), roles));
  }

  computation parse_array()
  {
    auto const word = words_.take_name("an input or map(…)");
    if (word == "map" && words_.is("(")) return parse_operation(operation::map);
    return argument(word, {argument_role::input});
  }

  void parse_operand(std::vector<computation>& operands)
  {
    auto const word = words_.take_name("an operand");
    if (!words_.is("("))
      add(operands, word == "index" ? computation{.kind = operation::index}
                                    : argument(word, {argument_role::input, argument_role::value,
                                                      argument_role::size}));
    else if (word == "map")
      add(operands, parse_operation(operation::map));
    else if (word == "neighbor")
      parse_neighbors(operands, false);
    else if (word == "window")
      parse_neighbors(operands, true);
    else
      fail_unknown("operand", word, {"map", "neighbor", "window"});
  }

  void parse_neighbors(std::vector<computation>& operands, bool is_window)
  {
    words_.expect("(");
    auto const array = argument(words_.take_name("an input"), {argument_role::input});
    words_.expect(",");
    auto const first = take_offset();
    auto last = first;
    if (is_window) {
      words_.expect(",");
      last = take_offset();
    }
    words_.expect(")");
    if (last < first)
      throw expression_error(detail::format("a window from {} to {} is empty", first, last),
                             "write the smaller offset first: window(a, -1, 1)");
    for (auto offset = first; offset <= last; ++offset)
      add(operands, {.kind = operation::neighbor, .offset = offset, .operands = {array}});
  }

  std::int64_t take_offset()
  {
    auto const is_negative = words_.take_if("-");
    auto const value = words_.take_number();
    if (value > k_largest_offset)
      throw expression_error(detail::format("an offset of {}, above 2^31 - 1", value),
                             "write a smaller offset");
    return is_negative ? -value : value;
  }

  void add(std::vector<computation>& operands, computation operand)
  {
    if (++count_ > limits::k_operands)
      throw expression_error(detail::format("more than {} operands, the limit", limits::k_operands),
                             "use fewer operands, or a smaller window");
    operands.push_back(std::move(operand));
  }

  [[nodiscard]] computation argument(std::string_view name,
                                     std::vector<argument_role> const& roles) const
  {
    std::vector<std::string> names;
    std::string what;
    for (auto const role : roles)
      what += (what.empty() ? "" : " or ") + std::string(to_string(role));
    for (auto const& each : plan_.arguments) {
      if (std::ranges::find(roles, each.role) == roles.end()) continue;
      if (each.name == name) return {.kind = operation::argument, .name = each.name};
      names.push_back(each.name);
    }
    fail_unknown(what.c_str(), name, names);
  }

  expression_words words_;
  launch_plan const& plan_;
  std::size_t count_ = 0;
  unsigned depth_ = 0;
};

}  // namespace

computation read_computation(std::string const& text, launch_plan const& plan)
{
  return computation_parser(text, plan).parse();
}

}  // namespace fatlink::detail
