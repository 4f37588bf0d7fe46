// SPDX-License-Identifier: Apache-2.0
// A collective link during which a rank ends or is stopped, between the exchange of keys and the
// reception of the image:
//   mpirun -n 16 interrupted RANK SIGNAL MILLISECONDS FOLDER
// RANK sends SIGNAL to itself; if SIGNAL is -1, it exits without MPI_Finalize. The others wait for
// messages for MILLISECONDS in each step, and write their error to FOLDER/NUMBER, and the error of
// a second call, before the job is ended.
#include <mpi.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fatlink/mpi.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace {

constexpr int k_exit = -1;

/// Sends a signal to its own process, or exits, when the groups are known and it would wait for the
/// image.
class interrupted_channel : public fatlink::mpi::channel {
 public:
  explicit interrupted_channel(int signal) : channel(MPI_COMM_WORLD), signal_(signal) {}
  std::optional<fatlink::byte_buffer> broadcast(unsigned root, fatlink::bytes_view message,
                                                time_point deadline) override
  {
    if (signal_ == k_exit) std::_Exit(0);
    std::raise(signal_);
    return channel::broadcast(root, message, deadline);
  }

 private:
  int signal_;
};

/// The error of a collective link, in which this rank sends itself `signal` or exits unless that is
/// 0.
std::string link(int signal, std::chrono::milliseconds limit)
try {
  fatlink::linker linker;
  auto const device = *fatlink::open_device("cpu");
  fatlink::plan_request const request{.library = "map1", .transforms = {"scale_add"}};
  if (signal == 0) {
    (void)fatlink::mpi::prepare_once(MPI_COMM_WORLD, device, linker, request,
                                     {.wait_limit = limit});
  } else {
    interrupted_channel interrupted(signal);
    (void)fatlink::prepare_once(interrupted, device, linker, request, {.wait_limit = limit});
  }
  return "no error";
} catch (fatlink::error const& failure) {
  return failure.what();
}

}  // namespace

int main(int count, char** arguments)
{
  MPI_Init(&count, &arguments);
  auto const rank = std::to_string(fatlink::mpi::channel(MPI_COMM_WORLD).rank());
  std::chrono::milliseconds const limit(std::stoi(arguments[3]));
  auto const first = link(rank == arguments[1] ? std::stoi(arguments[2]) : 0, limit);
  auto const second = link(0, limit);
  std::ofstream(std::filesystem::path(arguments[4]) / rank) << first << '\n' << second << '\n';
  // Every rank writes its error before one ends the job.
  std::this_thread::sleep_for(std::chrono::seconds(2));
  MPI_Abort(MPI_COMM_WORLD, 3);
}
