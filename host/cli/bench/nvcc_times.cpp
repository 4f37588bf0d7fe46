// SPDX-License-Identifier: Apache-2.0
#include "bench/nvcc_times.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <string_view>

#include "bench/child_process.hpp"
#include "bench/median.hpp"
#include "compiler/installed_contract.hpp"
#include "error_report.hpp"
#include "fatlink/source.hpp"
#include "util/process/environment.hpp"
#include "vendor/vendor_library.hpp"

namespace fatlink::cli {
namespace {

namespace fs = std::filesystem;

bool is_program(fs::path const& file)
{
  std::error_code ignored;
  return fs::is_regular_file(file, ignored) && ::access(file.c_str(), X_OK) == 0;
}

/// The nvcc of PATH, otherwise that of the first toolkit that has one; empty: there is none.
std::string find_nvcc()
{
  std::vector<fs::path> folders;
  auto const search_path = detail::environment("PATH");
  for (std::string_view rest = search_path; !rest.empty();) {
    auto const end = std::min(rest.find(':'), rest.size());
    if (end > 0) folders.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  for (auto const& root : detail::toolkit_roots()) folders.push_back(root / "bin");
  for (auto const& folder : folders)
    if (is_program(folder / "nvcc")) return (folder / "nvcc").string();
  return {};
}

/// "13.0" of "Cuda compilation tools, release 13.0, V13.0.88"; empty if the text has none.
std::string release_in(std::string const& text)
{
  constexpr std::string_view k_mark = "release ";
  auto const start = text.find(k_mark);
  if (start == std::string::npos) return {};
  auto const first = start + k_mark.size();
  return text.substr(first, text.find(',', first) - first);
}

/// The header that was included before a source: of --header, or of the contract that the fatbin
/// made of it states.
std::string forced_header(bench_job const& job, input const& compiled)
{
  auto const& header = job.flags.sources.options.header;
  if (!header.empty()) return header.string();
  for (auto const& module : compiled.modules())
    if (auto const& ident = module.ident(); ident && !ident->contract.empty())
      return detail::find_contract(ident->contract).header_path;
  return {};
}

}  // namespace

nvcc_times::nvcc_times(bench_job const& job, std::string output)
    : job_(job), output_(std::move(output))
{
  for (std::size_t i = 0; i < job.files.size(); ++i) {
    if (!is_source_name(job.files[i])) continue;
    sources_.push_back(job.files[i]);
    header_ = forced_header(job, job.inputs[i]);
  }
  if (sources_.empty()) return;
  file_ = find_nvcc();
  if (file_.empty())
    skip("it is neither in PATH nor in a toolkit ($CUDA_HOME, /usr/local/cuda)");
  else
    version_ = release_in(run_child(file_, {file_, "--version"}).output);
  for (auto const& source : sources_)
    if (source.extension() != ".cu") skip(fmt::format("{} is LLVM IR", source.string()));
}

void nvcc_times::skip(std::string const& reason)
{
  print_warnings({fmt::format("nvcc is not measured: {}", reason)});
  file_.clear();
}

std::vector<std::string> nvcc_times::command(fs::path const& source) const
{
  auto const& options = job_.flags.sources.options;
  std::vector<std::string> words{file_, "-dlto", "-fatbin", "-arch=sm_75", "-o", output_};
  if (!header_.empty()) words.push_back("--pre-include=" + header_);
  for (auto const& folder : options.include_folders) words.push_back("-I" + folder.string());
  for (auto const& definition : options.definitions) words.push_back("-D" + definition);
  words.push_back(source.string());
  return words;
}

void nvcc_times::measure()
{
  if (file_.empty()) return;
  double process_ms = 0;
  double cpu_ms = 0;
  for (auto const& source : sources_) {
    auto const result = run_child(file_, command(source));
    if (!result.has_succeeded)
      return skip(fmt::format("{} does not compile {}", file_, source.string()));
    process_ms += result.ms;
    cpu_ms += result.cpu_ms;
  }
  process_ms_.push_back(process_ms);
  cpu_ms_.push_back(cpu_ms);
}

nlohmann::json nvcc_times::row() const
{
  if (file_.empty() || process_ms_.empty()) return nullptr;
  return {{"version", version_},
          {"file", file_},
          {"process_ms", median(process_ms_)},
          {"cpu_ms", median(cpu_ms_)}};
}

}  // namespace fatlink::cli
