// SPDX-License-Identifier: Apache-2.0
#include "plan/check_unique_keys.hpp"

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "plan/plan_error.hpp"
#include "util/text/format.hpp"
#include "util/text/printable.hpp"

namespace fatlink::detail {
namespace {

/// The objects and arrays that are open while nlohmann's parser reads JSON (its SAX interface).
class open_values {
 public:
  bool null() { return begin_value(); }
  bool boolean(bool /*value*/) { return begin_value(); }
  bool number_integer(std::int64_t /*value*/) { return begin_value(); }
  bool number_unsigned(std::uint64_t /*value*/) { return begin_value(); }
  bool number_float(double /*value*/, std::string const& /*text*/) { return begin_value(); }
  bool string(std::string& /*value*/) { return begin_value(); }
  bool binary(nlohmann::json::binary_t& /*value*/) { return begin_value(); }
  bool start_object(std::size_t /*size*/) { return begin_value() && open({}); }
  bool start_array(std::size_t /*size*/) { return begin_value() && open({.is_array = true}); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& key)
  {
    auto& object = levels_.back();
    object.key = key;
    if (!object.keys.insert(key).second && !repeated_) repeated_ = path();
    return true;
  }
  bool parse_error(std::size_t /*position*/, std::string const& /*token*/,
                   nlohmann::json::exception const& /*failure*/) noexcept
  {
    return false;  // the JSON was parsed before
  }

  [[nodiscard]] std::optional<std::string> const& repeated() const noexcept { return repeated_; }

 private:
  struct level {
    bool is_array = false;
    std::size_t count = 0;            ///< elements of an array until now
    std::set<std::string> keys = {};  ///< of an object
    std::string key = {};             ///< of the member that is read
  };

  bool begin_value() noexcept
  {
    if (!levels_.empty()) ++levels_.back().count;
    return true;
  }
  bool open(level opened)
  {
    levels_.push_back(std::move(opened));
    return true;
  }
  bool close()
  {
    levels_.pop_back();
    return true;
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
  (void)nlohmann::json::sax_parse(text, text + json.size(), &values);
  return values.repeated();
}

void check_unique_keys(bytes_view json, std::string const& file)
{
  if (auto const path = find_repeated_key(json))
    fail_plan(file, *path, "is stated twice", "remove one of the two");
}

}  // namespace fatlink::detail
