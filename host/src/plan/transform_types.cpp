// SPDX-License-Identifier: Apache-2.0
#include "plan/transform_types.hpp"

#include <cmath>
#include <span>

#include "fatlink/error.hpp"
#include "plan/components.hpp"
#include "util/text/format.hpp"
#include "util/text/printable.hpp"

namespace fatlink::detail {
namespace {

constexpr std::size_t k_most_members = 256;

element_type read_type(json_place const& member)
{
  auto const text = member.text();
  auto const type = parse_element_type(text);
  if (type) return *type;
  std::vector<std::string> known;
  for (auto kind = scalar_kind::float16; kind < scalar_kind::bytes;
       kind = static_cast<scalar_kind>(static_cast<int>(kind) + 1))
    known.emplace_back(to_string(kind));
  member.fail_unknown("type", text, known);
}

element_type read_record(json_place const& list, std::vector<std::string> const& keys)
{
  std::vector<std::string> names;
  std::vector<element_type> types;
  for (auto const& field : list.not_empty().elements(k_most_members)) {
    field.check_keys(keys);
    names.push_back(field.member("name").identifier());
    types.push_back(read_type(field.member("type")));
  }
  try {
    return record_type({}, names, types);
  } catch (usage_error const& refused) {
    list.fail(detail::format("is no struct: {}", refused.what()), refused.details().hint);
  }
}

/// Writes one number of a default.
void put(json_place const& stated, nlohmann::json const& value, scalar_kind kind, std::byte* place)
{
  if (!value.is_number()) stated.fail("is of the wrong type", "write a number");
  number stored{.real = value.get<double>()};
  if (is_integer(kind)) {
    if (value.is_number_unsigned())
      stored = whole_number(value.get<std::uint64_t>());
    else if (value.is_number_integer())
      stored = whole_number(value.get<std::int64_t>());
    else
      stated.fail(detail::format("is not a whole number, as {} is", to_string(kind)),
                  "write a number without a fraction");
    if (wrapped(kind, stored.whole) != stored.whole)
      stated.fail(detail::format("is out of the range of {}", to_string(kind)),
                  "write a number in the range of the type");
  } else if (std::abs(stored.real) >= format_of(kind).overflow()) {
    stated.fail(detail::format("is out of the range of {}", to_string(kind)),
                "write a number in the range of the type");
  }
  store(kind, stored, place);
}

void put_default(json_place const& stated, element_type const& type, std::byte* place)
{
  auto const parts = components_of(type);
  auto const& value = stated.value();
  if (parts.size() == 1) return put(stated, value, parts.front().kind, place);
  if (!value.is_array() || value.size() != parts.size())
    stated.fail("is of the wrong type", "write [real, imaginary]");
  for (std::size_t i = 0; i < parts.size(); ++i)
    put(stated, value[i], parts[i].kind, place + parts[i].offset);
}

}  // namespace

transform_types transform_types::read(json_place const& sidecar)
{
  transform_types types;
  if (auto const element = sidecar.find("element"))
    types.element = element->value().is_string() ? read_type(*element)
                                                 : read_record(*element, {"name", "type"});
  auto const state = sidecar.find("state");
  if (!state) return types;
  types.state = read_record(*state, {"name", "type", "default"});
  types.default_state.resize(types.state->size);
  auto const list = state->elements(k_most_members);
  for (std::size_t i = 0; i < list.size(); ++i)
    if (auto const stated = list[i].find("default")) {
      auto const& field = types.state->fields[i];
      put_default(*stated, field.type, types.default_state.data() + field.offset);
    }
  return types;
}

}  // namespace fatlink::detail
