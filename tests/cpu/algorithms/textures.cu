// SPDX-License-Identifier: Apache-2.0
// Kernels that read textures and read and write surfaces, by objects that the host makes.

namespace {

__device__ unsigned column()
{
  return blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ unsigned row()
{
  return blockIdx.y * blockDim.y + threadIdx.y;
}

/// The weights of a cubic B-spline for the four texels around a coordinate with this fraction.
__device__ void cubic_weights(float fraction, float* weights)
{
  auto const rest = 1 - fraction;
  weights[0] = rest * rest * rest / 6;
  weights[1] = (4 - 6 * fraction * fraction + 3 * fraction * fraction * fraction) / 6;
  weights[2] = (4 - 6 * rest * rest + 3 * rest * rest * rest) / 6;
  weights[3] = fraction * fraction * fraction / 6;
}

}  // namespace

/// One thread for each pixel of `results`, which cover the coordinates from `first` to `last`.
extern "C" __global__ void resize(float4* results, cudaTextureObject_t image, unsigned width,
                                  unsigned height, float first, float last)
{
  auto const x = column();
  auto const y = row();
  if (x >= width || y >= height) return;
  auto const u =
      first + (last - first) * (static_cast<float>(x) + 0.5F) / static_cast<float>(width);
  auto const v =
      first + (last - first) * (static_cast<float>(y) + 0.5F) / static_cast<float>(height);
  results[y * width + x] = tex2D<float4>(image, u, v);
}

/// Enlarges an image of one channel by `scale`, with four reads that interpolate: the texture has
/// a linear filter and coordinates that are not normalized.
extern "C" __global__ void resize_bicubic(float* results, cudaTextureObject_t image, unsigned width,
                                          unsigned height, float scale)
{
  auto const x = column();
  auto const y = row();
  if (x >= width || y >= height) return;
  auto const u = (static_cast<float>(x) + 0.5F) / scale - 0.5F;
  auto const v = (static_cast<float>(y) + 0.5F) / scale - 0.5F;
  float across[4];
  float down[4];
  cubic_weights(u - floorf(u), across);
  cubic_weights(v - floorf(v), down);
  float sum = 0;
  for (int j = 0; j < 4; j += 2)
    for (int i = 0; i < 4; i += 2) {
      auto const weight_x = across[i] + across[i + 1];
      auto const weight_y = down[j] + down[j + 1];
      auto const place_x = floorf(u) - 0.5F + static_cast<float>(i) + across[i + 1] / weight_x;
      auto const place_y = floorf(v) - 0.5F + static_cast<float>(j) + down[j + 1] / weight_y;
      sum += weight_x * weight_y * tex2D<float>(image, place_x, place_y);
    }
  results[y * width + x] = sum;
}

/// A convolution with 3 · 3 weights; the edge repeats.
extern "C" __global__ void convolve(cudaSurfaceObject_t results, cudaSurfaceObject_t image,
                                    float const* weights, unsigned width, unsigned height)
{
  auto const x = static_cast<int>(column());
  auto const y = static_cast<int>(row());
  if (x >= static_cast<int>(width) || y >= static_cast<int>(height)) return;
  float sum = 0;
  for (int j = -1; j <= 1; ++j)
    for (int i = -1; i <= 1; ++i)
      sum += weights[3 * (j + 1) + i + 1] *
             surf2Dread<float>(image, (x + i) * static_cast<int>(sizeof(float)), y + j,
                               cudaBoundaryModeClamp);
  surf2Dwrite(sum, results, x * static_cast<int>(sizeof(float)), y);
}

/// Blocks of 16 · 16 threads, each with a tile in shared memory.
extern "C" __global__ void transpose(cudaSurfaceObject_t results, cudaSurfaceObject_t image,
                                     unsigned width, unsigned height)
{
  __shared__ uchar4 tile[16][17];
  constexpr int size = sizeof(uchar4);
  auto const x = static_cast<int>(column());
  auto const y = static_cast<int>(row());
  tile[threadIdx.y][threadIdx.x] = surf2Dread<uchar4>(image, x * size, y, cudaBoundaryModeZero);
  __syncthreads();
  auto const new_x = blockIdx.y * 16 + threadIdx.x;
  auto const new_y = blockIdx.x * 16 + threadIdx.y;
  if (new_x < height && new_y < width)
    surf2Dwrite(tile[threadIdx.x][threadIdx.y], results, static_cast<int>(new_x) * size,
                static_cast<int>(new_y));
}

/// Reads each texel of a 2-D texture once, whatever its integers are.
extern "C" __global__ void read_integers(int4* results, cudaTextureObject_t image, unsigned width)
{
  auto const x = static_cast<float>(threadIdx.x) + 0.5F;
  auto const y = static_cast<float>(blockIdx.x) + 0.5F;
  results[blockIdx.x * width + threadIdx.x] = tex2D<int4>(image, x, y);
}

/// The same of floats.
extern "C" __global__ void read_floats(float4* results, cudaTextureObject_t image, unsigned width)
{
  auto const x = static_cast<float>(threadIdx.x) + 0.5F;
  auto const y = static_cast<float>(blockIdx.x) + 0.5F;
  results[blockIdx.x * width + threadIdx.x] = tex2D<float4>(image, x, y);
}

/// Reads texels of linear memory from index `first` on.
extern "C" __global__ void fetch(float2* results, cudaTextureObject_t texels, int first)
{
  auto const i = static_cast<int>(column());
  results[i] = tex1Dfetch<float2>(texels, first + i);
}

/// Thread (x, y) of block b reads the texel there of a 1-D texture, or of one with layers b.
extern "C" __global__ void read_line(float* results, cudaTextureObject_t texels)
{
  results[threadIdx.x] = tex1D<float>(texels, static_cast<float>(threadIdx.x) + 0.5F);
}
extern "C" __global__ void read_lines(float* results, cudaTextureObject_t texels)
{
  results[column()] = tex1DLayered<float>(texels, static_cast<float>(threadIdx.x) + 0.5F,
                                          static_cast<int>(blockIdx.x));
}
extern "C" __global__ void read_layers(float* results, cudaTextureObject_t texels)
{
  results[(blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x] =
      tex2DLayered<float>(texels, static_cast<float>(threadIdx.x) + 0.5F,
                          static_cast<float>(threadIdx.y) + 0.5F, static_cast<int>(blockIdx.x));
}
/// Between the slices `blockIdx.x` and the next, in the middle of texels otherwise.
extern "C" __global__ void read_volume(float* results, cudaTextureObject_t texels)
{
  results[(blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x] =
      tex3D<float>(texels, static_cast<float>(threadIdx.x) + 0.5F,
                   static_cast<float>(threadIdx.y) + 0.5F, static_cast<float>(blockIdx.x) + 1);
}

/// `directions`: three numbers for each thread. Block b reads cubemap b of a layered texture.
extern "C" __global__ void read_cubemap(float* results, cudaTextureObject_t texels,
                                        float const* directions)
{
  auto const* const direction = directions + 3 * threadIdx.x;
  results[threadIdx.x] = texCubemap<float>(texels, direction[0], direction[1], direction[2]);
}
extern "C" __global__ void read_cubemaps(float* results, cudaTextureObject_t texels,
                                         float const* directions)
{
  auto const* const direction = directions + 3 * threadIdx.x;
  results[column()] = texCubemapLayered<float>(texels, direction[0], direction[1], direction[2],
                                               static_cast<int>(blockIdx.x));
}

/// The red channels of the four texels around each inner corner.
extern "C" __global__ void gather(float4* results, cudaTextureObject_t image)
{
  results[threadIdx.y * blockDim.x + threadIdx.x] = tex2Dgather<float4>(
      image, static_cast<float>(threadIdx.x) + 1, static_cast<float>(threadIdx.y) + 1, 0);
}

/// Adds 1 to each texel of a surface of words of any shape.
extern "C" __global__ void increment_line(cudaSurfaceObject_t texels)
{
  auto const x = static_cast<int>(threadIdx.x * sizeof(unsigned));
  surf1Dwrite(surf1Dread<unsigned>(texels, x) + 1, texels, x);
}
extern "C" __global__ void increment_layers(cudaSurfaceObject_t texels)
{
  auto const x = static_cast<int>(threadIdx.x * sizeof(unsigned));
  auto const y = static_cast<int>(threadIdx.y);
  auto const layer = static_cast<int>(blockIdx.x);
  surf2DLayeredwrite(surf2DLayeredread<unsigned>(texels, x, y, layer) + 1, texels, x, y, layer);
}
extern "C" __global__ void increment_volume(cudaSurfaceObject_t texels)
{
  auto const x = static_cast<int>(threadIdx.x * sizeof(unsigned));
  auto const y = static_cast<int>(threadIdx.y);
  auto const z = static_cast<int>(blockIdx.x);
  surf3Dwrite(surf3Dread<unsigned>(texels, x, y, z) + 1, texels, x, y, z);
}
extern "C" __global__ void increment_faces(cudaSurfaceObject_t texels)
{
  auto const x = static_cast<int>(threadIdx.x * sizeof(unsigned));
  auto const y = static_cast<int>(threadIdx.y);
  auto const face = static_cast<int>(blockIdx.x);
  surfCubemapwrite(surfCubemapread<unsigned>(texels, x, y, face) + 1, texels, x, y, face);
}

/// Sets each texel of a 2-D surface to its place, through a texture's channels.
extern "C" __global__ void copy_to_surface(cudaSurfaceObject_t results, cudaTextureObject_t image)
{
  auto const x = static_cast<float>(threadIdx.x) + 0.5F;
  auto const y = static_cast<float>(threadIdx.y) + 0.5F;
  surf2Dwrite(tex2D<uchar4>(image, x, y), results, static_cast<int>(threadIdx.x * sizeof(uchar4)),
              static_cast<int>(threadIdx.y));
}

/// Writes one texel with the boundary mode that traps.
extern "C" __global__ void write_at(cudaSurfaceObject_t texels, int x, int y)
{
  surf2Dwrite(1U, texels, x * static_cast<int>(sizeof(unsigned)), y, cudaBoundaryModeTrap);
}
