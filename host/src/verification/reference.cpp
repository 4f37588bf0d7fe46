// SPDX-License-Identifier: Apache-2.0
#include "fatlink/reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <type_traits>

#include "fatbin/sidecar.hpp"
#include "input/stated_digest.hpp"
#include "plan/read_plan.hpp"
#include "util/text/format.hpp"
#include "verification/expression.hpp"

namespace fatlink {
namespace {

[[noreturn]] void fail(std::string const& file, std::string const& reason,
                       char const* hint = detail::k_json_example)
{
  throw file_error(stage::sidecar, {.message = detail::format("{}: {}", file, reason),
                                    .input = file,
                                    .code = error_code::invalid_sidecar,
                                    .hint = hint});
}

template <typename Value>
Value field(nlohmann::json const& json, char const* name, std::string const& file)
{
  if (!json.contains(name)) fail(file, detail::format("\"{}\" is missing", name));
  try {
    return json.at(name).get<Value>();
  } catch (nlohmann::json::type_error const&) {
    fail(file, detail::format("\"{}\" is of the wrong type", name),
         std::is_arithmetic_v<Value> ? "write a number" : "write a string");
  }
}

/// The remedy for muParser's message.
std::string expression_hint(std::string_view message)
{
  return detail::similar_function(message) +
         "write an expression in x, for example \"max(0, x*x - 1)\", with the functions of "
         "muParser that the manual lists (man fatlink, FILES)";
}

void check_expression(reference const& read)
{
  try {
    detail::expression(read.expression).evaluate(0.5);
  } catch (detail::expression_error const& error) {
    fail(read.file, detail::format("\"reference\": {}", error.what()),
         expression_hint(error.what()).c_str());
  }
}

constexpr double k_largest_tolerance = 1U << 20U;  // ulp

void check_tolerance(reference const& read)
{
  if (!(read.tolerance_ulp >= 0) || std::isinf(read.tolerance_ulp))
    fail(read.file, "\"tolerance_ulp\" is not a number of ULP, 0 or more",
         "state a tolerance from 0 to 1048576 ulp");
  if (read.tolerance_ulp > k_largest_tolerance)
    fail(read.file,
         detail::format("\"tolerance_ulp\" is {}, above 2^20: it would verify anything",
                        read.tolerance_ulp),
         "state a tolerance of at most 1048576 ulp");
}

/// Whether a sidecar without "reference" states the digest of its file, or what transforms of other
/// hooks compute (verification/transform_reference.hpp).
bool states_other(nlohmann::json const& json)
{
  constexpr std::array k_others{"sha256", "hooks", "state", "element"};
  return std::ranges::any_of(k_others, [&](char const* key) { return json.contains(key); });
}

}  // namespace

reference reference::read(std::filesystem::path const& path)
{
  auto const json = detail::read_json(path);
  auto const file = path.string();
  reference read{.name = field<std::string>(*json, "name", file),
                 .summary = field<std::string>(*json, "summary", file),
                 .hook = field<std::string>(*json, "hook", file),
                 .expression = field<std::string>(*json, "reference", file),
                 .tolerance_ulp = field<double>(*json, "tolerance_ulp", file),
                 .file = file};
  check_tolerance(read);
  check_expression(read);
  return read;
}

std::optional<reference> reference::beside(std::filesystem::path const& file)
{
  auto const path = detail::find_sidecar(file);
  if (!path) return std::nullopt;
  // A sidecar may state only the digest of its file, a launch plan, or several hooks.
  auto const json = detail::read_json(*path);
  if (!json->contains("reference") && (states_other(*json) || detail::states_plan(*json)))
    return std::nullopt;
  return read(*path);
}

std::function<void(std::span<float const>, std::span<double>)> reference::evaluator() const
{
  return [parser = std::make_shared<detail::expression>(expression)](std::span<float const> values,
                                                                     std::span<double> expected) {
    for (std::size_t i = 0; i < values.size(); ++i)
      expected[i] = parser->evaluate(static_cast<double>(values[i]));
  };
}

}  // namespace fatlink
