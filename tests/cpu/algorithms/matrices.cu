// SPDX-License-Identifier: Apache-2.0
// Matrix products of warps (nvcuda::wmma), and the usual kernels on grids of numbers: tiled
// product, transposition, convolution, stencil. All elements are small whole numbers, so that
// every order of additions gives the same sums.
#include <mma.h>

#include <cstdint>

namespace wmma = nvcuda::wmma;

namespace {

/// c = a * b + c, all row-major, by one warp; b is column-major. The tile is rows x columns, and
/// `depth` a multiple of Depth.
template <int Rows, int Columns, int Depth, typename Kind, typename Sum, typename Element>
__device__ void multiply(Sum* c, Element const* a, Element const* b, unsigned depth)
{
  wmma::fragment<wmma::matrix_a, Rows, Columns, Depth, Kind, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, Rows, Columns, Depth, Kind, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, Rows, Columns, Depth, Sum> sums;
  wmma::load_matrix_sync(sums, c, Columns, wmma::mem_row_major);
  for (unsigned k = 0; k < depth; k += Depth) {
    wmma::load_matrix_sync(left, a + k, depth);
    wmma::load_matrix_sync(right, b + k, depth);
    wmma::mma_sync(sums, left, right, sums);
  }
  for (int i = 0; i < sums.num_elements; ++i) sums.x[i] = sums.x[i] + sums.x[i];
  wmma::store_matrix_sync(c, sums, Columns, wmma::mem_row_major);
}

}  // namespace

// ---- c becomes 2 * (a * b + c)

extern "C" __global__ void product_of_halves(float* c, __half const* a, __half const* b,
                                             unsigned depth)
{
  multiply<16, 16, 16, __half>(c, a, b, depth);
}

extern "C" __global__ void product_in_halves(__half* c, __half const* a, __half const* b,
                                             unsigned depth)
{
  multiply<32, 8, 16, __half>(c, a, b, depth);
}

extern "C" __global__ void product_of_bfloats(float* c, __nv_bfloat16 const* a,
                                              __nv_bfloat16 const* b, unsigned depth)
{
  multiply<8, 32, 16, __nv_bfloat16>(c, a, b, depth);
}

extern "C" __global__ void product_of_tf32(float* c, float const* a, float const* b, unsigned depth)
{
  multiply<16, 16, 8, wmma::precision::tf32>(c, a, b, depth);
}

extern "C" __global__ void product_of_bytes(int* c, signed char const* a, signed char const* b,
                                            unsigned depth)
{
  multiply<16, 16, 16, signed char>(c, a, b, depth);
}

extern "C" __global__ void product_of_unsigned_bytes(int* c, unsigned char const* a,
                                                     unsigned char const* b, unsigned depth)
{
  multiply<8, 32, 16, unsigned char>(c, a, b, depth);
}

extern "C" __global__ void product_of_doubles(double* c, double const* a, double const* b,
                                              unsigned depth)
{
  multiply<8, 8, 4, double>(c, a, b, depth);
}

/// `depth`: at most 48.
extern "C" __global__ void product_in_shared_memory(float* c, __half const* a, __half const* b,
                                                    unsigned depth)
{
  __shared__ __half left[16 * 48];
  __shared__ __half right[16 * 48];
  __shared__ float sums[16 * 16];
  for (unsigned i = threadIdx.x; i < 16 * depth; i += 32) {
    left[i] = a[i];
    right[i] = b[i];
  }
  for (unsigned i = threadIdx.x; i < 256; i += 32) sums[i] = c[i];
  __syncwarp();
  multiply<16, 16, 16, __half>(sums, left, right, depth);
  __syncwarp();
  for (unsigned i = threadIdx.x; i < 256; i += 32) c[i] = sums[i];
}

// ---- kernels of blocks of 16 x 16 threads

/// c = a * b through shared tiles. Sizes are multiples of 16.
extern "C" __global__ void tiled_product(float* c, float const* a, float const* b, unsigned depth)
{
  __shared__ float left[16][16];
  __shared__ float right[16][16];
  auto const x = threadIdx.x;
  auto const y = threadIdx.y;
  auto const columns = 16 * gridDim.x;
  auto const row = 16 * blockIdx.y + y;
  float sum = 0;
  for (unsigned tile = 0; tile < depth; tile += 16) {
    left[y][x] = a[row * depth + tile + x];
    right[y][x] = b[(tile + y) * columns + 16 * blockIdx.x + x];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += left[y][k] * right[k][x];
    __syncthreads();
  }
  c[row * columns + 16 * blockIdx.x + x] = sum;
}

/// Transposes tiles of 32 x 32 with 8 rows of threads; a column of padding avoids bank conflicts.
extern "C" __global__ void transpose(unsigned* out, unsigned const* in)
{
  __shared__ unsigned tile[32][33];
  auto const columns = 32 * gridDim.x;
  auto const rows = 32 * gridDim.y;
  for (unsigned y = threadIdx.y; y < 32; y += blockDim.y)
    tile[y][threadIdx.x] = in[(32 * blockIdx.y + y) * columns + 32 * blockIdx.x + threadIdx.x];
  __syncthreads();
  for (unsigned y = threadIdx.y; y < 32; y += blockDim.y)
    out[(32 * blockIdx.x + y) * rows + 32 * blockIdx.y + threadIdx.x] = tile[threadIdx.x][y];
}

__constant__ float filter[7] = {1, -2, 3, 4, 3, -2, 1};

/// Convolution of rows with the filter; zeros outside. Blocks of 128 threads, 3 loads with margins.
extern "C" __global__ void convolve(float* out, float const* in, unsigned count)
{
  __shared__ float values[128 + 6];
  auto const first = static_cast<int>(blockIdx.x * 128);
  for (unsigned k = threadIdx.x; k < 134; k += 128) {
    auto const i = first + static_cast<int>(k) - 3;
    values[k] = i >= 0 && i < static_cast<int>(count) ? in[i] : 0;
  }
  __syncthreads();
  if (first + threadIdx.x >= count) return;
  float sum = 0;
  for (int k = 0; k < 7; ++k) sum += filter[k] * values[threadIdx.x + k];
  out[first + threadIdx.x] = sum;
}

/// A step of the 7-point stencil of a cube, whose sides are gridDim * blockDim: -6 at the center.
extern "C" __global__ void stencil(int* out, int const* in)
{
  auto const size =
      make_uint3(gridDim.x * blockDim.x, gridDim.y * blockDim.y, gridDim.z * blockDim.z);
  auto const x = blockIdx.x * blockDim.x + threadIdx.x;
  auto const y = blockIdx.y * blockDim.y + threadIdx.y;
  auto const z = blockIdx.z * blockDim.z + threadIdx.z;
  auto const at = [&](unsigned i, unsigned j, unsigned k) {
    return __ldg(in + ((k % size.z) * size.y + j % size.y) * size.x + i % size.x);
  };
  auto const sum = at(x + 1, y, z) + at(x + size.x - 1, y, z) + at(x, y + 1, z) +
                   at(x, y + size.y - 1, z) + at(x, y, z + 1) + at(x, y, z + size.z - 1);
  out[(z * size.y + y) * size.x + x] = sum - 6 * at(x, y, z);
}
