// SPDX-License-Identifier: Apache-2.0
// Objects that are made when they are first needed, in any thread, and in a child process that
// another thread forked meanwhile.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

namespace fatlink::detail {

/// An object that is never destroyed, for function-local static variables: other static objects and
/// threads may use the library while the process ends.
template <typename Object>
class immortal {
 public:
  template <typename... Arguments>
  explicit immortal(Arguments&&... arguments)
      : object_(*new Object(std::forward<Arguments>(arguments)...))
  {
  }
  [[nodiscard]] Object& get() const noexcept { return object_; }

 private:
  Object& object_;
};

/// What was made of keys, each once. Two threads may make the same; the first one's is kept. It has
/// no lock, which a child of fork() would inherit locked while another thread made something.
template <typename Key, typename Value>
class made_once {
 public:
  made_once() = default;
  ~made_once()
  {
    for (std::unique_ptr<entry> last(newest_.load()); last;) last.reset(last->older);
  }
  made_once(made_once const&) = delete;
  made_once& operator=(made_once const&) = delete;

  /// What was made of `key`; null: nothing yet.
  [[nodiscard]] Value const* find(Key const& key) const noexcept
  {
    return find(newest_.load(std::memory_order_acquire), key);
  }

  /// Keeps `value`, unless another one is there: the kept one, and whether it is `value`.
  std::pair<Value const*, bool> keep(Key const& key, Value value)
  {
    auto made = std::make_unique<entry>(entry{key, std::move(value), newest_.load()});
    do {
      if (auto const* other = find(made->older, key)) return {other, false};
    } while (!newest_.compare_exchange_weak(made->older, made.get()));
    return {&made.release()->value, true};
  }

 private:
  struct entry {
    Key key;
    Value value;
    entry* older;
  };
  static Value const* find(entry const* from, Key const& key) noexcept
  {
    for (; from != nullptr; from = from->older)
      if (from->key == key) return &from->value;
    return nullptr;
  }
  std::atomic<entry*> newest_ = nullptr;
};

}  // namespace fatlink::detail
