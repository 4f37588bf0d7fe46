// SPDX-License-Identifier: Apache-2.0
#include "util/text/json.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

using json_value = nlohmann::json;

/// Empties `value`. The destructors of its members find nothing to flatten, so none allocates.
void remove_members(json_value& value) noexcept
{
  if (auto* const array = value.get_ptr<json_value::array_t*>()) {
    for (auto& element : *array) remove_members(element);
    array->clear();
  } else if (auto* const object = value.get_ptr<json_value::object_t*>()) {
    for (auto& [key, member] : *object) remove_members(member);
    object->clear();
  }
}

/// Receives the events of nlohmann's parser (its SAX interface) and builds `whole`. The parser of
/// whole values keeps its unfinished value in a nlohmann::json.
class document_builder {
 public:
  document_builder(json_value& whole, std::optional<std::string>* repeated_key)
      : whole_(whole), repeated_key_(repeated_key)
  {
  }

  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(json_value::number_integer_t value) { return put(value); }
  bool number_unsigned(json_value::number_unsigned_t value) { return put(value); }
  bool number_float(json_value::number_float_t value, std::string const& /*text*/)
  {
    return put(value);
  }
  bool string(std::string& value) { return put(std::move(value)); }
  bool binary(json_value::binary_t& value) { return put(std::move(value)); }

  bool start_object(std::size_t /*size*/) { return open(json_value::value_t::object); }
  bool start_array(std::size_t /*size*/) { return open(json_value::value_t::array); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name)
  {
    auto& object = *open_.back();
    if (repeated_key_ != nullptr && !*repeated_key_ && object.contains(name))
      *repeated_key_ = path_of(name);
    member_ = &object[std::move(name)];
    remove_members(*member_);  // of an equal key before
    return true;
  }

  template <typename Failure>
  bool parse_error(std::size_t /*position*/, std::string const& /*token*/, Failure const& failure)
  {
    throw failure;
  }

 private:
  /// Where the next value belongs.
  json_value& place()
  {
    if (open_.empty()) return whole_;
    auto* const array = open_.back()->get_ptr<json_value::array_t*>();
    return array != nullptr ? array->emplace_back() : *member_;
  }

  template <typename Value>
  bool put(Value&& value)
  {
    place() = json_value(std::forward<Value>(value));
    return true;
  }

  bool open(json_value::value_t kind)
  {
    auto& value = place();
    value = json_value(kind);
    open_.push_back(&value);
    return true;
  }
  bool close()
  {
    open_.pop_back();
    return true;
  }

  /// "launches[0].grid": the path of the member `name` of the innermost object.
  [[nodiscard]] std::string path_of(std::string const& name) const
  {
    std::string path;
    for (std::size_t i = 0; i + 1 < open_.size(); ++i) {
      auto const& parent = *open_[i];
      if (parent.is_array()) {
        path += format("[{}]", parent.size() - 1);
        continue;
      }
      auto const is_open = [&](auto const& member) { return &member.second == open_[i + 1]; };
      auto const& members = parent.get_ref<json_value::object_t const&>();
      path += dotted(path, std::ranges::find_if(members, is_open)->first);
    }
    return path + dotted(path, name);
  }

  static std::string dotted(std::string const& path, std::string const& key)
  {
    return detail::format("{}{}", path.empty() ? "" : ".", printable_line(key));
  }

  json_value& whole_;
  std::optional<std::string>* repeated_key_;
  std::vector<json_value*> open_;  ///< objects and arrays, the outermost first
  json_value* member_ = nullptr;   ///< of the innermost object
};

}  // namespace

void json_deleter::operator()(nlohmann::json* value) const noexcept
{
  remove_members(*value);
  delete value;
}

json_document parse_document(std::string_view text, std::optional<std::string>* repeated_key)
{
  json_document document(new nlohmann::json);
  document_builder builder(*document, repeated_key);
  (void)json_value::sax_parse(text.begin(), text.end(), &builder);
  return document;
}

std::string json_string(std::string const& text)
{
  return nlohmann::json(text).dump();
}

bool is_nested_deeper(std::string_view json, unsigned limit) noexcept
{
  unsigned depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    auto const letter = json[i];
    if (in_string) {
      if (letter == '\\') ++i;
      in_string = letter != '"';
    } else if (letter == '"') {
      in_string = true;
    } else if (letter == '[' || letter == '{') {
      if (++depth > limit) return true;
    } else if ((letter == ']' || letter == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

}  // namespace fatlink::detail
