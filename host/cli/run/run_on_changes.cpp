// SPDX-License-Identifier: Apache-2.0
#include "run/run_on_changes.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "error_report.hpp"
#include "fatlink/linker.hpp"
#include "live/watch/stable_reader.hpp"
#include "terminal/standard_streams.hpp"

namespace fatlink::cli {
namespace {

/// How long inputs may not belong to their sidecars, before the run reports it.
constexpr std::chrono::milliseconds k_limit(2000);

class watched_runs {
 public:
  explicit watched_runs(watched_work const& work) : work_(work) {}

  void run()
  {
    for (;;) {
      run_once();
      watch_.follow();
      print_warnings(describe_warnings());
      fmt::print("waiting for changes of {}\n", work_.file.string());
      std::fflush(stdout);
      if (has_output_failed()) return;
      auto const changed = watch_.wait();
      wait_until_complete();
      fmt::print("\n{} changed\n", changed.string());
      std::fflush(stdout);  // before what standard error gets
    }
  }

 private:
  void run_once()
  {
    for (auto is_stable = false; !is_stable;) try {
        is_stable = true;
        work_.run(watch_);
      } catch (file_error const& failure) {
        is_stable = watch_.find_change().empty();
        if (is_stable)
          (void)report_failure(failure, false);
        else
          wait_until_complete();
      } catch (std::exception const& failure) {
        (void)report_failure(failure, false);
      }
  }

  /// Until every input can be read and is the one that its sidecar states; at most for the limit,
  /// after which the run reports what is wrong.
  void wait_until_complete()
  try {
    auto inputs = work_.inputs();
    if (!reader_ || reader_->files() != inputs)
      reader_ = std::make_unique<detail::stable_reader>(std::move(inputs), k_limit);
    reader_->note_change();
    while (!reader_->read()) {
      watch_.wait_for_event(reader_->next_read());
      if (!watch_.find_change().empty()) reader_->note_change();
    }
  } catch (fatlink::error const&) {
    return;
  }

  std::vector<std::string> describe_warnings()
  {
    std::vector<std::string> texts;
    for (auto const& warning : watch_.take_warnings())
      texts.push_back(fmt::format("{}; {}", warning.message, warning.hint));
    return texts;
  }

  watched_work const& work_;
  fatlink::linker const keeps_helpers_;
  detail::file_watch watch_;
  std::unique_ptr<detail::stable_reader> reader_;
};

}  // namespace

void run_on_changes(watched_work const& work)
{
  watched_runs(work).run();
}

}  // namespace fatlink::cli
