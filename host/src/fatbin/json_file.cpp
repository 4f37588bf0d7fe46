// SPDX-License-Identifier: Apache-2.0
#include "fatbin/json_file.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/identifier.hpp"
#include "util/files/read_file.hpp"
#include "util/limits.hpp"
#include "util/text/format.hpp"
#include "util/text/nearest.hpp"

namespace fatlink::detail {
namespace {

constexpr std::size_t k_longest_name = 256;  // characters

/// The remedy for a file that is too large.
constexpr char const* k_example =
    R"(for example {"name": "half", "summary": "x / 2", "hook": "user_transform", )"
    R"("reference": "x / 2", "tolerance_ulp": 1})";

/// "line 3, column 5" of the byte `position` of `text`, which counts from 1.
std::string line_and_column(std::string_view text, std::size_t position)
{
  auto const before = text.substr(0, position == 0 ? 0 : position - 1);
  auto const line = before.rfind('\n');
  return detail::format("line {}, column {}", std::ranges::count(before, '\n') + 1,
                        before.size() - (line == std::string_view::npos ? 0 : line + 1) + 1);
}

[[noreturn]] void fail_whole(std::string const& file, std::string const& cause, char const* hint)
{
  fail_json(error_code::invalid_sidecar, file, {}, cause, hint);
}

json_document parse(std::string const& text, std::string const& name,
                    std::optional<std::string>& repeated_key)
try {
  if (is_nested_deeper(text, limits::k_json_depth))
    fail_whole(
        name,
        detail::format("nests arrays and objects deeper than {}, the limit", limits::k_json_depth),
        "nest arrays and objects less deeply");
  auto json = parse_document(text, &repeated_key);
  if (!json->is_object())
    fail_whole(name, "is not a JSON object", "write one object: {\"name\": \"…\", …}");
  return json;
} catch (nlohmann::json::parse_error const& error) {
  fail_whole(name, detail::format("is not JSON ({})", line_and_column(text, error.byte)),
             "correct the syntax there; if a build wrote the file, build again");
} catch (nlohmann::json::out_of_range const&) {
  fail_whole(name, "holds a number that is out of range", "write a number in the range of float64");
}

}  // namespace

json_file::json_file(bytes_view bytes, std::string name)
    : name_(std::move(name)),
      text_(reinterpret_cast<char const*>(bytes.data()), bytes.size()),
      json_(parse(text_, name_, repeated_key_))
{
}

std::shared_ptr<json_file const> json_file::read(std::filesystem::path const& path)
{
  return std::make_shared<json_file>(read_file(path, limits::k_json_bytes, k_example),
                                     path.string());
}

void json_file::check_unique_keys(error_code code) const
{
  if (repeated_key_)
    fail_json(code, name_, *repeated_key_, "is stated twice", "remove one of the two");
}

void fail_json(error_code code, std::string const& file, std::string const& place,
               std::string const& cause, std::string hint)
{
  throw file_error(stage::sidecar,
                   {.message = place.empty() ? detail::format("{}: {}", file, cause)
                                             : detail::format("{}: {}: {}", file, place, cause),
                    .input = file,
                    .code = code,
                    .hint = std::move(hint)});
}

void json_place::fail(std::string const& cause, std::string hint) const
{
  fail_json(code_, *file_, path_, cause, std::move(hint));
}

void json_place::fail_unknown(char const* what, std::string_view word,
                              std::vector<std::string> const& known) const
{
  auto const similar = intended_name(known, word);
  fail(detail::format("unknown {} {}", what, in_quotes(word)),
       !similar.empty() ? detail::format("did you mean \"{}\"?", similar)
       : known.empty()  ? detail::format("there is none; remove it")
                        : detail::format("write {}{}", known.size() == 1 ? "" : "one of ",
                                         fmt::join(known, ", ")));
}

void json_place::fail_type(char const* expected) const
{
  fail(detail::format("is of type {}; expected {}", value_->type_name(), expected),
       detail::format("write {}", expected));
}

json_place json_place::below(nlohmann::json const& value, std::string path) const
{
  json_place place(value, *file_, code_);
  place.path_ = std::move(path);
  return place;
}

std::optional<json_place> json_place::find(std::string const& key) const
{
  auto const member = value_->find(key);
  if (member == value_->end()) return std::nullopt;
  return below(*member, path_ + (path_.empty() ? "" : ".") + printable_line(key));
}

json_place json_place::member(std::string const& key) const
{
  auto place = find(key);
  if (!place)
    fail(detail::format("\"{}\" is missing", key),
         detail::format(
             "add \"{}\"; {} describes it", key,
             code_ == error_code::invalid_plan ? "docs/launch_plans.md" : "docs/fatbin_format.md"));
  return *place;
}

void json_place::check_keys(std::vector<std::string> const& keys) const
{
  if (!value_->is_object()) fail_type("an object");
  for (auto const& [key, ignored] : value_->items())
    if (std::ranges::find(keys, key) == keys.end()) fail_unknown("key", key, keys);
}

void json_place::check_size(char const* what, std::size_t most) const
{
  if (value_->size() > most)
    fail(detail::format("has {} {}, above {}, the limit", value_->size(), what, most),
         "state fewer of them");
}

std::vector<std::pair<std::string, json_place>> json_place::members(std::size_t most) const
{
  if (!value_->is_object()) fail_type("an object");
  check_size("members", most);
  std::vector<std::pair<std::string, json_place>> places;
  for (auto const& [key, ignored] : value_->items()) places.emplace_back(key, member(key));
  return places;
}

std::vector<json_place> json_place::elements(std::size_t most) const
{
  if (!value_->is_array()) fail_type("an array");
  check_size("elements", most);
  std::vector<json_place> places;
  for (auto const& element : *value_)
    places.push_back(below(element, detail::format("{}[{}]", path_, places.size())));
  return places;
}

json_place const& json_place::not_empty() const
{
  if (value_->is_structured() && value_->empty())
    fail("is empty", "state at least one, or remove it");
  return *this;
}

std::string json_place::string() const
{
  if (!value_->is_string()) fail_type("a string");
  return value_->get<std::string>();
}

std::string json_place::text() const
{
  auto text = string();
  if (text.empty()) fail("is empty", "write a text");
  return text;
}

double json_place::number() const
{
  if (!value_->is_number()) fail_type("a number");
  return value_->get<double>();
}

void json_place::check_identifier(std::string_view name) const
{
  if (!is_identifier(name) || name.size() > k_longest_name)
    fail(detail::format("{} is not a name", in_quotes(name)),
         "use at most 256 letters, digits and _, and no digit first");
}

std::string json_place::identifier() const
{
  auto name = text();
  check_identifier(name);
  return name;
}

std::string json_place::formula() const
{
  if (value_->is_number_integer()) return value_->dump();
  if (!value_->is_string()) fail_type("a formula: a string or a whole number");
  return text();
}

// The numbers that a name of C++ means.

namespace {

struct named_scalar {
  std::string_view type;
  scalar_kind kind;
};

// As the demangler names them.
constexpr std::array k_scalars{
    named_scalar{"__half", scalar_kind::float16},
    named_scalar{"__nv_bfloat16", scalar_kind::bfloat16},
    named_scalar{"float", scalar_kind::float32},
    named_scalar{"double", scalar_kind::float64},
    named_scalar{"signed char", scalar_kind::int8},
    named_scalar{"char", scalar_kind::int8},
    named_scalar{"short", scalar_kind::int16},
    named_scalar{"int", scalar_kind::int32},
    named_scalar{"long", scalar_kind::int64},
    named_scalar{"long long", scalar_kind::int64},
    named_scalar{"unsigned char", scalar_kind::uint8},
    named_scalar{"bool", scalar_kind::uint8},
    named_scalar{"unsigned short", scalar_kind::uint16},
    named_scalar{"unsigned int", scalar_kind::uint32},
    named_scalar{"unsigned long", scalar_kind::uint64},
    named_scalar{"unsigned long long", scalar_kind::uint64},
    named_scalar{"float2", scalar_kind::complex64},
    named_scalar{"double2", scalar_kind::complex128},
};

}  // namespace

std::optional<scalar_kind> number_of_cpp(std::string_view type) noexcept
{
  auto const* const place = std::ranges::find(k_scalars, type, &named_scalar::type);
  if (place == k_scalars.end()) return std::nullopt;
  return place->kind;
}

std::string intended_name(std::vector<std::string> const& known, std::string_view word)
{
  if (auto const number = number_of_cpp(word)) {
    auto const place = std::ranges::find(known, to_string(*number));
    if (place != known.end()) return *place;
  }
  return nearest(known, word);
}

}  // namespace fatlink::detail
