// SPDX-License-Identifier: Apache-2.0
// Whole numbers and bits: ciphers, hashes and checksums, search, 128-bit integers, intrinsics.
#include <cstdint>

namespace {

__device__ unsigned global_rank()
{
  return blockIdx.x * blockDim.x + threadIdx.x;
}

}  // namespace

/// SHA-256 of a message of 55 bytes or less for each thread: `length` bytes, all equal to the
/// thread's number.
__constant__ std::uint32_t sha_constants[64];

extern "C" __global__ void sha256(std::uint32_t* digests, unsigned length)
{
  std::uint32_t schedule[64] = {};
  for (unsigned i = 0; i < length; ++i)
    schedule[i / 4] |= (global_rank() & 0xFFU) << (24 - 8 * (i % 4));
  schedule[length / 4] |= 0x80U << (24 - 8 * (length % 4));
  schedule[15] = 8 * length;
  auto const rotate = [](std::uint32_t x, int count) { return __funnelshift_r(x, x, count); };
  for (int i = 16; i < 64; ++i) {
    auto const a = schedule[i - 15];
    auto const b = schedule[i - 2];
    schedule[i] = schedule[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3U) + schedule[i - 7] +
                  (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10U);
  }
  std::uint32_t const start[8] = {0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A,
                                  0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19};
  std::uint32_t s[8];
  for (int i = 0; i < 8; ++i) s[i] = start[i];
  for (int i = 0; i < 64; ++i) {
    auto const t = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) +
                   ((s[4] & s[5]) ^ (~s[4] & s[6])) + sha_constants[i] + schedule[i];
    auto const u = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) +
                   ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    for (int k = 7; k > 0; --k) s[k] = s[k - 1];
    s[4] += t;
    s[0] = t + u;
  }
  for (int i = 0; i < 8; ++i) digests[8 * global_rank() + i] = start[i] + s[i];
}

namespace {

/// x times 2 in the field of AES, for 4 bytes at once.
__device__ unsigned doubled(unsigned x)
{
  return ((x & 0x7F7F7F7FU) << 1U) ^ (((x & 0x80808080U) >> 7U) * 0x1BU);
}

}  // namespace

/// AES-128 of 16 bytes for each thread. box: the 256 substitutes of bytes.
/// keys: 44 words of the expanded key.
extern "C" __global__ void aes128(unsigned* out, unsigned const* in, unsigned char const* box,
                                  unsigned const* keys)
{
  __shared__ unsigned char shared_box[256];
  for (auto i = threadIdx.x; i < 256; i += blockDim.x) shared_box[i] = box[i];
  __syncthreads();
  unsigned state[4];
  for (int c = 0; c < 4; ++c) state[c] = in[4 * global_rank() + c] ^ keys[c];
  for (int round = 1; round <= 10; ++round) {
    unsigned next[4];
    for (int c = 0; c < 4; ++c) {
      unsigned column = 0;
      for (int row = 0; row < 4; ++row)
        column |= static_cast<unsigned>(shared_box[state[(c + row) % 4] >> (8 * row) & 0xFFU])
                  << (8 * row);
      if (round < 10) {
        auto const twice = doubled(column);
        auto const thrice = twice ^ column;
        column = twice ^ __byte_perm(thrice, 0, 0x0321) ^ __byte_perm(column, 0, 0x1032) ^
                 __byte_perm(column, 0, 0x2103);
      }
      next[c] = column ^ keys[4 * round + c];
    }
    for (int c = 0; c < 4; ++c) state[c] = next[c];
  }
  for (int c = 0; c < 4; ++c) out[4 * global_rank() + c] = state[c];
}

/// CRC-32 of 64 bytes for each thread, with a table that the block computes.
extern "C" __global__ void crc32(unsigned* out, unsigned char const* in)
{
  __shared__ unsigned table[256];
  auto entry = threadIdx.x;
  for (int bit = 0; bit < 8; ++bit) entry = entry >> 1U ^ (entry % 2 != 0 ? 0xEDB88320U : 0U);
  table[threadIdx.x] = entry;
  __syncthreads();
  auto sum = ~0U;
  for (int i = 0; i < 64; ++i) sum = table[(sum ^ in[64 * global_rank() + i]) & 0xFFU] ^ sum >> 8U;
  out[global_rank()] = ~sum;
}

/// Positions at which `word` begins, in no order; out[0]: their number.
extern "C" __global__ void search(unsigned* out, char const* text, unsigned length,
                                  char const* word, unsigned word_length)
{
  auto const i = global_rank();
  if (i + word_length > length) return;
  for (unsigned k = 0; k < word_length; ++k)
    if (text[i + k] != word[k]) return;
  out[1 + atomicAdd(out, 1U)] = i;
}

/// 8 results of 128 bits, as pairs of words, for each pair of operands.
extern "C" __global__ void wide_integers(std::uint64_t* out, std::uint64_t const* in)
{
  using wide = unsigned __int128;
  auto const* const words = in + 4 * global_rank();
  auto const a = static_cast<wide>(words[1]) << 64U | words[0];
  auto const b = static_cast<wide>(words[3]) << 64U | words[2];
  auto const shift = static_cast<unsigned>(words[2] % 128);
  wide const results[8] = {
      a + b,
      a - b,
      a * b,
      a / (b | 1U),
      a % (b | 1U),
      a << shift,
      static_cast<wide>(static_cast<__int128>(a) >> shift),
      static_cast<wide>(static_cast<__int128>(a) / (static_cast<__int128>(b) | 1))};
  for (int i = 0; i < 8; ++i) {
    out[16 * global_rank() + 2 * i] = static_cast<std::uint64_t>(results[i]);
    out[16 * global_rank() + 2 * i + 1] = static_cast<std::uint64_t>(results[i] >> 64U);
  }
}

/// 16 results of integer intrinsics for each pair of operands.
extern "C" __global__ void intrinsics(unsigned* out, unsigned const* in)
{
  auto const a = __ldg(in + 2 * global_rank());
  auto const b = __ldcg(in + 2 * global_rank() + 1);
  auto* const results = out + 16 * global_rank();
  results[0] = static_cast<unsigned>(__dp4a(static_cast<int>(a), static_cast<int>(b), 7));
  results[1] = __dp4a(a, b, 7U);
  results[2] = __byte_perm(a, b, 0x6152);
  results[3] = __funnelshift_l(a, b, 5);
  results[4] = __funnelshift_rc(a, b, b % 64);
  results[5] = __brev(a) ^ static_cast<unsigned>(__clz(static_cast<int>(b))) ^ __popc(a);
  results[6] = static_cast<unsigned>(__ffs(static_cast<int>(a & b)));
  results[7] = __umulhi(a, b);
  results[8] = static_cast<unsigned>(__mulhi(static_cast<int>(a), static_cast<int>(b)));
  results[9] = __usad(a, b, 3U);
  results[10] = __vadd4(a, b);
  results[11] = __vmaxs2(a, b);
  results[12] = __vabsdiffu4(a, b);
  results[13] = __vcmpgtu4(a, b);
  results[14] = __viaddmax_s32_relu(static_cast<int>(a), static_cast<int>(b), 5);
  __stcs(results + 15, __uhadd(a, b) ^ __hadd(static_cast<int>(a), static_cast<int>(b)));
}
