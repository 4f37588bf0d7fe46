// SPDX-License-Identifier: Apache-2.0
// Provides link_once and prepare_once (fatlink/link_once.hpp) for the ranks of an MPI communicator.
// Only this header uses MPI, through its C interface (MPI 3.0); the fatlink library does not link
// to MPI. In CMake:
//
//   find_package(fatlink REQUIRED COMPONENTS mpi)
//   target_link_libraries(application PRIVATE fatlink::fatlink fatlink::mpi)
//
// The communicator: images are sent with MPI_Ibcast, other messages with the tag 17996 (channel
// accepts another tag). A pending receive with MPI_ANY_TAG would receive these messages; if your
// program has such receives, pass a duplicate of the communicator. If the communicator's error
// handler returns (MPI_ERRORS_RETURN), a failed MPI call becomes a fatlink::error with the code
// "MPI error N". After a rank_error, broadcasts may be pending, which MPI cannot cancel; further
// calls for the communicator are therefore refused.
//
// Threads: every thread level of MPI is supported; use each channel and each communicator from one
// thread at a time.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fatlink/export.hpp"
#include "fatlink/link_once.hpp"
#include "fatlink/rank_channel.hpp"

namespace FATLINK_API fatlink {
namespace mpi {

/// A channel for the messages between the ranks of a communicator.
class channel : public rank_channel {
 public:
  /// The default tag of messages.
  static constexpr int k_default_tag = 17996;

  /// Creates a channel for `communicator`, which must outlive it, with the message tag `tag`.
  /// @throws usage_error MPI is not running, or there is no communicator.
  explicit channel(MPI_Comm communicator, int tag = k_default_tag)
      : communicator_(communicator), tag_(tag)
  {
    check_communicator();
    int number = 0;
    check(MPI_Comm_rank(communicator_, &number), "MPI_Comm_rank");
    rank_ = static_cast<unsigned>(number);
    check(MPI_Comm_size(communicator_, &number), "MPI_Comm_size");
    size_ = static_cast<unsigned>(number);
  }

  [[nodiscard]] unsigned rank() const override { return rank_; }
  [[nodiscard]] unsigned size() const override { return size_; }

  void send(std::vector<rank_message> const& messages, time_point deadline) override
  {
    std::list<transfer> transfers;
    for (auto const& message : messages) {
      auto& started = transfers.emplace_back();
      started.bytes.assign(message.bytes.begin(), message.bytes.end());
      check(MPI_Isend(started.bytes.data(), static_cast<int>(started.bytes.size()), MPI_BYTE,
                      static_cast<int>(message.destination), tag_, communicator_,
                      &started.add_request()),
            "MPI_Isend");
    }
    for (auto& started : transfers) (void)finish(started, deadline);
  }

  std::optional<byte_buffer> receive(unsigned source, time_point deadline) override
  {
    MPI_Message handle = MPI_MESSAGE_NULL;
    MPI_Status status = {};
    auto const has_arrived = [&] {
      int is_there = 0;
      check(MPI_Improbe(static_cast<int>(source), tag_, communicator_, &is_there, &handle, &status),
            "MPI_Improbe");
      return is_there != 0;
    };
    if (!wait(deadline, has_arrived)) return std::nullopt;
    int size = 0;
    check(MPI_Get_count(&status, MPI_BYTE, &size), "MPI_Get_count");
    transfer started;
    started.bytes.resize(static_cast<std::size_t>(size));
    check(MPI_Imrecv(started.bytes.data(), size, MPI_BYTE, &handle, &started.add_request()),
          "MPI_Imrecv");
    if (!finish(started, deadline)) return std::nullopt;
    return std::move(started.bytes);
  }

  /// Broadcasts blocks with MPI_Ibcast; the first block begins with the size of the message. Open
  /// MPI distributes blocks below 64 KiB through a tree, and larger ones along a chain of all
  /// ranks. MPI cannot cancel a broadcast that has not finished; a later broadcast on the same
  /// communicator might receive its blocks.
  std::optional<byte_buffer> broadcast(unsigned root, bytes_view message,
                                       time_point deadline) override
  {
    transfer started;
    started.bytes.resize(k_block);
    if (rank_ == root) started.bytes = frame(message);
    start(started, root, 0);
    if (rank_ != root) {
      if (!finish(started, deadline)) return std::nullopt;
      started.bytes.resize(std::max(k_block, k_size_bytes + framed_size(started.bytes)));
    }
    for (auto offset = k_block; offset < started.bytes.size(); offset += k_block)
      start(started, root, offset);
    if (!finish(started, deadline) && rank_ != root) return std::nullopt;
    auto const framed = bytes_view(started.bytes);
    auto const content = framed.subspan(k_size_bytes, framed_size(framed));
    return byte_buffer(content.begin(), content.end());
  }

  /// Refuses further channels for the communicator, because broadcasts may be pending.
  void abandon() const
  {
    check(MPI_Comm_set_attr(communicator_, abandoned_key(), nullptr), "MPI_Comm_set_attr");
  }

 private:
  static constexpr std::size_t k_block = std::size_t{60} << 10;
  static constexpr std::size_t k_size_bytes = sizeof(std::uint64_t);

  /// A message that MPI sends or receives. If MPI may still access the message when this object is
  /// destroyed (after the deadline, or after a failed MPI call), the memory is never freed.
  struct transfer {
    transfer() = default;
    ~transfer()
    {
      auto const is_null = [](MPI_Request request) { return request == MPI_REQUEST_NULL; };
      if (!std::all_of(requests.begin(), requests.end(), is_null)) keep(std::move(bytes));
    }
    transfer(transfer const&) = delete;
    transfer& operator=(transfer const&) = delete;

    MPI_Request& add_request() { return requests.emplace_back(MPI_REQUEST_NULL); }

    byte_buffer bytes = {};
    std::vector<MPI_Request> requests = {};  ///< MPI_Testall sets finished requests to null
  };

  /// Keeps `bytes` until the process ends.
  static void keep(byte_buffer bytes) noexcept
  {
    static auto& mutex = *new std::mutex;
    static auto& kept = *new std::list<byte_buffer>;
    std::lock_guard const lock(mutex);
    kept.push_back(std::move(bytes));
  }

  /// Size and content of `message`, at least one block.
  static byte_buffer frame(bytes_view message)
  {
    std::uint64_t const size = message.size();
    byte_buffer framed(std::max(k_block, k_size_bytes + message.size()));
    std::memcpy(framed.data(), &size, k_size_bytes);
    std::copy(message.begin(), message.end(), framed.begin() + k_size_bytes);
    return framed;
  }
  static std::size_t framed_size(bytes_view framed)
  {
    std::uint64_t size = 0;
    std::memcpy(&size, framed.data(), k_size_bytes);
    return size;
  }

  /// Starts the broadcast of the block at `offset`.
  void start(transfer& started, unsigned root, std::size_t offset)
  {
    auto const size = std::min(k_block, started.bytes.size() - offset);
    check(MPI_Ibcast(started.bytes.data() + offset, static_cast<int>(size), MPI_BYTE,
                     static_cast<int>(root), communicator_, &started.add_request()),
          "MPI_Ibcast");
  }

  static bool finish(transfer& started, time_point deadline)
  {
    return wait(deadline, [&] {
      int is_done = 0;
      check(MPI_Testall(static_cast<int>(started.requests.size()), started.requests.data(),
                        &is_done, MPI_STATUSES_IGNORE),
            "MPI_Testall");
      return is_done != 0;
    });
  }

  void check_communicator() const
  {
    int is_initialized = 0;
    int is_finalized = 0;
    MPI_Initialized(&is_initialized);
    MPI_Finalized(&is_finalized);
    if (is_initialized == 0 || is_finalized != 0)
      throw usage_error({.message = "MPI is not running in this process",
                         .input = "communicator",
                         .code = error_code::invalid_argument,
                         .hint = "call fatlink::mpi between MPI_Init and MPI_Finalize"});
    if (communicator_ == MPI_COMM_NULL)
      throw usage_error({.message = "the communicator is MPI_COMM_NULL",
                         .input = "communicator",
                         .code = error_code::invalid_argument,
                         .hint = "pass a communicator of which this process is a member"});
    void* mark = nullptr;
    int is_abandoned = 0;
    check(
        MPI_Comm_get_attr(communicator_, abandoned_key(), static_cast<void*>(&mark), &is_abandoned),
        "MPI_Comm_get_attr");
    if (is_abandoned != 0)
      throw usage_error({.message = "an earlier call for this communicator ended with a rank_error",
                         .input = "communicator",
                         .code = error_code::invalid_argument,
                         .hint = "end the job with MPI_Abort after a rank_error"});
  }

  static void check(int code, char const* call)
  {
    if (code == MPI_SUCCESS) return;
    std::string text(MPI_MAX_ERROR_STRING, '\0');
    int size = 0;
    if (MPI_Error_string(code, text.data(), &size) != MPI_SUCCESS) size = 0;
    text.resize(static_cast<std::size_t>(size));
    throw error(stage::linker,
                {.message = std::string(call) + ": " + text,
                 .input = call,
                 .code = vendor_code("MPI error " + std::to_string(code)),
                 .hint = "see the messages of MPI's launcher; a process may have ended"});
  }

  static int abandoned_key()
  {
    static int const key = [] {
      int created = MPI_KEYVAL_INVALID;
      check(
          MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &created, nullptr),
          "MPI_Comm_create_keyval");
      return created;
    }();
    return key;
  }

  /// Calls `is_done` at increasing intervals until it returns true or `deadline` has passed.
  template <typename Condition>
  static bool wait(time_point deadline, Condition const& is_done)
  {
    constexpr std::chrono::microseconds k_longest_pause(500);
    for (std::chrono::microseconds pause(1);; pause = std::min(2 * pause, k_longest_pause)) {
      if (is_done()) return true;
      if (std::chrono::steady_clock::now() >= deadline) return false;
      std::this_thread::sleep_for(pause);
    }
  }

  MPI_Comm communicator_;
  int tag_;
  unsigned rank_ = 0;
  unsigned size_ = 0;
};

/// Returns the result of `call` for a channel of `communicator`.
template <typename Call>
auto make_call(MPI_Comm communicator, Call const& call)
{
  channel ranks(communicator);
  try {
    return call(ranks);
  } catch (rank_error const&) {
    ranks.abandon();
    throw;
  }
}

/// fatlink::link_once for the ranks of `communicator`.
/// Throws as fatlink::link_once and channel.
inline linked_image link_once(MPI_Comm communicator, linker& linker,
                              std::function<link_task()> const& read,
                              link_once_settings const& settings = {})
{
  return make_call(communicator, [&](channel& ranks) {
    return fatlink::link_once(ranks, linker, read, settings);
  });
}
/// As above, for inputs that have already been read.
inline linked_image link_once(MPI_Comm communicator, linker& linker,
                              std::vector<input> const& inputs, link_options const& options,
                              link_once_settings const& settings = {})
{
  return make_call(communicator, [&](channel& ranks) {
    return fatlink::link_once(ranks, linker, inputs, options, settings);
  });
}

/// fatlink::prepare_once for the ranks of `communicator`.
/// Throws as fatlink::prepare_once and channel.
[[nodiscard]] inline prepared_plan prepare_once(MPI_Comm communicator,
                                                std::function<device()> const& open, linker& linker,
                                                plan_request const& request,
                                                link_once_settings const& settings = {})
{
  return make_call(communicator, [&](channel& ranks) {
    return fatlink::prepare_once(ranks, open, linker, request, settings);
  });
}
/// As above, for a device that is already open.
[[nodiscard]] inline prepared_plan prepare_once(MPI_Comm communicator, device const& destination,
                                                linker& linker, plan_request const& request,
                                                link_once_settings const& settings = {})
{
  return make_call(communicator, [&](channel& ranks) {
    return fatlink::prepare_once(ranks, destination, linker, request, settings);
  });
}

}  // namespace mpi
}  // namespace fatlink
