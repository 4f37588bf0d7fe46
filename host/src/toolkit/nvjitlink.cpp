// SPDX-License-Identifier: Apache-2.0
#include "fatlink/nvjitlink.hpp"

#include <mutex>

#include "toolkit/nvjitlink.hpp"
#include "toolkit/toolkit_library.hpp"
#include "util/process/fork_guard.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace {

constexpr unsigned k_major = 13;
constexpr unsigned k_newest_minor = 9;  // suffixes tried: _13_9 … _13_0

/// Looks up the name without suffix, then the suffixed names, the newest minor version first.
template <typename Function>
bool look_up(detail::shared_library const& file, std::string const& name, Function& function)
{
  auto* symbol = file.find({name});
  for (auto minor = k_newest_minor + 1; symbol == nullptr && minor-- > 0;)
    symbol = file.find({detail::format("__{}_{}_{}", name, k_major, minor)});
  function = reinterpret_cast<Function>(symbol);
  return symbol != nullptr;
}

/// Looks up all functions; returns the name of the first one that is missing, or empty. Those for
/// LTO-IR may be missing.
std::string bind_nvjitlink(detail::shared_library const& file, nvjitlink::api& api)
{
  auto const need = [&](char const* name, auto& function) {
    return look_up(file, name, function) ? std::string{} : std::string(name);
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
  (void)look_up(file, "nvJitLinkGetLinkedLTOIRSize", api.ltoir_size);
  (void)look_up(file, "nvJitLinkGetLinkedLTOIR", api.ltoir);
  return {};
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
    std::string open_error;
    file = detail::load_library(candidate, open_error);
    if (!file) return open_error;
    if (auto const missing = bind_nvjitlink(file, api); !missing.empty())
      return detail::format("exports no {}", missing);
    if (api.version(&major, &minor) != 0 || major != k_major)
      return detail::format("is version {}.{}; CUDA {} is needed", major, minor, k_major);
    path = file.path();
    reason = candidate.reason;
    identity = detail::library_identity(path, detail::nvjitlink_library()).value_or("");
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
  tried = detail::list_candidates(detail::nvjitlink_library());
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
  return detail::locate(detail::nvjitlink_library());
}

std::shared_ptr<nvjitlink const> nvjitlink::open(std::string const& file)
{
  nvjitlink_candidate candidate{file, "the caller", {}};
  auto opened = std::make_unique<state>();
  candidate.outcome = opened->open(candidate);
  if (!candidate.outcome.empty()) detail::refuse_library(detail::nvjitlink_library(), candidate);
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
  detail::refuse_library(detail::nvjitlink_library(), candidates);
}

}  // namespace fatlink

namespace fatlink::detail {

toolkit_library const& nvjitlink_library()
{
  // Used while static objects are destroyed.
  static auto const& library = *new toolkit_library{
      .title = "nvJitLink",
      .name = "libnvJitLink.so.13",
      .variable = "FATLINK_NVJITLINK",
      .major = 13,
      .folders = {"lib64", "lib", k_target_folder},
      .wheel_folder = "lib",
      .functions = {"nvJitLinkCreate", "nvJitLinkDestroy", "nvJitLinkAddData", "nvJitLinkComplete",
                    "nvJitLinkGetLinkedCubin", "nvJitLinkGetLinkedPtx", "nvJitLinkGetErrorLog",
                    "nvJitLinkGetInfoLog", "nvJitLinkVersion"},
      .versioned_name = "nvJitLinkCreate",
      .remedy =
          "pip install nvidia-nvjitlink in an active Python environment, or install "
          "libnvjitlink-13-0 of "
          "NVIDIA's apt repository, or set FATLINK_NVJITLINK to CUDA 13's libnvJitLink.so.13",
      .unavailable = error_code::nvjitlink_unavailable,
      .origin = stage::linker};
  return library;
}

}  // namespace fatlink::detail
