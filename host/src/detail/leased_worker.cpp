// SPDX-License-Identifier: Apache-2.0
#include "detail/leased_worker.hpp"

#include <chrono>
#include <mutex>
#include <utility>
#include <vector>

namespace fatlink::detail {
namespace {

constexpr auto k_longest_start = std::chrono::seconds(30);  // a busy machine, a slow disk

class idle_list {
 public:
  std::unique_ptr<link_worker> take()
  {
    std::lock_guard const lock(mutex_);
    if (workers_.empty()) return nullptr;
    auto taken = std::move(workers_.back());
    workers_.pop_back();
    return taken;
  }
  void keep(std::unique_ptr<link_worker> worker)
  {
    std::lock_guard const lock(mutex_);
    workers_.push_back(std::move(worker));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<link_worker>> workers_;
};

idle_list& idle_workers()
{
  static idle_list list;
  return list;
}

}  // namespace

void end_idle_workers()
{
  while (idle_workers().take()) continue;
}

leased_worker::leased_worker(std::string const& library, std::string const& identity)
{
  auto const serves = [&](link_worker& worker) {
    return worker.is_alive() && (identity.empty() || worker.hello().identity == identity);
  };
  do worker_ = idle_workers().take();
  while (worker_ && !serves(*worker_));
  if (!worker_) worker_ = link_worker::start(k_longest_start, library);
}

leased_worker::~leased_worker()
{
  if (worker_->is_alive()) idle_workers().keep(std::move(worker_));
}

}  // namespace fatlink::detail
