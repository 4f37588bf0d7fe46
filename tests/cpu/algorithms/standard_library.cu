// SPDX-License-Identifier: Apache-2.0
// Types of libcu++'s standard library.
#include <cuda/std/array>
#include <cuda/std/bitset>
#include <cuda/std/chrono>
#include <cuda/std/complex>
#include <cuda/std/expected>
#include <cuda/std/inplace_vector>
#include <cuda/std/mdspan>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/variant>

namespace {

__device__ unsigned global_rank()
{
  return blockIdx.x * blockDim.x + threadIdx.x;
}

}  // namespace

/// Complex numbers: a polynomial and its derivative; small whole numbers, so all is exact.
extern "C" __global__ void complex_numbers(cuda::std::complex<double>* out, int const* in)
{
  using complex = cuda::std::complex<double>;
  complex const z(in[2 * global_rank()], in[2 * global_rank() + 1]);
  auto const value = z * z * z - 2.0 * z + complex(0, 1);
  auto const slope = 3.0 * z * z - complex(2);
  auto* const results = out + 4 * global_rank();
  results[0] = value;
  results[1] = slope;
  results[2] = cuda::std::conj(value) / complex(2, 0);
  results[3] = complex(cuda::std::norm(z), cuda::std::real(z) == cuda::std::imag(z) ? 1 : 0);
}

namespace {

using variant = cuda::std::variant<unsigned, float, cuda::std::array<unsigned, 3>>;

struct visitor {
  __device__ unsigned operator()(unsigned value) const { return value; }
  __device__ unsigned operator()(float value) const { return static_cast<unsigned>(value * 2); }
  __device__ unsigned operator()(cuda::std::array<unsigned, 3> const& values) const
  {
    return values[0] + values[1] * values[2];
  }
};

__device__ cuda::std::optional<unsigned> root_of(unsigned value)
{
  for (unsigned k = 0; k * k <= value; ++k)
    if (k * k == value) return k;
  return cuda::std::nullopt;
}

__device__ cuda::std::expected<unsigned, int> divided(unsigned a, unsigned b)
{
  if (b == 0) return cuda::std::unexpected(-1);
  return a / b;
}

}  // namespace

/// 8 numbers for each thread, from types of the standard library.
extern "C" __global__ void standard_types(unsigned* out, unsigned const* in, unsigned count)
{
  namespace std = cuda::std;
  auto const i = global_rank();
  auto* const results = out + 8 * i;
  std::span<unsigned const> const values(in, count);
  results[0] = root_of(i).value_or(1000);
  auto const object = i % 3 == 0   ? variant(i)
                      : i % 3 == 1 ? variant(static_cast<float>(i) + 0.5F)
                                   : variant(std::array<unsigned, 3>{i, 2, 3});
  results[1] = std::visit(visitor(), object) + 100 * static_cast<unsigned>(object.index());
  auto const [least, largest] = std::tuple(min(values[i], 50U), max(values[i], 50U));
  results[2] = largest - least;
  auto const part = values.subspan(i % 4, 4);
  results[3] = part.front() + part.back() + static_cast<unsigned>(part.size());
  results[4] = divided(100, i % 5).value_or(7) + (divided(1, i % 5).has_value() ? 0 : 1000);
  results[5] = static_cast<unsigned>(std::bitset<64>(values[i] * 3).count());
  std::mdspan<unsigned const, std::extents<int, 4, 8>> const matrix(in);
  results[6] = matrix(static_cast<int>(i % 4), static_cast<int>(i % 8));
  std::inplace_vector<unsigned, 8> list;
  for (unsigned k = 0; k < i % 8; ++k) list.push_back(k * i);
  results[7] = list.empty() ? 5 : list.back();
}

/// Calendars and durations: the date of each day number, as year * 10000 + month * 100 + day, and
/// the seconds of that many 7-minute steps.
extern "C" __global__ void calendar(unsigned* out, int const* days)
{
  namespace chrono = cuda::std::chrono;
  chrono::year_month_day const date{chrono::sys_days{chrono::days{days[global_rank()]}}};
  out[2 * global_rank()] = static_cast<unsigned>(static_cast<int>(date.year())) * 10000 +
                           static_cast<unsigned>(date.month()) * 100 +
                           static_cast<unsigned>(date.day());
  auto const time = chrono::minutes{7} * days[global_rank()];
  out[2 * global_rank() + 1] =
      static_cast<unsigned>(chrono::duration_cast<chrono::seconds>(time).count());
}
