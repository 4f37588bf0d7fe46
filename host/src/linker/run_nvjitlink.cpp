// SPDX-License-Identifier: Apache-2.0
#include "linker/run_nvjitlink.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/wording.hpp"
#include "cache/offline.hpp"
#include "fatlink/linker.hpp"
#include "fatlink/preflight.hpp"
#include "link_helper/protocol.hpp"
#include "linker/check_arguments.hpp"
#include "linker/check_opaque_inputs.hpp"
#include "linker/compare_orders.hpp"
#include "linker/link_options.hpp"
#include "preflight/entries.hpp"
#include "preflight/rules.hpp"
#include "toolkit/link_in_process.hpp"
#include "toolkit/nvjitlink.hpp"
#include "util/process/cancel_check.hpp"
#include "util/process/environment.hpp"
#include "util/process/stopwatch.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

/// `named`, whether it can be used or not; without a name the file that the search finds.
nvjitlink_file locate_file(std::filesystem::path const& named)
{
  if (named.empty()) return nvjitlink::locate().value_or(nvjitlink_file{});
  return {named.string(), in_words("<linker_settings::nvjitlink>"),
          nvjitlink_identity(named.string()).value_or("")};
}

}  // namespace

linker_state::linker_state(linker_settings user_settings)
    : settings(std::move(user_settings)), is_offline_(cache::is_offline(settings.offline))
{
  if (settings.isolation == isolation::helper) helpers = helper_pool::shared();
}

nvjitlink_file linker_state::locate_nvjitlink()
{
  std::lock_guard const lock(mutex_);
  if (nvjitlink_) return {nvjitlink_->path(), nvjitlink_->reason(), nvjitlink_->identity()};
  if (!file_) file_ = locate_file(settings.nvjitlink);
  return *file_;
}

std::shared_ptr<nvjitlink const> linker_state::open_nvjitlink()
{
  std::lock_guard const lock(mutex_);
  if (!nvjitlink_)
    nvjitlink_ = settings.nvjitlink.empty() ? nvjitlink::open()
                                            : nvjitlink::open(settings.nvjitlink.string());
  return nvjitlink_;
}

bool linker_state::may_use_shipped()
{
  if (!settings.cache || settings.cache->settings().layers.empty()) return false;
  if (is_offline_) return true;
  auto const is_named =
      !settings.nvjitlink.empty() || !environment(nvjitlink_library().variable).empty();
  return !is_named || locate_nvjitlink().identity.empty();
}

void linker_state::forget_file()
{
  std::lock_guard const lock(mutex_);
  file_.reset();
}

namespace {

/// The entry of each input that preflight checked, each in its own fatbin.
std::vector<link_input> link_inputs(std::vector<fatbin> const& inputs, link_options const& options)
{
  std::vector<link_input> parts;
  for (auto const& input : inputs)
    parts.push_back(link_input::write(input, *linked_entry(input, choice_of(options))));
  return parts;
}

link_request make_request(std::vector<link_input> const& inputs,
                          std::vector<std::string> const& options, image_kind emit)
{
  link_request request{.emit = emit, .options = options, .inputs = {}};
  for (auto const& input : inputs)
    request.inputs.push_back({input.name(), input.bytes(), input.is_unverified_sass()});
  return request;
}

/// What nvJitLink has since `first`.
struct newer_ability {
  toolkit_version first;
  char const* cause;  ///< "nvJitLink 13.0 does not …"
  char const* input;  ///< the option
  char const* remedy;
};

/// What `options` need of nvJitLink, measured with 13.0 to 13.5. (13.3 exports the functions that
/// read LTO-IR and has none; before 13.3 it ignores -r in lto mode.)
std::optional<newer_ability> needed_ability(link_options const& options)
{
  constexpr auto k_emit_cubin = "emit a cubin: <image_kind::cubin>";
  if (options.latest_nvvm)
    return newer_ability{{13, 5},
                         "does not have the option -nvvm-latest",
                         "<link_options::latest_nvvm>",
                         "do not set <link_options::latest_nvvm>"};
  if (options.emit == image_kind::ltoir)
    return newer_ability{{13, 4}, "does not return LTO-IR", "<image_kind::ltoir>", k_emit_cubin};
  if (options.emit == image_kind::relocatable && options.mode == link_mode::lto)
    return newer_ability{{13, 3},
                         "does not make relocatable cubins in lto mode",
                         "<image_kind::relocatable>",
                         k_emit_cubin};
  if (options.emit == image_kind::relocatable)
    return newer_ability{
        {13, 1}, "does not make relocatable cubins", "<image_kind::relocatable>", k_emit_cubin};
  return {};
}

/// @throws unavailable_error `options` need a newer nvJitLink.
void refuse_options(link_options const& options, toolkit_version linker)
{
  auto const needed = needed_ability(options);
  if (!needed || linker >= needed->first) return;
  throw unavailable_error(
      stage::linker,
      {.message = detail::format("nvJitLink {} {}", to_string(linker), needed->cause),
       .input = needed->input,
       .code = error_code::nvjitlink_unavailable,
       .hint = detail::format("install nvJitLink {} or newer, or {}", to_string(needed->first),
                              needed->remedy)});
}

/// Completes preflight with the version of nvJitLink, which is known once it is open.
/// @throws refused_error an input needs a newer nvJitLink. @throws unavailable_error an option
/// does.
void refuse_toolkits(std::vector<fatbin> const& inputs, link_options const& options,
                     toolkit_version linker)
{
  refuse_options(options, linker);
  auto request = request_of(options);
  request.linker = linker;
  std::vector<finding> findings;
  check_toolkits(inputs, request, findings);
  if (!findings.empty()) throw refused_error(options.target, preflight(inputs, request));
}

bool is_about_missing(finding const& entry)
{
  return entry.id == finding_id::missing_hook || entry.id == finding_id::missing_variable;
}

/// What additional links show, of what preflight could not read.
std::vector<finding> check_by_links(std::vector<fatbin> const& inputs, link_options const& options,
                                    link_function const& link)
{
  auto findings = find_unknown_symbols(inputs, options, link);
  if (findings.empty()) findings = check_opaque_types(inputs, options, link);
  if (is_partial(options)) std::erase_if(findings, is_about_missing);
  if (findings.empty()) findings = find_ignored_duplicates(inputs, options, link);
  if (findings.empty()) findings = compare_orders(inputs, options, link);
  return findings;
}

/// Whether check_by_links compares two orders of the inputs, which takes a third of the time of the
/// link.
bool checks_take_time(std::vector<fatbin> const& inputs, link_options const& options)
{
  return options.mode == link_mode::lto && inputs.size() > 1;
}

/// The links of check_by_links, made in a thread of their own while the caller links.
class checks_beside {
 public:
  checks_beside(std::vector<fatbin> const& inputs, link_options const& options,
                std::function<link_function()> const& open)
      : thread_([this, &inputs, &options, open, words = detail::current_wording()] {
          detail::wording_scope const scope(words);
          set_cancel_function({&is_abandoned, this});
          try {
            auto const link = open_or_none(open);
            findings_.set_value(link ? std::optional(check_by_links(inputs, options, link))
                                     : std::nullopt);
          } catch (...) {
            findings_.set_exception(std::current_exception());
          }
        })
  {
  }
  /// Ends the checks if nobody waited for them.
  ~checks_beside() { abandoned_ = true; }
  checks_beside(checks_beside const&) = delete;
  checks_beside& operator=(checks_beside const&) = delete;

  /// Empty: no other nvJitLink opened, and nothing was checked.
  /// @throws what check_by_links throws; cancelled_error the caller is cancelled.
  std::optional<std::vector<finding>> wait()
  {
    auto findings = findings_.get_future();
    while (findings.wait_for(k_ask_interval) != std::future_status::ready)
      throw_if_cancelled(stage::linker);
    return findings.get();
  }

 private:
  static link_function open_or_none(std::function<link_function()> const& open)
  try {
    return open();
  } catch (unavailable_error const&) {  // the caller checks in its own, which is open
    return {};
  }

  static std::int32_t is_abandoned(void* checks)
  {
    return static_cast<checks_beside*>(checks)->abandoned_ ? 1 : 0;
  }

  std::atomic<bool> abandoned_ = false;
  std::promise<std::optional<std::vector<finding>>> findings_;
  std::jthread thread_;  // ends before the members above
};

/// How a link is made, and checked.
struct link_ways {
  link_function link;
  /// Opens another nvJitLink for the checks, which are made while it links; empty: there is none.
  std::function<link_function()> open_another = {};
};

/// Null: the caller makes the checks before it links.
std::unique_ptr<checks_beside> start_checks(std::vector<fatbin> const& inputs,
                                            link_options const& options, link_ways const& ways)
try {
  if (!ways.open_another) return nullptr;
  return std::make_unique<checks_beside>(inputs, options, ways.open_another);
} catch (std::system_error const&) {  // no thread
  return nullptr;
}

/// @throws refused_error there is an error among `findings`.
void refuse_errors(std::vector<finding> const& findings, link_options const& options)
{
  if (has_error(findings)) throw refused_error(options.target, findings);
}

/// Checks what preflight could not read by additional links, and links. An error of the checks is
/// thrown before one of the link.
link_product check_and_link(std::vector<fatbin> const& inputs, link_options const& options,
                            link_ways const& ways)
try {
  auto const& link = ways.link;
  auto const make = [&] {
    return link(link_inputs(inputs, options), nvjitlink_options(inputs, options), options.emit);
  };
  link_product product;
  std::optional<std::vector<finding>> findings;
  std::exception_ptr failure;
  if (auto const checks = start_checks(inputs, options, ways)) {
    try {
      product = make();
    } catch (cancelled_error const&) {
      throw;
    } catch (error const&) {  // not what unwinds a thread that is cancelled
      failure = std::current_exception();
    }
    findings = checks->wait();
    if (!findings) findings = check_by_links(inputs, options, link);
    refuse_errors(*findings, options);
    if (failure) std::rethrow_exception(failure);
  } else {
    findings = check_by_links(inputs, options, link);
    refuse_errors(*findings, options);
    product = make();
  }
  for (auto const& warning : *findings) product.warnings.push_back(describe_warning(warning));
  return product;
} catch (link_error const& failed) {
  auto findings = find_reported_duplicate(failed.details().log, inputs, options, ways.link);
  if (findings.empty())
    throw link_error(failed.where(), name_refused_option(failed.details(), options));
  throw refused_error(options.target, std::move(findings));
}

/// Whether the helper that links `inputs` may link others afterwards: only if all have a contract
/// and digests. Other inputs may be damaged, or built to take over nvJitLink.
helper_reuse reuse_after(std::vector<fatbin> const& inputs)
{
  auto const is_trusted = [](fatbin const& input) {
    auto const& ident = input.ident();
    return input.is_verified() && ident && !ident->contract.empty();
  };
  return std::all_of(inputs.begin(), inputs.end(), is_trusted) ? helper_reuse::shared
                                                               : helper_reuse::fresh;
}

/// The warnings about the environment and the sandbox of a helper.
std::vector<std::string> helper_warnings(helper_hello const& hello)
{
  std::vector<std::string> warnings;
  if (auto warning = idle_time_warning(); !warning.empty()) warnings.push_back(std::move(warning));
  for (auto const& layer : hello.layers)
    if (layer.starts_with("seccomp: off"))
      warnings.push_back(detail::format(
          "nvJitLink runs without its sandbox, which this linker permits: {}", layer));
  return warnings;
}

/// What is done with an open nvJitLink.
using link_user = std::function<link_product(link_ways const&)>;

/// Opens a second helper beside the one of `settings`, if a core is free for it; it ends with the
/// checks. Only for inputs whose helper may link others afterwards: a link of others may never end,
/// and a check that refuses them would wait for it.
std::function<link_function()> second_helper(helper_settings const& settings,
                                             std::string const& identity, time_limit const& limit)
{
  std::shared_ptr<helper_place> const place = helper_place::beside_another();
  if (!place) return {};
  return [=]() -> link_function {
    auto const helper =
        std::make_shared<helper_lease>(settings, identity, helper_reuse::fresh, limit, place);
    return [=](auto const& parts, auto const& texts, image_kind emit) {
      return helper->link(make_request(parts, texts, emit), limit);
    };
  };
}

nvjitlink_run run_in_helper(linker_state const& linker, std::vector<fatbin> const& inputs,
                            link_options const& options, nvjitlink_file const& file,
                            link_user const& use)
{
  stopwatch watch;
  auto const is_named = !linker.settings.nvjitlink.empty();
  if (is_named && file.identity.empty())
    refuse_library(nvjitlink_library(),
                   {file.path, file.reason, "it is not a readable nvJitLink of CUDA 13"});
  time_limit const limit(linker.settings.time_limit);
  helper_settings const settings{.file = file.path,
                                 .may_search = !is_named,
                                 .allow_unconfined = linker.settings.allow_unconfined};
  auto const reuse = reuse_after(inputs);
  helper_lease helper(settings, file.identity, reuse, limit);
  auto const& hello = helper->hello();
  nvjitlink_run run{.product = {},
                    .identity = hello.identity,
                    .open_ms = watch.lap(),
                    .warnings = helper_warnings(hello)};
  refuse_toolkits(inputs, options, {hello.major, hello.minor});
  link_ways ways{[&](auto const& parts, auto const& texts, image_kind emit) {
    return helper.link(make_request(parts, texts, emit), limit);
  }};
  if (reuse == helper_reuse::shared && checks_take_time(inputs, options))
    ways.open_another = second_helper(settings, hello.identity, limit);
  run.product = use(ways);
  return run;
}

nvjitlink_run run_here(linker_state& linker, std::vector<fatbin> const& inputs,
                       link_options const& options, link_user const& use)
{
  process_end_guard const guard;
  stopwatch watch;
  auto const nvjitlink = linker.open_nvjitlink();
  nvjitlink_run run{
      .product = {}, .identity = nvjitlink->identity(), .open_ms = watch.lap(), .warnings = {}};
  refuse_toolkits(inputs, options, {nvjitlink->major(), nvjitlink->minor()});
  process_end_guard::watch_exit();
  run.product = use({[&](auto const& parts, auto const& texts, image_kind emit) {
    return link_in_process(*nvjitlink, parts, texts, emit);
  }});
  return run;
}

nvjitlink_run run(linker_state& linker, std::vector<fatbin> const& inputs,
                  link_options const& options, nvjitlink_file const& file, link_user const& use)
{
  return linker.settings.isolation == isolation::helper
             ? run_in_helper(linker, inputs, options, file, use)
             : run_here(linker, inputs, options, use);
}

/// Whether the link is one that the reference device takes, which could also execute the PTX of the
/// inputs without a link by nvJitLink.
bool have_ptx_for_the_reference_device(std::vector<fatbin> const& inputs,
                                       link_options const& options)
{
  return options.emit == image_kind::ptx && std::ranges::all_of(inputs, [&](fatbin const& input) {
           return linked_entry(input, {options.target, link_mode::ptx}) != nullptr;
         });
}

}  // namespace

nvjitlink_run run_nvjitlink(linker_state& linker, std::vector<fatbin> const& inputs,
                            link_options const& options, nvjitlink_file const& file)
try {
  return run(linker, inputs, options, file,
             [&](link_ways const& ways) { return check_and_link(inputs, options, ways); });
} catch (unavailable_error const& missing) {
  auto details = missing.details();
  if (details.code != error_code::nvjitlink_unavailable || needed_ability(options) ||
      !have_ptx_for_the_reference_device(inputs, options))
    throw;
  details.hint += "; on the reference device, <link_mode::ptx> needs no nvJitLink";
  throw unavailable_error(missing.where(), std::move(details));
}

std::vector<finding> check_with_nvjitlink(linker_state& linker, std::vector<fatbin> const& inputs,
                                          link_options const& options, nvjitlink_file const& file)
{
  std::vector<finding> findings;
  (void)run(linker, inputs, options, file, [&](link_ways const& ways) {
    findings = check_by_links(inputs, options, ways.link);
    return link_product{};
  });
  return findings;
}

std::string describe_warning(finding const& warning)
{
  return detail::format("{} [{}]", warning.message, to_string(warning.id));
}

bool has_error(std::vector<finding> const& findings)
{
  return std::any_of(findings.begin(), findings.end(),
                     [](finding const& entry) { return entry.severity == severity::error; });
}

}  // namespace fatlink::detail
