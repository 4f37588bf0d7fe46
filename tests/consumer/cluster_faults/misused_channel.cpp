// SPDX-License-Identifier: Apache-2.0
// Prints the errors of channels that cannot be used: before MPI_Init, without a communicator, and
// of a call of MPI that fails. Then whether a message that was being sent when the call failed
// arrives with its content.
#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <fatlink/mpi.hpp>

namespace {

template <typename Work>
void print_error(Work const& work)
{
  try {
    work();
    std::puts("no error");
  } catch (fatlink::error const& failure) {
    std::printf("%s: %s\n%s\n", to_string(failure.where()), failure.what(),
                failure.details().hint.c_str());
  }
}

/// Sends a message, too long for a buffer of MPI, to this process itself in a call that fails, and
/// receives it.
void receive_after_failure()
{
  using namespace std::chrono_literals;
  fatlink::mpi::channel ranks(MPI_COMM_WORLD);
  fatlink::byte_buffer const sent(std::size_t{64} << 20, std::byte{42});
  auto const now = std::chrono::steady_clock::now();
  print_error([&] { ranks.send({{.destination = 0, .bytes = sent}, {.destination = 99}}, now); });
  auto const received = ranks.receive(0, now + 1min);
  std::puts(received == sent ? "received" : "lost");
}

}  // namespace

int main(int count, char** arguments)
{
  print_error([] { fatlink::mpi::channel ranks(MPI_COMM_WORLD); });
  MPI_Init(&count, &arguments);
  print_error([] { fatlink::mpi::channel ranks(MPI_COMM_NULL); });
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  print_error([] {
    fatlink::mpi::channel ranks(MPI_COMM_WORLD);
    ranks.send({{.destination = 99}}, std::chrono::steady_clock::now());
  });
  receive_after_failure();
  MPI_Finalize();
}
