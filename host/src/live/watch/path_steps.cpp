// SPDX-License-Identifier: Apache-2.0
#include "live/watch/path_steps.hpp"

#include <deque>
#include <system_error>
#include <utility>

namespace fatlink::detail {
namespace {

namespace fs = std::filesystem;

constexpr int k_most_links = 40;  // as Linux follows

class step_finder {
 public:
  std::vector<path_step> find(fs::path const& path)
  {
    prepend(path);
    while (!names_.empty())
      if (!take(next_name())) break;
    return std::move(steps_);
  }

 private:
  void prepend(fs::path const& path)
  {
    if (path.is_absolute()) folder_ = "/";
    std::deque<std::string> names;
    for (auto const& name : path.relative_path())
      if (!name.empty() && name != ".") names.push_back(name.string());
    names_.insert(names_.begin(), names.begin(), names.end());
  }

  std::string next_name()
  {
    auto name = std::move(names_.front());
    names_.pop_front();
    return name;
  }

  /// Follows one name; false where the way ends.
  bool take(std::string const& name)
  {
    if (name == "..") {
      folder_ = folder_.parent_path();
      return true;
    }
    steps_.push_back({folder_, name, names_.empty()});
    auto const path = folder_ / name;
    std::error_code failure;
    auto const type = fs::symlink_status(path, failure).type();
    if (type == fs::file_type::symlink) return follow_link(path);
    if (type == fs::file_type::directory) {
      folder_ = path;
      return true;
    }
    if (type == fs::file_type::regular) steps_.push_back({path, {}, true});
    return false;
  }

  bool follow_link(fs::path const& path)
  {
    std::error_code failure;
    auto const target = fs::read_symlink(path, failure);
    if (failure || ++links_ > k_most_links) return false;
    prepend(target);
    return true;
  }

  fs::path folder_ = "/";
  std::deque<std::string> names_;  ///< that follow `folder_`
  std::vector<path_step> steps_;
  int links_ = 0;
};

}  // namespace

std::vector<path_step> steps_to(fs::path const& path)
{
  return step_finder().find(path);
}

}  // namespace fatlink::detail
