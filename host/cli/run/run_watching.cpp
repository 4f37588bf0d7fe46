// SPDX-License-Identifier: Apache-2.0
// fatlink run --watch.
#include <filesystem>

#include "fatbin/sidecar.hpp"
#include "fatlink/source.hpp"
#include "installed.hpp"
#include "options.hpp"
#include "run/run_arguments.hpp"
#include "run/run_job.hpp"
#include "run/run_on_changes.hpp"
#include "terminal/streams.hpp"
#include "util/files/read_file.hpp"
#include "util/limits.hpp"
#include "verbs.hpp"

namespace fatlink::cli {
namespace {

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
    fail_usage("--json: one object is printed, and --watch prints many results", "--json",
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
