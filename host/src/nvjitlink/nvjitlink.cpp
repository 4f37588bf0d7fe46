// SPDX-License-Identifier: Apache-2.0
#include "fatlink/nvjitlink.hpp"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <set>

#include "nvjitlink/api.hpp"
#include "nvjitlink/find_by_loader.hpp"
#include "nvjitlink/identity.hpp"
#include "nvjitlink/refuse_nvjitlink.hpp"
#include "util/files/shared_library.hpp"
#include "util/process/environment.hpp"
#include "util/process/fork_guard.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace {

namespace fs = std::filesystem;

constexpr unsigned k_major = 13;
constexpr unsigned k_newest_minor = 9;  // suffixes tried: _13_9 … _13_0
constexpr char const* k_wheel_folder = "site-packages/nvidia/cu13/lib";

/// Looks up the name without suffix, then the suffixed names, the newest minor version first.
template <typename Function>
bool bind(detail::shared_library const& file, std::string const& name, Function& function)
{
  auto* symbol = file.find({name});
  for (auto minor = k_newest_minor + 1; symbol == nullptr && minor-- > 0;)
    symbol = file.find({detail::format("__{}_{}_{}", name, k_major, minor)});
  function = reinterpret_cast<Function>(symbol);
  return symbol != nullptr;
}

/// Looks up all functions; returns the name of the first one that is missing, or empty.
std::string bind_all(detail::shared_library const& file, nvjitlink::api& api)
{
  auto const need = [&](char const* name, auto& function) {
    return bind(file, name, function) ? std::string{} : std::string(name);
  };
  for (auto const& missing :
       {need("nvJitLinkCreate", api.create), need("nvJitLinkDestroy", api.destroy),
        need("nvJitLinkAddData", api.add_data), need("nvJitLinkComplete", api.complete),
        need("nvJitLinkGetLinkedCubinSize", api.cubin_size),
        need("nvJitLinkGetLinkedCubin", api.cubin), need("nvJitLinkGetLinkedPtxSize", api.ptx_size),
        need("nvJitLinkGetLinkedPtx", api.ptx),
        need("nvJitLinkGetErrorLogSize", api.error_log_size),
        need("nvJitLinkGetErrorLog", api.error_log),
        need("nvJitLinkGetInfoLogSize", api.info_log_size),
        need("nvJitLinkGetInfoLog", api.info_log), need("nvJitLinkVersion", api.version)})
    if (!missing.empty()) return missing;
  return {};
}

/// Where the vendor's wheels of CUDA 13 put shared libraries in a Python environment, for every
/// minor version of Python: lib/python3.12/site-packages/nvidia/cu13/lib.
std::vector<fs::path> wheel_folders(fs::path const& environment)
{
  std::vector<fs::path> folders;
  std::error_code ignored;
  for (auto const& entry : fs::directory_iterator(environment / "lib", ignored))
    if (entry.path().filename().string().starts_with("python3."))
      folders.push_back(entry.path() / k_wheel_folder);
  if (folders.empty()) folders.push_back(environment / "lib/python3.*" / k_wheel_folder);
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::vector<fs::path> conda_folders(fs::path const& environment)
{
  auto folders = wheel_folders(environment);
  folders.insert(folders.begin(), {environment / "lib", environment / "targets/x86_64-linux/lib"});
  return folders;
}

/// The file of a candidate with symbolic links resolved; it need not exist.
fs::path real_file(nvjitlink_candidate const& candidate)
{
  auto const path = candidate.path.find('/') == std::string::npos
                        ? detail::find_by_loader(candidate.path).value_or(candidate.path)
                        : candidate.path;
  std::error_code failure;
  auto file = fs::weakly_canonical(path, failure);
  return failure ? fs::path(path) : file;
}

/// Removes candidates whose file an earlier candidate has.
std::vector<nvjitlink_candidate> without_duplicates(
    std::vector<nvjitlink_candidate> const& candidates)
{
  std::set<fs::path> files;
  std::vector<nvjitlink_candidate> unique;
  for (auto const& candidate : candidates)
    if (files.insert(real_file(candidate)).second) unique.push_back(candidate);
  return unique;
}

std::vector<nvjitlink_candidate> list_candidates()
{
  if (auto const named = detail::environment("FATLINK_NVJITLINK"); !named.empty())
    return {{named, "$FATLINK_NVJITLINK", "not tried"}};

  std::vector<nvjitlink_candidate> places;
  auto const add = [&](fs::path const& folder, std::string const& reason) {
    places.push_back({(folder / detail::k_nvjitlink_name).string(), reason, "not tried"});
  };
  std::error_code ignored;
  auto const program = fs::read_symlink("/proc/self/exe", ignored);
  for (auto const* folder : {"lib/fatlink", "lib"})
    if (!ignored) add(program.parent_path().parent_path() / folder, "beside the program");
  for (auto const* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (auto const root = detail::environment(variable); !root.empty())
      for (auto const* folder : {"lib64", "lib", "targets/x86_64-linux/lib"})
        add(fs::path(root) / folder, detail::format("${}", variable));
  if (auto const root = detail::environment("VIRTUAL_ENV"); !root.empty())
    for (auto const& folder : wheel_folders(root)) add(folder, "$VIRTUAL_ENV");
  if (auto const root = detail::environment("CONDA_PREFIX"); !root.empty())
    for (auto const& folder : conda_folders(root)) add(folder, "$CONDA_PREFIX");
  places.push_back({detail::k_nvjitlink_name, "dynamic loader", "not tried"});
  add("/usr/local/cuda/lib64", "default toolkit");
  return places;
}

}  // namespace

struct nvjitlink::state {
  detail::shared_library file;
  nvjitlink::api api;
  std::string path;
  std::string reason;
  std::string identity;
  unsigned major = 0;
  unsigned minor = 0;

  /// Opens `candidate`. Returns why it cannot be used; empty on success.
  std::string open(nvjitlink_candidate const& candidate)
  {
    std::string problem;
    file = detail::shared_library::open(candidate.path, problem);
    if (!file) return problem;
    if (auto const missing = bind_all(file, api); !missing.empty())
      return detail::format("exports no {}", missing);
    if (api.version(&major, &minor) != 0 || major != k_major)
      return detail::format("is version {}.{}; CUDA {} is needed", major, minor, k_major);
    path = file.path();
    reason = candidate.reason;
    identity = detail::nvjitlink_identity(path).value_or("");
    // If the file was replaced after it was loaded, the path no longer tells what is loaded.
    auto const mapped = detail::mapped_build_id(reinterpret_cast<void const*>(api.create));
    if (!mapped.empty() && identity.find(mapped) == std::string::npos) identity.clear();
    return {};
  }
};

nvjitlink::nvjitlink(std::unique_ptr<state> opened) : state_(std::move(opened)) {}
nvjitlink::~nvjitlink() = default;

std::string const& nvjitlink::path() const noexcept
{
  return state_->path;
}
std::string const& nvjitlink::reason() const noexcept
{
  return state_->reason;
}
std::string const& nvjitlink::identity() const noexcept
{
  return state_->identity;
}
unsigned nvjitlink::major() const noexcept
{
  return state_->major;
}
unsigned nvjitlink::minor() const noexcept
{
  return state_->minor;
}
nvjitlink::api const& nvjitlink::functions() const noexcept
{
  return state_->api;
}

namespace {

/// The nvJitLink of this process. Never closed, because threads may link while the process ends.
struct opened_in_process {
  std::mutex mutex;
  std::shared_ptr<fatlink::nvjitlink const> nvjitlink;
  detail::fork_guard fork_guard{detail::fork_order::nvjitlink, mutex};

  static opened_in_process& instance()
  {
    static auto& process = *new opened_in_process;
    return process;
  }
};

// Constructed before there are threads: a construction that a fork interrupts is never finished in
// the child.
[[maybe_unused]] auto const& process_at_start = opened_in_process::instance();

}  // namespace

std::shared_ptr<nvjitlink const> nvjitlink::find(std::vector<nvjitlink_candidate>& tried)
{
  tried = without_duplicates(list_candidates());
  for (auto& candidate : tried) {
    auto opened = std::make_unique<state>();
    candidate.outcome = opened->open(candidate);
    if (!candidate.outcome.empty()) continue;
    candidate.outcome = "chosen";
    return std::shared_ptr<nvjitlink const>(new nvjitlink(std::move(opened)));
  }
  return nullptr;
}

std::optional<nvjitlink_file> nvjitlink::locate()
{
  for (auto const& candidate : list_candidates()) {
    auto const path = candidate.path.find('/') == std::string::npos
                          ? detail::find_by_loader(candidate.path)
                          : std::optional(candidate.path);
    if (!path) continue;
    if (auto const identity = detail::nvjitlink_identity(*path))
      return nvjitlink_file{*path, candidate.reason, *identity};
  }
  return std::nullopt;
}

std::shared_ptr<nvjitlink const> nvjitlink::open(std::string const& file)
{
  nvjitlink_candidate candidate{file, "the caller", {}};
  auto opened = std::make_unique<state>();
  candidate.outcome = opened->open(candidate);
  if (!candidate.outcome.empty()) detail::refuse_nvjitlink(candidate);
  return std::shared_ptr<nvjitlink const>(new nvjitlink(std::move(opened)));
}

std::shared_ptr<nvjitlink const> nvjitlink::open()
{
  auto& process = opened_in_process::instance();
  std::lock_guard const lock(process.mutex);
  if (process.nvjitlink) return process.nvjitlink;
  std::vector<nvjitlink_candidate> candidates;
  process.nvjitlink = find(candidates);
  if (process.nvjitlink) return process.nvjitlink;
  if (candidates.size() == 1) detail::refuse_nvjitlink(candidates.front());  // $FATLINK_NVJITLINK
  detail::refuse_nvjitlink(candidates);
}

}  // namespace fatlink
