// SPDX-License-Identifier: Apache-2.0
// Prints the errors of channels that cannot be used: before MPI_Init, without a communicator, and
// of a call of MPI that fails.
#include <mpi.h>

#include <chrono>
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
  MPI_Finalize();
}
