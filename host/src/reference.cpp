// SPDX-License-Identifier: Apache-2.0
#include "fatlink/reference.hpp"

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "detail/expression.hpp"
#include "detail/format.hpp"
#include "detail/json_file.hpp"

namespace fatlink {
namespace {

[[noreturn]] void fail(std::string const& file, std::string const& why,
                       char const* hint = detail::k_json_example)
{
  throw file_error(stage::verify, {.message = detail::format("{}: {}", file, why),
                                   .input = file,
                                   .code = {},
                                   .log = {},
                                   .hint = hint});
}

template <typename Value>
Value field(nlohmann::json const& json, char const* name, std::string const& file)
{
  if (!json.contains(name)) fail(file, detail::format("\"{}\" is missing", name));
  try {
    return json.at(name).get<Value>();
  } catch (nlohmann::json::type_error const&) {
    fail(file, detail::format("\"{}\" is of the wrong type", name));
  }
}

void check_expression(reference const& read)
{
  try {
    detail::expression(read.expression).at(0.5);
  } catch (detail::expression_error const& error) {
    fail(read.file, detail::format("\"reference\": {}", error.what()),
         "it is an expression in x, for example \"max(0, x*x - 1)\"");
  }
}

}  // namespace

reference reference::read(std::filesystem::path const& path)
{
  auto const json = detail::read_json(path);
  auto const file = path.string();
  reference read{.name = field<std::string>(json, "name", file),
                 .summary = field<std::string>(json, "summary", file),
                 .hook = field<std::string>(json, "hook", file),
                 .expression = field<std::string>(json, "reference", file),
                 .tolerance_ulp = field<double>(json, "tolerance_ulp", file),
                 .file = file};
  if (!(read.tolerance_ulp >= 0) || std::isinf(read.tolerance_ulp))
    fail(file, "\"tolerance_ulp\" is not a number of ULP, 0 or more");
  check_expression(read);
  return read;
}

std::optional<reference> reference::beside(std::filesystem::path const& fatbin)
{
  auto path = fatbin;
  path.replace_extension(".json");
  std::error_code ignored;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) return std::nullopt;
  // A .json may state the fatbin's digest alone.
  auto const json = detail::read_json(path);
  if (json.contains("sha256") && !json.contains("reference")) return std::nullopt;
  return read(path);
}

std::function<void(std::span<float const>, std::span<double>)> reference::evaluator() const
{
  return [parser = std::make_shared<detail::expression>(expression)](std::span<float const> values,
                                                                     std::span<double> expected) {
    for (std::size_t i = 0; i < values.size(); ++i)
      expected[i] = parser->at(static_cast<double>(values[i]));
  };
}

}  // namespace fatlink
