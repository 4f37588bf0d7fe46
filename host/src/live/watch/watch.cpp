// SPDX-License-Identifier: Apache-2.0
// Watches the files of a live module or live plan, and hands out each version of them once.
#include "fatlink/watch.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fatbin/sidecar.hpp"
#include "fatlink/error.hpp"
#include "fatlink/input.hpp"
#include "input/find_sidecar.hpp"
#include "live/background_thread.hpp"
#include "live/watch/file_watch.hpp"
#include "live/watch/stable_reader.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace {

using clock = std::chrono::steady_clock;

/// Of one wait in the thread of watch(), after which it reports warnings.
constexpr std::chrono::seconds k_turn(10);

void check(std::vector<std::filesystem::path> const& files, watch_options const& options)
{
  if (files.empty())
    throw usage_error({.message = "no file to watch",
                       .code = error_code::missing_input,
                       .hint = "pass the files of the inputs"});
  if (!options.known.empty() && options.known.size() != files.size())
    throw usage_error({.message = detail::format("{} files to watch, and {} known inputs",
                                                 files.size(), options.known.size()),
                       .code = error_code::invalid_argument,
                       .hint = "pass one known input for each file, or none"});
  if (options.limit.count() <= 0)
    throw usage_error(
        {.message = detail::format("the limit of a watch is {} ms", options.limit.count()),
         .code = error_code::invalid_time_limit,
         .hint = "pass a limit above 0"});
}

clock::time_point add(clock::time_point begin, std::chrono::milliseconds time)
{
  auto const most = std::chrono::floor<std::chrono::milliseconds>(clock::time_point::max() - begin);
  if (time.count() <= 0) return begin;
  return time < most ? begin + time : clock::time_point::max();
}

std::vector<digest256> digests_of(std::vector<input> const& files)
{
  std::vector<digest256> digests;
  for (auto const& file : files) digests.push_back(file.digest());
  return digests;
}

/// The texts of the sidecars; empty where there is none.
std::vector<std::string> sidecars_of(std::vector<input> const& files)
{
  std::vector<std::string> texts;
  for (auto const& file : files) {
    auto const sidecar = detail::sidecar_of(file);
    texts.push_back(sidecar ? sidecar->text() : std::string());
  }
  return texts;
}

/// The files with those that may be their sidecars.
std::vector<std::filesystem::path> add_sidecars(std::vector<std::filesystem::path> const& files)
{
  std::vector<std::filesystem::path> all;
  for (auto const& file : files) {
    all.push_back(file);
    all.push_back(detail::sidecar_path(file));
    if (file.extension() != ".fatbin") all.push_back(std::filesystem::path(file) += ".json");
  }
  return all;
}

}  // namespace

struct input_watch::state {
  /// What tells one version of watched files from another.
  struct version_identity {
    std::vector<digest256> digests = {};
    std::optional<std::vector<std::string>> sidecars = {};  ///< nothing: any

    [[nodiscard]] bool is(std::vector<input> const& inputs) const
    {
      return digests == digests_of(inputs) && (!sidecars || *sidecars == sidecars_of(inputs));
    }
  };

  state(std::vector<std::filesystem::path> paths, watch_options const& options)
      : files(options.use_inotify),
        reader(std::move(paths), options.limit),
        current{digests_of(options.known)}
  {
    files.add(add_sidecars(reader.files()));
    reader.note_change();
  }

  /// Looks at the files; the version that is there, if it is complete and not the current one.
  std::optional<detail::stable_reader::version> look()
  {
    if (!files.find_change().empty()) reader.note_change();
    if (clock::now() < reader.next_read()) return std::nullopt;
    auto version = reader.read();
    if (!version || current.is(*version)) return std::nullopt;
    if (!detail::stable_reader::is_verified(*version) && !files.find_change().empty()) {
      reader.note_change();  // may be half of each
      return std::nullopt;
    }
    return version;
  }

  std::vector<input> publish(detail::stable_reader::version version)
  {
    sidecars = sidecars_of(version);
    current = {digests_of(version), sidecars};
    return version;
  }

  detail::file_watch files;
  detail::stable_reader reader;
  version_identity current;  ///< of the version that was returned last
  std::vector<std::string> sidecars = {};
};

input_watch::input_watch(std::vector<std::filesystem::path> files, watch_options options)
{
  check(files, options);
  for (auto& file : files) file = std::filesystem::absolute(file);
  state_ = std::make_unique<state>(std::move(files), options);
}

input_watch::~input_watch() = default;

std::optional<std::vector<input>> input_watch::wait(std::chrono::milliseconds timeout)
{
  auto const deadline = add(clock::now(), timeout);
  while (!is_stopped()) {
    if (auto version = state_->look()) return state_->publish(std::move(*version));
    if (clock::now() >= deadline) break;
    state_->files.wait_for_event(std::min(deadline, state_->reader.next_read()));
  }
  return std::nullopt;
}

std::vector<std::string> const& input_watch::sidecars() const noexcept
{
  return state_->sidecars;
}

void input_watch::stop() noexcept
{
  state_->files.stop();
}

bool input_watch::is_stopped() const noexcept
{
  return state_->files.is_stopped();
}

std::vector<error_details> input_watch::take_warnings()
{
  return state_->files.take_warnings();
}

struct background_watch::state {
  state(std::vector<std::filesystem::path> paths, version_function version_call,
        error_function error_call, watch_options options)
      : files(std::move(paths), std::move(options)),
        on_version(std::move(version_call)),
        on_error(std::move(error_call)),
        thread([this] {
          run();
          if (is_abandoned) delete this;
        })
  {
  }

  void run() noexcept
  {
    for (std::chrono::milliseconds turn(0); !files.is_stopped(); turn = k_turn) try {
        auto inputs = files.wait(turn);
        report_warnings();
        if (inputs) on_version(std::move(*inputs));
      } catch (std::exception const& failure) {
        on_error(failure);
      }
  }

  input_watch files;
  version_function on_version;
  error_function on_error;
  bool is_abandoned = false;         ///< one of the functions destroyed the watch
  detail::background_thread thread;  ///< last: it uses the other members

 private:
  void report_warnings()
  {
    for (auto const& warning : files.take_warnings())
      on_error(unavailable_error(stage::input, warning));
  }
};

background_watch::background_watch(std::vector<std::filesystem::path> files,
                                   version_function on_version, error_function on_error,
                                   watch_options options)
{
  if (!on_version || !on_error)
    throw usage_error({.message = "a watch without a function for versions, or for errors",
                       .code = error_code::invalid_argument,
                       .hint = "pass both functions"});
  state_ = std::make_unique<state>(std::move(files), std::move(on_version), std::move(on_error),
                                   std::move(options));
}

background_watch::~background_watch()
{
  if (!state_->thread.exists()) {
    (void)state_.release();  // the thread is the parent's, which uses the state on
    return;
  }
  state_->files.stop();
  if (state_->thread.is_current()) state_.release()->is_abandoned = true;
}

background_watch watch(std::vector<std::filesystem::path> files,
                       background_watch::version_function on_version,
                       background_watch::error_function on_error, watch_options options)
{
  return {std::move(files), std::move(on_version), std::move(on_error), std::move(options)};
}

}  // namespace fatlink
