// SPDX-License-Identifier: Apache-2.0
// Maps and sums the array of a .npy file with the ranks of an MPI job, one block for each rank, and
// checks the results against the whole array:
//   mpirun -n 16 cluster x.npy [transform of map1 [device]...]
// Each library is linked once for the whole job. Of several devices the ranks take turns. "gpu",
// the default, is the GPU with the rank's number on its machine.
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <exception>
#include <fatlink/mpi.hpp>
#include <optional>
#include <string>
#include <vector>

#include "npy_block.hpp"

namespace {

unsigned number_of(int (*query)(MPI_Comm, int*), MPI_Comm communicator)
{
  int number = 0;
  query(communicator, &number);
  return static_cast<unsigned>(number);
}

/// The number of this rank among those of its machine.
unsigned local_rank()
{
  MPI_Comm machine = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  auto const number = number_of(MPI_Comm_rank, machine);
  MPI_Comm_free(&machine);
  return number;
}

fatlink::device open_local(std::string const& name, unsigned local)
{
  std::string reason;
  auto const gpus = name == "gpu" ? fatlink::list_gpus(reason).size() : 0;
  return *fatlink::open_device(gpus == 0 ? name : "gpu:" + std::to_string(local % gpus));
}

/// Runs `plan`, which makes `results` elements of `values`.
std::vector<float> run(fatlink::device const& device, fatlink::prepared_plan const& plan,
                       std::vector<float> const& values, std::size_t results)
{
  auto in = device.allocate<float>(values.size());
  auto out = device.allocate<float>(results);
  auto stream = device.create_stream();
  std::vector<float> output(results);
  in.write(values, stream);
  plan.run(stream, {{"in", in}, {"out", out}});
  out.read(output, stream);
  stream.synchronize();
  return output;
}

/// The blocks of all ranks in their order; only on rank 0.
std::vector<float> gather(std::vector<float> const& block)
{
  auto const ranks = number_of(MPI_Comm_size, MPI_COMM_WORLD);
  auto const count = static_cast<int>(block.size());
  std::vector<int> counts(ranks);
  MPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  std::vector<int> offsets(ranks + 1);
  for (unsigned rank = 0; rank < ranks; ++rank) offsets[rank + 1] = offsets[rank] + counts[rank];
  std::vector<float> all(static_cast<std::size_t>(offsets.back()));
  MPI_Gatherv(block.data(), count, MPI_FLOAT, all.data(), counts.data(), offsets.data(), MPI_FLOAT,
              0, MPI_COMM_WORLD);
  return all;
}

/// Whether `mapped` is 2 x + 1 of each element x, and `total` the sum of `mapped`.
bool verify(std::vector<float> const& values, std::vector<float> const& mapped, float total)
{
  double sum = 0;
  double magnitude = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (mapped.at(i) != std::fma(2.0F, values[i], 1.0F)) {
      std::fprintf(stderr, "element %zu: f(%g) is %g\n", i, double{values[i]}, double{mapped[i]});
      return false;
    }
    sum += double{mapped[i]};
    magnitude += std::abs(double{mapped[i]});
  }
  std::printf("%zu elements mapped, their sum is %g, exactly %g\n", values.size(), double{total},
              sum);
  auto const depth = std::sqrt(static_cast<double>(values.size())) + 64;
  return std::abs(double{total} - sum) <= depth * 0x1p-24 * magnitude;
}

/// Prints how many ranks linked `library`.
void count_links(char const* library, fatlink::prepared_plan const& plan)
{
  int const linked = plan.image().link_ms > 0 ? 1 : 0;
  int links = 0;
  MPI_Reduce(&linked, &links, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (number_of(MPI_Comm_rank, MPI_COMM_WORLD) == 0)
    std::printf("%s: %d of %u ranks linked\n", library, links,
                number_of(MPI_Comm_size, MPI_COMM_WORLD));
}

bool run_job(std::string const& path, std::string const& transform, std::string const& device_name)
{
  auto const rank = number_of(MPI_Comm_rank, MPI_COMM_WORLD);
  auto const ranks = number_of(MPI_Comm_size, MPI_COMM_WORLD);
  auto const local = local_rank();
  std::optional<fatlink::device> device;
  auto const open = [&] { return device.emplace(open_local(device_name, local)); };
  fatlink::linker linker;  // without a cache, so that each link is made and counted
  auto const map = fatlink::mpi::prepare_once(MPI_COMM_WORLD, open, linker,
                                              {.library = "map1", .transforms = {transform}});
  auto const sum = fatlink::mpi::prepare_once(MPI_COMM_WORLD, *device, linker,
                                              {.library = "reduce_4", .transforms = {"add_float"}});
  count_links("map1", map);
  count_links("reduce_4", sum);

  auto const layout = read_layout(path);
  auto const values = read_block(path, layout, block_of(layout, rank, ranks));
  auto const mapped = run(*device, map, values, values.size());
  auto const sums = gather(run(*device, sum, mapped, 1));
  auto const all = gather(mapped);
  return rank != 0 || verify(read_block(path, layout, {.first = 0, .count = layout.count}), all,
                             run(*device, sum, sums, 1).front());
}

/// Prints an error, which is that of all ranks, with the number of this one.
void print(fatlink::error const& failure)
{
  auto const rank = number_of(MPI_Comm_rank, MPI_COMM_WORLD);
  std::fprintf(stderr, "[%u] %s\n[%u] %s\n", rank, failure.what(), rank,
               failure.details().hint.c_str());
  if (auto const* const refusal = dynamic_cast<fatlink::refused_error const*>(&failure))
    for (auto const& finding : refusal->findings())
      std::fprintf(stderr, "[%u] %s: %s\n", rank, to_string(finding.id), finding.message.c_str());
}

}  // namespace

int main(int count, char** arguments)
{
  MPI_Init(&count, &arguments);
  std::vector<std::string> const words(arguments + 1, arguments + count);
  auto const rank = number_of(MPI_Comm_rank, MPI_COMM_WORLD);
  auto status = 2;
  try {
    auto const devices = words.size() > 2 ? words.size() - 2 : 0;
    status = run_job(words.at(0), words.size() > 1 ? words[1] : "scale_add",
                     devices == 0 ? "gpu" : words[2 + rank % devices])
                 ? 0
                 : 1;
  } catch (fatlink::rank_error const& failure) {  // other ranks may wait: end all of them
    print(failure);
    MPI_Abort(MPI_COMM_WORLD, 3);
  } catch (fatlink::error const& failure) {
    print(failure);
  } catch (std::exception const& failure) {  // only this rank has it
    std::fprintf(stderr, "[%u] %s\n", rank, failure.what());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Finalize();
  return status;
}
