// SPDX-License-Identifier: Apache-2.0
#include "verification/elements.hpp"

#include <utility>

#include "util/process/parallel.hpp"
#include "util/text/format.hpp"
#include "verification/generate.hpp"
#include "verification/npy_header.hpp"

namespace fatlink {
namespace {

std::size_t product(std::vector<std::size_t> const& extents)
{
  std::size_t count = 1;
  for (auto const extent : extents) count *= extent;
  return count;
}

class seeded_elements final : public element_source {
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
      generator_.fill(start + begin, bytes.subspan(begin * type_.size, (end - begin) * type_.size));
    });
  }

 private:
  element_type type_;
  std::vector<std::size_t> extents_;
  detail::element_generator generator_;
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

[[noreturn]] void refuse(
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
    refuse(file, detail::format("dtype is {:.64}, not <f4 (float32)", dtype));
  }
  if (file.extents().size() != 1)
    refuse(file,
           detail::format("shape is {:.64}, not one dimension", detail::npy_shape(file.extents())));
  if (file.size() == 0) refuse(file, "holds no elements", "pass an array of one element or more");
  return npy_elements(std::move(file));
}

}  // namespace fatlink
