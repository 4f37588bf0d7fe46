// SPDX-License-Identifier: Apache-2.0
// link_once and prepare_once (fatlink/link_once.hpp) for the ranks of an MPI communicator. Only
// this header uses MPI, by its C interface (MPI 3.0): fatlink's library is linked with no MPI. In
// CMake:
//
//   find_package(fatlink REQUIRED COMPONENTS mpi)
//   target_link_libraries(application PRIVATE fatlink::fatlink fatlink::mpi)
//
// The communicator: its messages have the tag 17996 (or another one, see channel). A receive with
// MPI_ANY_TAG that is pending during a call would take them; code that has such receives passes a
// duplicate of its communicator. If its error handler returns, as MPI_ERRORS_RETURN does, a failed
// call of MPI is an error of fatlink with the code "MPI error N".
// Threads: any level of MPI's; each channel, and each communicator, by one thread at a time.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
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

/// The messages of a communicator's ranks.
class channel : public rank_channel {
 public:
  /// The tag of messages where none is given.
  static constexpr int k_default_tag = 17996;

  /// Messages over `communicator`, which outlives the channel, with `tag`.
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

  /// Counts the calls of the communicator, whatever the number of channels for it.
  [[nodiscard]] std::uint64_t next_call() override
  {
    void* counter = nullptr;
    int is_set = 0;
    check(MPI_Comm_get_attr(communicator_, counter_key(), static_cast<void*>(&counter), &is_set),
          "MPI_Comm_get_attr");
    if (is_set == 0) {
      counter = new std::uint64_t{0};  // owned by the communicator
      check(MPI_Comm_set_attr(communicator_, counter_key(), counter), "MPI_Comm_set_attr");
    }
    return ++*static_cast<std::uint64_t*>(counter);
  }

  void send(std::vector<rank_message> const& messages, time_point deadline) override
  {
    std::list<transfer> transfers;
    for (auto const& message : messages) {
      auto& started = transfers.emplace_back();
      started.bytes.assign(message.bytes.begin(), message.bytes.end());
      check(MPI_Isend(started.bytes.data(), static_cast<int>(started.bytes.size()), MPI_BYTE,
                      static_cast<int>(message.destination), tag_, communicator_, &started.request),
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
    check(MPI_Imrecv(started.bytes.data(), size, MPI_BYTE, &handle, &started.request),
          "MPI_Imrecv");
    if (!finish(started, deadline)) return std::nullopt;
    return std::move(started.bytes);
  }

 private:
  /// A message that MPI sends or receives. Its memory outlives it if MPI may still use that: after
  /// the deadline, or after a call of MPI that failed.
  struct transfer {
    transfer() = default;
    ~transfer()
    {
      if (request != MPI_REQUEST_NULL) keep(std::move(bytes));
    }
    transfer(transfer const&) = delete;
    transfer& operator=(transfer const&) = delete;

    byte_buffer bytes = {};
    MPI_Request request = MPI_REQUEST_NULL;  ///< MPI_Test sets it to null when it is done
  };

  /// Keeps memory until the process ends.
  static void keep(byte_buffer bytes) noexcept
  {
    static auto& mutex = *new std::mutex;
    static auto& kept = *new std::list<byte_buffer>;
    std::lock_guard const lock(mutex);
    kept.push_back(std::move(bytes));
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

  static int delete_counter(MPI_Comm /*owner*/, int /*key*/, void* counter, void* /*state*/)
  {
    delete static_cast<std::uint64_t*>(counter);
    return MPI_SUCCESS;
  }
  static int counter_key()
  {
    static int const key = [] {
      int created = MPI_KEYVAL_INVALID;
      check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &delete_counter, &created, nullptr),
            "MPI_Comm_create_keyval");
      return created;
    }();
    return key;
  }

  /// Calls `is_done` until it is true or it is `deadline`, in longer and longer intervals.
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

  static bool finish(transfer& started, time_point deadline)
  {
    return wait(deadline, [&] {
      int is_done = 0;
      check(MPI_Test(&started.request, &is_done, MPI_STATUS_IGNORE), "MPI_Test");
      return is_done != 0;
    });
  }

  MPI_Comm communicator_;
  int tag_;
  unsigned rank_ = 0;
  unsigned size_ = 0;
};

/// fatlink::link_once for the ranks of `communicator`.
/// @throws as fatlink::link_once and channel.
inline linked_image link_once(MPI_Comm communicator, linker& linker,
                              std::function<link_task()> const& read,
                              link_once_settings const& settings = {})
{
  channel ranks(communicator);
  return fatlink::link_once(ranks, linker, read, settings);
}
/// As above, of inputs that have been read already.
inline linked_image link_once(MPI_Comm communicator, linker& linker,
                              std::vector<input> const& inputs, link_options const& options,
                              link_once_settings const& settings = {})
{
  channel ranks(communicator);
  return fatlink::link_once(ranks, linker, inputs, options, settings);
}

/// fatlink::prepare_once for the ranks of `communicator`.
/// @throws as fatlink::prepare_once and channel.
[[nodiscard]] inline prepared_plan prepare_once(MPI_Comm communicator,
                                                std::function<device()> const& open, linker& linker,
                                                plan_request const& request,
                                                link_once_settings const& settings = {})
{
  channel ranks(communicator);
  return fatlink::prepare_once(ranks, open, linker, request, settings);
}
/// As above, for a device that is open already.
[[nodiscard]] inline prepared_plan prepare_once(MPI_Comm communicator, device const& destination,
                                                linker& linker, plan_request const& request,
                                                link_once_settings const& settings = {})
{
  channel ranks(communicator);
  return fatlink::prepare_once(ranks, destination, linker, request, settings);
}

}  // namespace mpi
}  // namespace fatlink
