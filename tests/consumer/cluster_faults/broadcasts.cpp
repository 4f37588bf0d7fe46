// SPDX-License-Identifier: Apache-2.0
// Broadcasts messages of sizes below, at and above those of MPI's blocks from each rank. Rank 0
// prints how many arrived with their content on all ranks.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <fatlink/mpi.hpp>

namespace {

/// Whether a message of `size` bytes from `root` arrives.
int broadcast(fatlink::rank_channel& ranks, unsigned root, std::size_t size)
{
  fatlink::byte_buffer message(size);
  for (std::size_t at = 0; at < size; ++at)
    message[at] = static_cast<std::byte>(at * 31 + at / 4096 + root);
  auto const deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  auto const sent = ranks.rank() == root ? message : fatlink::byte_buffer{};
  return ranks.broadcast(root, sent, deadline) == message ? 1 : 0;
}

}  // namespace

int main(int count, char** arguments)
{
  MPI_Init(&count, &arguments);
  fatlink::mpi::channel ranks(MPI_COMM_WORLD);
  int arrived = 0;
  for (unsigned root = 0; root < ranks.size(); ++root)
    for (std::size_t const size : {0, 1, 61'432, 61'433, 122'872, 122'873, 40'000'000})
      arrived += broadcast(ranks, root, size);
  int least = 0;
  MPI_Reduce(&arrived, &least, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
  if (ranks.rank() == 0) std::printf("%d\n", least);
  MPI_Finalize();
}
