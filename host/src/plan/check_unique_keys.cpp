// SPDX-License-Identifier: Apache-2.0
#include "plan/check_unique_keys.hpp"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "plan/plan_error.hpp"
#include "util/text/format.hpp"
#include "util/text/printable.hpp"

namespace fatlink::detail {
namespace {

using event = nlohmann::json::parse_event_t;

/// The objects and arrays that are open while JSON is read.
class open_values {
 public:
  void take(event kind, nlohmann::json const& value)
  {
    switch (kind) {
      case event::key:
        return take_key(value.get_ref<std::string const&>());
      case event::object_start:
        begin_value();
        return levels_.push_back({});
      case event::array_start:
        begin_value();
        return levels_.push_back({.is_array = true});
      case event::value:
        return begin_value();
      case event::object_end:
      case event::array_end:
        return levels_.pop_back();
    }
  }

  [[nodiscard]] std::optional<std::string> const& repeated() const noexcept { return repeated_; }

 private:
  struct level {
    bool is_array = false;
    std::size_t count = 0;            ///< elements of an array until now
    std::set<std::string> keys = {};  ///< of an object
    std::string key = {};             ///< of the member that is read
  };

  void begin_value()
  {
    if (!levels_.empty()) ++levels_.back().count;
  }

  void take_key(std::string const& key)
  {
    auto& object = levels_.back();
    object.key = key;
    if (!object.keys.insert(key).second && !repeated_) repeated_ = path();
  }

  /// "launches[0].grid"
  [[nodiscard]] std::string path() const
  {
    std::string text;
    for (auto const& open : levels_)
      text += open.is_array
                  ? detail::format("[{}]", open.count - 1)
                  : detail::format("{}{}", text.empty() ? "" : ".", printable_line(open.key));
    return text;
  }

  std::vector<level> levels_ = {};
  std::optional<std::string> repeated_ = {};
};

}  // namespace

std::optional<std::string> find_repeated_key(bytes_view json)
{
  open_values values;
  auto const* const text = reinterpret_cast<char const*>(json.data());
  auto const take = [&](int, event kind, nlohmann::json const& value) {
    values.take(kind, value);
    return true;
  };
  [[maybe_unused]] auto const read = nlohmann::json::parse(text, text + json.size(), take);
  return values.repeated();
}

void check_unique_keys(bytes_view json, std::string const& file)
{
  if (auto const path = find_repeated_key(json))
    fail_plan(file, *path, "is stated twice", "remove one of the two");
}

}  // namespace fatlink::detail
