// SPDX-License-Identifier: Apache-2.0
#include "util/files/temporary_name.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <utility>

#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

/// What the handler needs, without a lock: it takes a slot by exchanging it with null.
std::array<std::atomic<temporary_name const*>, 64> slots{};

int register_name(temporary_name const* name)
{
  for (std::size_t i = 0; i < slots.size(); ++i) {
    temporary_name const* empty = nullptr;
    if (slots[i].compare_exchange_strong(empty, name)) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

std::string add_random(std::string const& path)
{
  std::uint64_t random = 0;
  if (::getrandom(&random, sizeof random, 0) != sizeof random)
    random = static_cast<std::uint64_t>(::getpid()) << 32U | static_cast<unsigned>(::clock());
  return detail::format("{}.{:016x}", path, random);
}

temporary_name::temporary_name(int folder, std::string path)
    : folder_(folder), path_(std::move(path))
{
  slot_ = register_name(this);
}

temporary_name::~temporary_name()
{
  if (slot_ < 0) return;
  if (slots[static_cast<std::size_t>(slot_)].exchange(nullptr) != nullptr) return;
  for (;;) ::pause();  // the handler has the name, and the process is about to end
}

void temporary_name::remove() const noexcept
{
  auto const code = errno;
  ::unlinkat(folder_, path_.c_str(), 0);
  errno = code;
}

void remove_temporaries() noexcept
{
  for (auto& slot : slots)
    if (auto const* name = slot.exchange(nullptr); name != nullptr) name->remove();
}

}  // namespace fatlink::detail
