// SPDX-License-Identifier: Apache-2.0
#include "live/watch/stable_reader.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "input/find_sidecar.hpp"

namespace fatlink::detail {
namespace {

/// After a read that took some time, this many times as long passes without one.
constexpr int k_pause_for_read = 3;

}  // namespace

stable_reader::stable_reader(std::vector<std::filesystem::path> files,
                             std::chrono::milliseconds limit)
    : files_(std::move(files)),
      limit_(std::min<std::chrono::milliseconds>(limit, k_longest_limit)),
      had_sidecar_(files_.size(), false)
{
}

void stable_reader::note_change()
{
  last_change_ = clock::now();
  if (!is_waiting_) first_change_ = last_change_;
  is_waiting_ = true;
  next_read_ = std::max(last_change_, earliest_read_);
}

stable_reader::clock::time_point stable_reader::next_read() const noexcept
{
  return is_waiting_ ? next_read_ : clock::time_point::max();
}

stable_reader::clock::time_point stable_reader::bound() const noexcept
{
  return std::min(last_change_ + limit_, first_change_ + k_most_limits * limit_);
}

std::optional<stable_reader::version> stable_reader::read()
{
  auto const begin = clock::now();
  auto const is_quiet = begin - last_change_ >= k_quiet;
  auto const is_last = begin >= bound();
  try {
    auto files = read_all();
    auto const is_complete = (is_quiet || is_verified(files)) && !lacks_sidecar(files);
    if (is_complete || is_last) {
      accept(files, is_quiet || is_last);
      schedule(begin, is_quiet);
      return files;
    }
  } catch (std::exception const&) {
    if (is_last) {
      is_waiting_ = false;
      throw;
    }
  }
  schedule(begin, is_quiet);
  return std::nullopt;
}

stable_reader::version stable_reader::read_all() const
{
  version files;
  for (auto const& file : files_) files.push_back(input::read(file));
  return files;
}

bool stable_reader::is_verified(version const& files)
{
  return std::ranges::all_of(files, [](input const& file) { return file.is_verified(); });
}

/// Whether a file has lost its sidecar, which may be about to come back.
bool stable_reader::lacks_sidecar(version const& files) const
{
  for (std::size_t i = 0; i < files.size(); ++i)
    if (had_sidecar_[i] && !sidecar_of(files[i])) return true;
  return false;
}

void stable_reader::accept(version const& files, bool is_final)
{
  for (std::size_t i = 0; i < files.size(); ++i) had_sidecar_[i] = sidecar_of(files[i]) != nullptr;
  first_change_ = clock::now();
  if (is_final) is_waiting_ = false;
}

void stable_reader::schedule(clock::time_point begin, bool is_quiet)
{
  auto const end = clock::now();
  earliest_read_ = end + k_pause_for_read * (end - begin);
  next_read_ = std::max(is_quiet ? bound() : last_change_ + k_quiet, earliest_read_);
}

}  // namespace fatlink::detail
