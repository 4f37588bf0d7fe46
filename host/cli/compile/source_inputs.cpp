// SPDX-License-Identifier: Apache-2.0
#include "compile/source_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <thread>

#include "error_report.hpp"
#include "installed.hpp"
#include "options.hpp"
#include "terminal/streams.hpp"
#include "util/process/parallel.hpp"

namespace fatlink::cli {
namespace {

/// The contract that an input states; empty if none does.
std::string find_input_contract(std::vector<std::optional<input>> const& inputs)
{
  for (auto const& file : inputs)
    if (file)
      for (auto const& module : file->modules())
        if (auto const& ident = module.ident(); ident && !ident->contract.empty())
          return ident->contract;
  return {};
}

/// A source, and where its input belongs.
struct job {
  fatlink::source code;
  std::size_t index = 0;
  std::optional<compiled_source> result = {};
  header_lookups lookups = {};
  std::exception_ptr failure = {};
};

/// Compiles all jobs, at most one for each core at once; also into `layer`, unless it is empty.
void compile_all(std::vector<job>& jobs, compiler& tool, compile_options const& options,
                 std::filesystem::path const& layer)
{
  auto const compile = [&](job& next) {
    try {
      next.result = layer.empty() ? tool.compile(next.code, options, &next.lookups)
                                  : tool.compile_into(layer, next.code, options);
      if (!layer.empty()) next.lookups.found = next.result->headers;
    } catch (...) {
      next.failure = std::current_exception();
    }
  };
  if (jobs.size() == 1) return compile(jobs.front());
  auto const cores = std::max<std::size_t>(std::thread::hardware_concurrency(), 1);
  std::atomic<std::size_t> next = 0;
  auto const take_jobs = [&] {
    for (auto index = next++; index < jobs.size(); index = next++) compile(jobs[index]);
  };
  auto const helpers = detail::start_helpers(std::min(cores, jobs.size()) - 1, take_jobs);
  take_jobs();
}

void add_source(compile_report& report, std::filesystem::path const& file,
                compiled_source const& result)
{
  report.sources.push_back({.file = file,
                            .producer = result.producer,
                            .cache = result.cache,
                            .ms = result.times.open_ms + result.times.compile_ms});
  report.warnings.insert(report.warnings.end(), result.warnings.begin(), result.warnings.end());
}

void add_headers(compile_report& report, header_lookups const& lookups)
{
  report.headers.insert(report.headers.end(), lookups.found.begin(), lookups.found.end());
  report.missing.insert(report.missing.end(), lookups.missing.begin(), lookups.missing.end());
}

}  // namespace

std::vector<input> read_inputs(std::vector<std::filesystem::path> const& files,
                               compile_flags const& flags, compile_report* report,
                               std::optional<input> first)
{
  std::vector<std::optional<input>> inputs(files.size());
  if (first) inputs.front() = std::move(first);
  std::vector<job> jobs;
  for (std::size_t i = 0; i < files.size(); ++i)
    if (is_source_name(files[i]))
      jobs.push_back({.code = source::read(files[i]), .index = i});
    else if (!inputs[i])
      inputs[i] = input::read(files[i]);
  if (jobs.empty()) {
    flags.refuse_source_options();
  } else {
    auto options = flags.make_options();
    flags.warn_of_missing_folders();
    if (options.contract.empty() && options.header.empty())
      options.contract = find_input_contract(inputs);
    auto tool = flags.compiler();
    compile_all(jobs, tool, options, flags.layer);
  }
  if (report != nullptr)
    for (auto const& done : jobs) add_headers(*report, done.lookups);
  for (auto& done : jobs) {
    if (done.failure) std::rethrow_exception(done.failure);
    print_warnings(done.result->warnings);
    if (report != nullptr) add_source(*report, files[done.index], *done.result);
    inputs[done.index] = input(done.result->code);
  }
  std::vector<input> all;
  for (auto& file : inputs) all.push_back(std::move(*file));
  return all;
}

std::vector<input> read_inputs(std::vector<std::string> const& names, compile_flags const& flags,
                               compile_report* report)
{
  std::vector<std::filesystem::path> files;
  for (auto const& name : names) files.push_back(input_file(name));
  return read_inputs(files, flags, report);
}

void keep_headers(std::vector<std::filesystem::path> const& headers,
                  std::vector<std::string> const& outputs)
{
  std::error_code ignored;
  for (auto const& file : outputs) {
    if (is_standard_output(file)) continue;
    for (auto const& header : headers)
      if (std::filesystem::equivalent(header, file, ignored))
        fail_usage(fmt::format("{} is a header of the source", file), file,
                   "name another file with --output");
  }
}

}  // namespace fatlink::cli
