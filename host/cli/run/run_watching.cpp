// SPDX-License-Identifier: Apache-2.0
// fatlink run --watch: runs again after each change of the files that a run reads.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "error_report.hpp"
#include "fatbin/sidecar.hpp"
#include "fatlink/linker.hpp"
#include "fatlink/source.hpp"
#include "installed.hpp"
#include "live/watch/file_watch.hpp"
#include "live/watch/stable_reader.hpp"
#include "options.hpp"
#include "run/run_arguments.hpp"
#include "run/run_job.hpp"
#include "terminal/streams.hpp"
#include "util/files/read_file.hpp"
#include "util/limits.hpp"
#include "verbs.hpp"

namespace fatlink::cli {
namespace {

/// What is run.
struct watched_work {
  std::filesystem::path file = {};  ///< the one that the text names
  /// The inputs that have a sidecar, sources not included. May throw fatlink::error.
  std::function<std::vector<std::filesystem::path>()> inputs = {};
  /// Runs, and adds the files that it reads to the watch.
  std::function<void(detail::file_watch&)> run = {};
};

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

/// Runs `work` now and after each change, once inputs and their sidecars belong together, until a
/// signal ends the process or standard output is closed. Reports what it throws, unless a file was
/// replaced meanwhile: then it runs again. Helpers stay warm between runs.
void run_on_changes(watched_work const& work)
{
  watched_runs(work).run();
}

/// `text`: FILE or NAME=FILE.
void add_named(std::vector<std::filesystem::path>& files, std::string const& text)
{
  if (is_stream(text)) return;
  files.emplace_back(text);
  if (auto const equals = text.find('='); equals != std::string::npos)
    files.emplace_back(text.substr(equals + 1));
}

/// The inputs, with the files that may be their sidecars, and what else a run reads; not headers.
std::vector<std::filesystem::path> list_files(run_arguments const& given)
{
  auto const arguments = with_library(given);
  auto const& sources = arguments.link.sources.options;
  std::vector<std::filesystem::path> files(sources.include_folders);
  for (auto const& input : find_files(arguments.library, arguments.transforms)) {
    files.push_back(input);
    files.push_back(detail::sidecar_path(input));
    files.push_back(std::filesystem::path(input) += ".json");
  }
  if (!sources.header.empty()) files.push_back(sources.header);
  auto const& plan = arguments.plan;
  for (auto const* const texts : {&plan.inputs, &plan.expected, &plan.states})
    for (auto const& text : *texts) add_named(files, text);
  return files;
}

/// The inputs without sources.
std::vector<std::filesystem::path> list_inputs(run_arguments const& given)
{
  auto const arguments = with_library(given);
  auto files = find_files(arguments.library, arguments.transforms);
  std::erase_if(files, is_source_name);
  return files;
}

void add_headers(detail::file_watch& watch, compile_report const& compiles)
{
  watch.add_read(compiles.headers);
  watch.add_read(compiles.missing);
}

void run_once(run_arguments const& arguments, detail::file_watch& watch)
{
  watch.add(list_files(arguments));
  compile_report compiles;
  try {
    (void)run(arguments, compiles);
  } catch (...) {
    add_headers(watch, compiles);
    throw;
  }
  add_headers(watch, compiles);
}

}  // namespace

int run_watching(run_arguments arguments)
{
  if (arguments.json)
    fail_usage("--json prints one object, but --watch prints many results", "--json",
               "leave out --json, or --watch");
  arguments.transforms.push_back(arguments.watched);
  auto const file = input_file(arguments.watched);
  (void)detail::read_file(file, limits::k_file_bytes, "name a transform to watch");
  run_on_changes({.file = file,
                  .inputs = [&] { return list_inputs(arguments); },
                  .run = [&](detail::file_watch& watch) { run_once(arguments, watch); }});
  return k_done;
}

}  // namespace fatlink::cli
