// SPDX-License-Identifier: Apache-2.0
// What C++ programs use besides arithmetic: virtual functions, pointers to functions, recursion,
// memory from the heap and printf.
#include <cstdio>

namespace {

__device__ unsigned global_rank()
{
  return blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ unsigned destroyed;

class shape {
 public:
  __device__ explicit shape(unsigned side) : side_(side) {}
  shape(shape const&) = delete;
  shape& operator=(shape const&) = delete;
  __device__ virtual ~shape() { atomicAdd(&destroyed, 1U); }
  [[nodiscard]] __device__ virtual unsigned area() const = 0;
  [[nodiscard]] __device__ virtual unsigned corners() const { return 4; }

 protected:
  unsigned side_;
};

class square : public shape {
 public:
  using shape::shape;
  [[nodiscard]] __device__ unsigned area() const override { return side_ * side_; }
};

class rectangle : public square {
 public:
  __device__ rectangle(unsigned side, unsigned width) : square(side), width_(width) {}
  [[nodiscard]] __device__ unsigned area() const override { return side_ * width_; }

 private:
  unsigned width_;
};

class triangle : public shape {
 public:
  using shape::shape;
  [[nodiscard]] __device__ unsigned area() const override { return side_ * side_ / 2; }
  [[nodiscard]] __device__ unsigned corners() const override { return 3; }
};

}  // namespace

/// out[thread] = area * 10 + corners of an object whose class depends on the thread.
extern "C" __global__ void call_virtually(unsigned* out)
{
  auto const i = global_rank();
  shape* object = nullptr;
  if (i % 3 == 0)
    object = new square(i);
  else if (i % 3 == 1)
    object = new rectangle(i, 7);
  else
    object = new triangle(i);
  out[i] = object->area() * 10 + object->corners();
  delete object;
}

extern "C" __global__ void read_destroyed(unsigned* out)
{
  out[0] = destroyed;
}

namespace {

using operation = unsigned (*)(unsigned, unsigned);
__device__ unsigned add(unsigned a, unsigned b)
{
  return a + b;
}
__device__ unsigned multiply(unsigned a, unsigned b)
{
  return a * b;
}
__device__ unsigned mix(unsigned a, unsigned b)
{
  return (a ^ b) * 2654435761U;
}
__device__ operation operations[4] = {add, multiply, mix, add};

struct machine {
  unsigned value;
  __device__ void step(unsigned x) { value = value * 31 + x; }
  __device__ void turn(unsigned x) { value = __funnelshift_l(value, value, x); }
};

}  // namespace

/// Applies functions from a table, and members through pointers, as each number says.
extern "C" __global__ void call_through_pointers(unsigned* out, unsigned const* in)
{
  auto const value = in[global_rank()];
  auto result = operations[value % 4](value, 77);
  machine state{result};
  for (unsigned k = 0; k < 4; ++k) {
    auto const member = (value >> k & 1U) != 0 ? &machine::step : &machine::turn;
    (state.*member)(k + 1);
  }
  out[global_rank()] = state.value;
}

namespace {

__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n)
{
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

__device__ void sort_quickly(unsigned* first, unsigned* last)
{
  if (last - first < 2) return;
  auto const pivot = first[(last - first) / 2];
  auto* left = first;
  auto* right = last - 1;
  while (left <= right) {
    while (*left < pivot) ++left;
    while (*right > pivot) --right;
    if (left > right) break;
    auto const other = *left;
    *left++ = *right;
    *right-- = other;
  }
  sort_quickly(first, right + 1);
  sort_quickly(left, last);
}

}  // namespace

/// out[thread] = ackermann(2, thread % 4): the stack of a thread of a GPU has 1 KiB.
extern "C" __global__ void recurse(unsigned* out)
{
  out[global_rank()] = ackermann(2, global_rank() % 4);
}

/// Each thread sorts `length` numbers of its own.
extern "C" __global__ void sort_recursively(unsigned* values, unsigned length)
{
  auto* const first = values + length * global_rank();
  sort_quickly(first, first + length);
}

namespace {

struct tree_node {
  unsigned key;
  tree_node* children[2];
};

__device__ unsigned depth_of(tree_node const* node)
{
  return node == nullptr ? 0 : 1 + max(depth_of(node->children[0]), depth_of(node->children[1]));
}

__device__ void release(tree_node* node)
{
  if (node == nullptr) return;
  release(node->children[0]);
  release(node->children[1]);
  free(node);
}

}  // namespace

/// Each thread builds a binary tree of `count` numbers on the heap. Results: its depth, and a
/// number that depends on the order of its keys.
extern "C" __global__ void grow_trees(unsigned* out, unsigned const* in, unsigned count)
{
  tree_node* root = nullptr;
  for (unsigned k = 0; k < count; ++k) {
    auto const key = in[count * global_rank() + k];
    auto** link = &root;
    while (*link != nullptr) link = &(*link)->children[key >= (*link)->key ? 1 : 0];
    *link = static_cast<tree_node*>(malloc(sizeof(tree_node)));
    **link = {key, {nullptr, nullptr}};
  }
  unsigned order = 0;  // in order, with a stack of its own
  tree_node* path[64];
  int length = 0;
  for (auto* node = root; node != nullptr || length > 0;) {
    for (; node != nullptr; node = node->children[0]) path[length++] = node;
    node = path[--length];
    order = order * 31 + node->key;
    node = node->children[1];
  }
  out[2 * global_rank()] = depth_of(root);
  out[2 * global_rank() + 1] = order;
  release(root);
}

__device__ unsigned* handed_over;

/// A thread allocates an array for the block; the next launch reads and frees it.
extern "C" __global__ void allocate_for_later(unsigned count)
{
  __shared__ unsigned* values;
  if (threadIdx.x == 0) handed_over = values = new unsigned[count];
  __syncthreads();
  for (auto i = threadIdx.x; i < count; i += blockDim.x) values[i] = i * i;
}

extern "C" __global__ void use_and_free(unsigned* out, unsigned count)
{
  unsigned sum = 0;
  for (auto i = threadIdx.x; i < count; i += blockDim.x) sum += handed_over[i];
  atomicAdd(out, sum);
  __syncthreads();
  if (threadIdx.x == 0) delete[] handed_over;
}

/// A line for every second thread.
extern "C" __global__ void print_lines()
{
  if (threadIdx.x % 2 == 0)
    printf("%03u|%-6d|%+.3e|%s|%5.1f%%|%c|%#x|%lld\n", threadIdx.x, -42, 1234.5, "text", 99.5, '!',
           255U, -1234567890123LL);
}
