// SPDX-License-Identifier: Apache-2.0
#include "verification/elements.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "plan/components.hpp"
#include "util/bytes/half_float.hpp"
#include "util/files/npy.hpp"
#include "util/process/parallel.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

// What the first elements of a float type are: the positions of its least denormal and normal
// numbers differ in value only.
constexpr std::size_t k_special = 12;

template <typename Value>
Value special(std::size_t index, Value denormal, Value least) noexcept
{
  std::array<Value, k_special> const values{Value(0.25), Value(0), Value(-0.0), Value(1),
                                            Value(-1),   denormal, Value(2),    Value(-2),
                                            Value(0.5),  -least,   least,       Value(4)};
  return values.at(index);
}

/// In [-8, 8), a multiple of 2^-20.
float uniform_float(std::uint64_t bits) noexcept
{
  return static_cast<float>(static_cast<std::uint32_t>(bits >> 40)) * 0x1p-20F - 8.0F;
}

template <typename Value>
void put(std::byte* place, Value value) noexcept
{
  std::memcpy(place, &value, sizeof value);
}

void put_float32(std::byte* place, std::size_t index, std::uint64_t bits) noexcept
{
  using range = std::numeric_limits<float>;
  put(place,
      index < k_special ? special(index, range::denorm_min(), range::min()) : uniform_float(bits));
}

void put_float64(std::byte* place, std::size_t index, std::uint64_t bits) noexcept
{
  using range = std::numeric_limits<double>;
  put(place, index < k_special ? special(index, range::denorm_min(), range::min())
                               : static_cast<double>(bits >> 11) * 0x1p-49 - 8.0);
}

template <typename Half>
void put_half(std::byte* place, std::size_t index, std::uint64_t bits) noexcept
{
  auto const least = std::ldexp(1.0, Half::k_min_exponent);
  auto const denormal = std::ldexp(1.0, Half::k_min_exponent - Half::k_fraction);
  auto const value = index < k_special ? special(index, denormal, least)
                                       : static_cast<double>(uniform_float(bits));
  put(place, half_float::round_to<Half>(value).bits);
}

template <typename Whole>
Whole generated_integer(std::size_t index, std::uint64_t bits) noexcept
{
  using range = std::numeric_limits<Whole>;
  constexpr std::array<Whole, 8> k_first{Whole(0),  Whole(1), Whole(-1),    Whole(2),
                                         Whole(-2), Whole(7), range::max(), range::min()};
  if (index < k_first.size()) return k_first.at(index);
  if constexpr (sizeof(Whole) <= 2)
    return static_cast<Whole>(bits >> 48);
  else
    return static_cast<Whole>(static_cast<Whole>(bits >> 43) -
                              (range::is_signed ? Whole(1) << 20 : Whole(0)));
}

using writer = void (*)(std::byte*, std::size_t, std::uint64_t);

template <typename Whole>
void put_whole(std::byte* place, std::size_t index, std::uint64_t bits) noexcept
{
  put(place, generated_integer<Whole>(index, bits));
}

writer writer_of(scalar_kind kind)
{
  switch (kind) {
    case scalar_kind::float16:
      return put_half<half_float::binary16>;
    case scalar_kind::bfloat16:
      return put_half<half_float::bfloat16>;
    case scalar_kind::float32:
      return put_float32;
    case scalar_kind::float64:
      return put_float64;
    case scalar_kind::int8:
      return put_whole<std::int8_t>;
    case scalar_kind::int16:
      return put_whole<std::int16_t>;
    case scalar_kind::int32:
      return put_whole<std::int32_t>;
    case scalar_kind::int64:
      return put_whole<std::int64_t>;
    case scalar_kind::uint16:
      return put_whole<std::uint16_t>;
    case scalar_kind::uint32:
      return put_whole<std::uint32_t>;
    case scalar_kind::uint64:
      return put_whole<std::uint64_t>;
    case scalar_kind::uint8:
    default:
      return put_whole<std::uint8_t>;
  }
}

void put_random_byte(std::byte* place, std::size_t, std::uint64_t bits) noexcept
{
  *place = static_cast<std::byte>(bits >> 56);
}

}  // namespace

std::uint64_t mix(std::uint64_t z) noexcept
{
  z += 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

element_generator::element_generator(element_type const& type, std::uint64_t seed)
    : size_(type.size)
{
  for (auto const& component : components_of(type)) {
    auto const number = parts_.size();
    parts_.push_back({.kind = component.kind,
                      .offset = component.offset,
                      .seed = number == 0 ? mix(seed) : mix(mix(seed) + number)});
  }
}

void element_generator::fill(std::size_t start, std::span<std::byte> bytes) const
{
  std::ranges::fill(bytes, std::byte{0});
  for (auto const& place : parts_) {
    auto const write = place.kind == scalar_kind::bytes ? put_random_byte : writer_of(place.kind);
    auto index = start;
    for (auto offset = place.offset; offset < bytes.size(); offset += size_, ++index)
      write(bytes.data() + offset, index, mix(place.seed ^ index));
  }
}

}  // namespace fatlink::detail

namespace fatlink {
namespace {

std::size_t product(std::vector<std::size_t> const& extents)
{
  std::size_t count = 1;
  for (auto const extent : extents) count *= extent;
  return count;
}

class seeded_elements : public element_source {
 public:
  seeded_elements(element_type type, std::vector<std::size_t> extents, std::uint64_t seed)
      : type_(std::move(type)), extents_(std::move(extents)), generator_(type_, seed)
  {
  }
  [[nodiscard]] element_type const& type() const noexcept override { return type_; }
  [[nodiscard]] std::vector<std::size_t> const& extents() const noexcept override
  {
    return extents_;
  }
  [[nodiscard]] std::size_t size() const noexcept override { return product(extents_); }

  void fill(std::size_t start, std::span<std::byte> bytes) const override
  {
    auto const count = bytes.size() / type_.size;
    detail::parallel_blocks(count, [&](std::size_t begin, std::size_t end, std::size_t) {
      generate(start + begin, bytes.subspan(begin * type_.size, (end - begin) * type_.size));
    });
  }

 protected:
  /// Writes the elements that begin with `start`.
  virtual void generate(std::size_t start, std::span<std::byte> bytes) const
  {
    generator_.fill(start, bytes);
  }

 private:
  element_type type_;
  std::vector<std::size_t> extents_;
  detail::element_generator generator_;
};

class seeded_runs final : public seeded_elements {
 public:
  seeded_runs(element_type const& type, std::vector<std::size_t> extents, std::uint64_t seed)
      : seeded_elements(type, std::move(extents), seed), seed_(detail::mix(seed))
  {
  }

 protected:
  void generate(std::size_t start, std::span<std::byte> bytes) const override
  {
    auto const size = type().size;
    for (std::size_t offset = 0; offset < bytes.size(); offset += size) {
      auto const index = start + offset / size;
      auto const length = std::size_t{1} << detail::mix(seed_ ^ index / k_block) % 7;
      seeded_elements::generate(index - index % length, bytes.subspan(offset, size));
    }
  }

 private:
  static constexpr std::size_t k_block = 64;  // the longest run
  std::uint64_t seed_;
};

class file_elements final : public element_source {
 public:
  explicit file_elements(npy_reader file) : file_(std::move(file)) {}
  [[nodiscard]] element_type const& type() const noexcept override { return file_.type(); }
  [[nodiscard]] std::vector<std::size_t> const& extents() const noexcept override
  {
    return file_.extents();
  }
  [[nodiscard]] std::size_t size() const noexcept override { return file_.size(); }
  void fill(std::size_t start, std::span<std::byte> bytes) const override
  {
    file_.read(start, bytes);
  }

 private:
  npy_reader file_;
};

[[noreturn]] void fail_npy(
    npy_reader const& file, std::string const& reason,
    char const* hint = "write it with numpy.save(file, x.astype('<f4').ravel())")
{
  throw file_error(stage::input, {.message = detail::format("{}: {}", file.path().string(), reason),
                                  .input = file.path().string(),
                                  .code = error_code::invalid_npy,
                                  .hint = hint});
}

}  // namespace

std::unique_ptr<element_source> generated_elements(std::size_t count, std::uint64_t seed)
{
  return generated_elements(scalar_type(scalar_kind::float32), {count}, seed);
}

std::unique_ptr<element_source> generated_elements(element_type const& type,
                                                   std::vector<std::size_t> const& extents,
                                                   std::uint64_t seed)
{
  return std::make_unique<seeded_elements>(type, extents, seed);
}

std::unique_ptr<element_source> generated_runs(element_type const& type,
                                               std::vector<std::size_t> const& extents,
                                               std::uint64_t seed)
{
  return std::make_unique<seeded_runs>(type, extents, seed);
}

std::uint64_t seed_of(std::uint64_t seed, std::size_t argument)
{
  return argument == 0 ? seed : detail::mix(seed ^ detail::mix(argument));
}

std::unique_ptr<element_source> npy_elements(npy_reader file)
{
  return std::make_unique<file_elements>(std::move(file));
}

std::unique_ptr<element_source> float_vector(npy_reader file)
{
  if (file.type().kind != scalar_kind::float32) {
    auto dtype = detail::npy_dtype(file.type());
    std::erase(dtype, '\'');
    fail_npy(file, detail::format("dtype is {:.64}, not <f4 (float32)", dtype));
  }
  if (file.extents().size() != 1)
    fail_npy(file, detail::format("shape is {:.64}, not one dimension",
                                  detail::npy_shape(file.extents())));
  if (file.size() == 0) fail_npy(file, "holds no elements", "pass an array of one element or more");
  return npy_elements(std::move(file));
}

}  // namespace fatlink
