// SPDX-License-Identifier: Apache-2.0
// A collective link during which a rank ends or is stopped, between the exchange of keys and the
// reception of the image:
//   mpirun -n 16 interrupted RANK SIGNAL MILLISECONDS FOLDER
// RANK sends SIGNAL to itself. The others wait for messages for MILLISECONDS in each step, and
// write their error to FOLDER/NUMBER, before the job is ended.
#include <mpi.h>

#include <chrono>
#include <csignal>
#include <fatlink/mpi.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace {

/// Sends a signal to its own process when the rank has its role and would wait for the image.
class interrupted_channel : public fatlink::mpi::channel {
 public:
  explicit interrupted_channel(int signal) : channel(MPI_COMM_WORLD), signal_(signal) {}
  std::optional<fatlink::byte_buffer> receive(unsigned source, time_point deadline) override
  {
    if (++received_ == 2) std::raise(signal_);
    return channel::receive(source, deadline);
  }

 private:
  int signal_;
  int received_ = 0;
};

void link(fatlink::rank_channel& ranks, std::chrono::milliseconds limit)
{
  fatlink::linker linker;
  auto const device = *fatlink::open_device("cpu");
  (void)fatlink::prepare_once(ranks, device, linker,
                              {.library = "map1", .transforms = {"scale_add"}},
                              {.wait_limit = limit});
}

}  // namespace

int main(int count, char** arguments)
{
  MPI_Init(&count, &arguments);
  fatlink::mpi::channel channel(MPI_COMM_WORLD);
  auto const rank = std::to_string(channel.rank());
  std::string text;
  try {
    std::chrono::milliseconds const limit(std::stoi(arguments[3]));
    interrupted_channel interrupted(std::stoi(arguments[2]));
    link(rank == arguments[1] ? static_cast<fatlink::rank_channel&>(interrupted) : channel, limit);
    text = "no error";
  } catch (fatlink::error const& failure) {
    text = failure.what();
  }
  std::ofstream(std::filesystem::path(arguments[4]) / rank) << text << '\n';
  // Every rank writes its error before one ends the job.
  std::this_thread::sleep_for(std::chrono::seconds(2));
  MPI_Abort(MPI_COMM_WORLD, 3);
}
