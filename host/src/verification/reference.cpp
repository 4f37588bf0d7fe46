// SPDX-License-Identifier: Apache-2.0
#include "fatlink/reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <type_traits>

#include "expression/program.hpp"
#include "expression/words.hpp"
#include "fatbin/sidecar.hpp"
#include "input/stated_digest.hpp"
#include "plan/read_plan.hpp"
#include "util/text/format.hpp"

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

/// An expression in x.
class reference_program {
 public:
  explicit reference_program(std::string const& expression)
      : inputs_(k_block),
        program_(detail::expression_syntax(expression, detail::expression_use::reference),
                 std::array{detail::expression_variable{.name = "x", .reals = inputs_.data()}},
                 k_block)
  {
  }

  void evaluate(std::span<float const> values, std::span<double> expected)
  {
    for (std::size_t i = 0; i < values.size(); i += k_block) {
      auto const count = std::min(k_block, values.size() - i);
      std::ranges::copy(values.subspan(i, count), inputs_.begin());
      program_.evaluate(count);
      if (program_.is_integer())
        std::copy_n(program_.wholes(), count, expected.begin() + static_cast<std::ptrdiff_t>(i));
      else
        std::copy_n(program_.reals(), count, expected.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

 private:
  static constexpr std::size_t k_block = 256;  ///< elements that are evaluated at a time

  std::vector<double> inputs_;
  detail::expression_program program_;
};

std::shared_ptr<reference_program> compile(reference const& stated)
{
  try {
    return std::make_shared<reference_program>(stated.expression);
  } catch (detail::expression_error const& error) {
    fail(stated.file, detail::format("\"reference\": {}", error.what()),
         error
             .hint_with("write an expression in x, for example \"max(0, x*x - 1)\", with the "
                        "functions that docs/expressions.md lists")
             .c_str());
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
  (void)compile(read);
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
  return [program = compile(*this)](std::span<float const> values, std::span<double> expected) {
    program->evaluate(values, expected);
  };
}

}  // namespace fatlink
