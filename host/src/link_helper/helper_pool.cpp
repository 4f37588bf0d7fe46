// SPDX-License-Identifier: Apache-2.0
#include "link_helper/helper_pool.hpp"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "link_helper/find_link_helper.hpp"
#include "link_helper/protocol.hpp"
#include "util/process/cancel_check.hpp"
#include "util/process/fork_guard.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr std::size_t k_most_idle = 4;
constexpr std::size_t k_fewest_leases = 4;

struct idle_helper {
  std::unique_ptr<link_helper> helper;
  helper_settings settings = {};
  time_limit::clock::time_point since = time_limit::clock::now();

  /// Whether the helper is about to end itself.
  [[nodiscard]] bool is_ending() const
  {
    return time_limit::clock::now() - since > idle_time() * 3 / 4;
  }
};

/// The helpers of this process. Never destroyed: threads may link while static objects are
/// destroyed.
class registry {
 public:
  registry() { idle_.reserve(k_most_idle); }

  static registry& instance()
  {
    static auto& registry_ = *new registry;
    return registry_;
  }

  template <typename Make>
  std::shared_ptr<helper_pool> pool(Make const& make)
  {
    std::lock_guard const lock(mutex_);
    auto pool = pool_.lock();
    if (!pool) pool_ = pool = make();
    return pool;
  }

  /// Counts a lease. @throws unavailable_error the time limit has passed.
  void enter(helper_tool tool, time_limit const& limit)
  {
    std::unique_lock lock(mutex_);
    auto const has_place = [&] { return leases_ < most_leases(); };
    auto has_found_place = has_place();
    while (!has_found_place && time_limit::clock::now() < limit.end()) {
      lock.unlock();  // what is asked may link
      throw_if_cancelled(stage_of(tool));
      lock.lock();
      auto const turn = may_be_cancelled()
                            ? std::min(limit.end(), time_limit::clock::now() + k_ask_interval)
                            : limit.end();
      has_found_place = has_lease_ended_->wait_until(lock, turn, has_place);
    }
    if (!has_found_place)
      fail_without_helper(
          tool, "all helpers that this process may start are busy", k_helper_program, "ETIMEDOUT",
          tool == helper_tool::nvjitlink
              ? "raise <linker_settings::time_limit>, or link in fewer threads at once"
              : "raise <compiler_settings::time_limit>, or compile in fewer threads at once");
    ++leases_;
  }

  /// Counts a lease if there is a core for it.
  bool enter_if_core_is_free()
  {
    std::lock_guard const lock(mutex_);
    if (leases_ >= std::thread::hardware_concurrency()) return false;
    ++leases_;
    return true;
  }

  void leave()
  {
    {
      std::lock_guard const lock(mutex_);
      --leases_;
    }
    has_lease_ended_->notify_one();
  }

  /// Takes the helper that was used last; null if there is none. Ends those that are about to end.
  std::unique_ptr<link_helper> take(helper_settings const& settings)
  {
    std::vector<idle_helper> ended;
    std::lock_guard const lock(mutex_);
    auto const ending = std::stable_partition(
        idle_.begin(), idle_.end(), [](idle_helper const& idle) { return !idle.is_ending(); });
    std::move(ending, idle_.end(), std::back_inserter(ended));
    idle_.erase(ending, idle_.end());
    auto const helper = std::find_if(idle_.rbegin(), idle_.rend(), [&](idle_helper const& idle) {
      return idle.settings.tool == settings.tool &&
             idle.settings.allow_unconfined == settings.allow_unconfined &&
             idle.settings.memory_mib == settings.memory_mib;
    });
    if (helper == idle_.rend()) return nullptr;
    auto result = std::move(helper->helper);
    idle_.erase(std::next(helper).base());
    return result;
  }

  /// Keeps a helper for the next lease if there is a pool, and ends the oldest one above the limit.
  /// Allocates no memory: destructors call it.
  void keep(idle_helper helper) noexcept
  {
    idle_helper surplus;
    std::lock_guard const lock(mutex_);
    if (pool_.expired()) {
      surplus = std::move(helper);
      return;
    }
    if (idle_.size() == k_most_idle) {
      surplus = std::move(idle_.front());
      idle_.erase(idle_.begin());
    }
    idle_.push_back(std::move(helper));
  }

  void end_idle()
  {
    std::vector<idle_helper> ended;
    std::lock_guard const lock(mutex_);
    std::move(idle_.begin(), idle_.end(), std::back_inserter(ended));
    idle_.clear();
  }

  std::size_t idle_count()
  {
    std::lock_guard const lock(mutex_);
    return idle_.size();
  }

  /// Whether a helper shall be started for the next lease: not for the first one that ends, which
  /// may have been the only one of the process, nor where one is idle.
  bool shall_start_next(helper_tool tool)
  {
    std::lock_guard const lock(mutex_);
    auto const has_tool = [&](idle_helper const& idle) { return idle.settings.tool == tool; };
    auto const is_first = !std::exchange(has_ended_one_, true);
    return !is_first && !pool_.expired() && std::none_of(idle_.begin(), idle_.end(), has_tool);
  }

 private:
  static std::size_t most_leases()
  {
    return std::max<std::size_t>(2 * std::thread::hardware_concurrency(), k_fewest_leases);
  }

  /// In a forked child: the helpers and the threads that hold leases are the parent's.
  void forget_parents_helpers()
  {
    for (auto& idle : idle_) idle.helper->abandon();
    idle_.clear();
    leases_ = 0;
    // Constructed again in place: the threads that wait on the old object are the parent's, and its
    // destructor would wait for them.
    std::construct_at(has_lease_ended_.get());
  }

  std::mutex mutex_;
  std::unique_ptr<std::condition_variable> has_lease_ended_ =
      std::make_unique<std::condition_variable>();
  std::weak_ptr<helper_pool> pool_;
  std::vector<idle_helper> idle_;  ///< the one used last at the end
  std::size_t leases_ = 0;
  bool has_ended_one_ = false;  ///< a helper that served one request only
  fork_guard fork_guard_{fork_order::helper_pool, mutex_, [this] { forget_parents_helpers(); }};
};

// Constructed before there are threads: a construction that a fork interrupts is never finished in
// the child.
[[maybe_unused]] auto const& registry_at_start = registry::instance();

}  // namespace

std::shared_ptr<helper_pool> helper_pool::shared()
{
  return registry::instance().pool([] { return std::shared_ptr<helper_pool>(new helper_pool); });
}

helper_pool::~helper_pool()
{
  registry::instance().end_idle();
}

void end_idle_helpers()
{
  registry::instance().end_idle();
}

std::size_t idle_helper_count()
{
  return registry::instance().idle_count();
}

helper_place::helper_place(helper_tool tool, time_limit const& limit)
{
  registry::instance().enter(tool, limit);
}

std::unique_ptr<helper_place> helper_place::beside_another()
{
  if (!registry::instance().enter_if_core_is_free()) return nullptr;
  return std::unique_ptr<helper_place>(new helper_place);
}

helper_place::~helper_place()
{
  registry::instance().leave();
}

helper_lease::helper_lease(helper_settings const& settings, std::string const& identity,
                           helper_reuse reuse, time_limit const& limit,
                           std::shared_ptr<helper_place> place)
    : place_(place ? std::move(place) : std::make_shared<helper_place>(settings.tool, limit)),
      settings_(settings),
      reuse_(reuse)
{
  if (reuse == helper_reuse::shared) helper_ = take_idle(identity, limit);
  if (!helper_) helper_ = link_helper::start(settings, limit);
}

std::unique_ptr<link_helper> helper_lease::take_idle(std::string const& identity,
                                                     time_limit const& limit)
{
  while (auto helper = registry::instance().take(settings_)) {
    try {
      helper->wait_until_started(limit);
    } catch (unavailable_error const&) {
      continue;  // the start of another one tells why
    }
    if (helper->is_ready() && (identity.empty() || helper->hello().identity == identity))
      return helper;
  }
  return nullptr;
}

void helper_lease::end_after_this() noexcept
{
  starts_next_ = std::exchange(reuse_, helper_reuse::fresh) == helper_reuse::shared || starts_next_;
}

void helper_lease::start_next() noexcept
try {
  if (registry::instance().shall_start_next(settings_.tool))
    registry::instance().keep({.helper = link_helper::launch(settings_), .settings = settings_});
} catch (std::exception const&) {  // the next lease tells why
}

helper_lease::~helper_lease()
{
  if (reuse_ == helper_reuse::shared && helper_->is_ready())
    registry::instance().keep({.helper = std::move(helper_), .settings = std::move(settings_)});
  helper_.reset();
  if (starts_next_) start_next();
}

template <typename Work>
auto helper_lease::call(Work const& work, time_limit const& limit)
{
  try {
    return work(*helper_);
  } catch (helper_left const&) {
  }
  auto const identity = helper_->hello().identity;
  helper_ = link_helper::start(settings_, limit);
  if (helper_->hello().identity != identity)
    fail_without_helper(
        settings_.tool,
        detail::format("{} was replaced meanwhile",
                       std::filesystem::path(helper_->hello().path).filename().string()),
        helper_->hello().path, "ESTALE", "try again");
  try {
    return work(*helper_);
  } catch (helper_left const&) {
    fail_without_helper(settings_.tool, "it ends itself instead of replying", helper_->hello().path,
                        "exit status 0",
                        "raise FATLINK_HELPER_IDLE_SECONDS; the library that it opened may have "
                        "ended it");
  }
}

link_product helper_lease::link(link_request const& request, time_limit const& limit)
{
  return call([&](link_helper& helper) { return helper.link(request, limit); }, limit);
}

compile_reply helper_lease::compile(program const& request, time_limit const& limit,
                                    file_source const& files)
{
  return call([&](link_helper& helper) { return helper.compile(request, limit, files); }, limit);
}

}  // namespace fatlink::detail
