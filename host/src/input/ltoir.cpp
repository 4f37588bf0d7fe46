// SPDX-License-Identifier: Apache-2.0
#include "input/ltoir.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "input/refuse.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr std::uint32_t k_ltoir_magic = 0x7F4E43ED;
constexpr std::uint8_t k_container_major = 1;
constexpr std::uint16_t k_ltoir_header_size = 0x18;
constexpr std::uint16_t k_level_linked = 0;  // what nvJitLink 13.4 and newer merges
constexpr std::uint16_t k_level_lto = 1;
constexpr std::uint32_t k_field_size = 4;
constexpr std::uint32_t k_key_size = 4;
constexpr std::uint16_t k_tag_end = 0;
constexpr std::uint16_t k_tag_architecture = 1;
constexpr std::uint16_t k_tag_specific = 0x20;
constexpr unsigned k_architecture_unit = 10;  // 900 is sm_90
constexpr unsigned k_least_architecture = 10;
constexpr unsigned k_greatest_architecture = 999;

class header_reader {
 public:
  header_reader(bytes_view ltoir, std::string_view name)
      : bytes_(ltoir),
        file_{name, error_code::corrupt_ltoir,
              "compile it again, with nvcc -dlto -ltoir, NVRTC -dlto or libNVVM -gen-lto of CUDA "
              "13, or copy it again in full"}
  {
  }

  ltoir_header read()
  try {
    check_start();
    check_ends();
    read_fields();
    return {.container = version_at(0x04),
            .ir = version_at(0x06),
            .debug_metadata = version_at(0x08),
            .target = target(architecture_, is_specific_ ? 'a' : '\0')};
  } catch (out_of_bytes const& end) {
    refuse_truncated(file_, end);
  }

 private:
  [[nodiscard]] ltoir_version version_at(std::uint64_t offset) const
  {
    return {bytes_.read<std::uint8_t>(offset), bytes_.read<std::uint8_t>(offset + 1)};
  }

  void check_start() const
  {
    if (bytes_.read<std::uint32_t>(0) != k_ltoir_magic)
      refuse_damaged(file_, 0, "does not begin with the magic number of LTO-IR");
    if (auto const version = version_at(0x04); version.major != k_container_major)
      refuse_damaged({file_.name, error_code::newer_format,
                      "use a newer fatlink, or compile it with an older toolkit"},
                     0x04,
                     detail::format("LTO-IR container version {}.{}, which this fatlink does not "
                                    "know",
                                    version.major, version.minor));
    if (auto const size = bytes_.read<std::uint16_t>(0x0C); size != k_ltoir_header_size)
      refuse_damaged(file_, 0x0C, detail::format("LTO-IR header of {} bytes is not known", size));
    if (auto const level = bytes_.read<std::uint16_t>(0x0E);
        level != k_level_lto && level != k_level_linked)
      refuse_damaged(file_, 0x0E,
                     detail::format("NVVM IR of level {}, not for link-time optimisation", level));
  }

  void check_ends()
  {
    end_of_fields_ = bytes_.read<std::uint32_t>(0x10);
    auto const end_of_key = bytes_.read<std::uint32_t>(0x14);
    if (end_of_fields_ < k_ltoir_header_size + k_field_size || end_of_fields_ % k_field_size != 0)
      refuse_damaged(file_, 0x10, "the fields of the LTO-IR header end inside a field");
    if (end_of_key < end_of_fields_ || end_of_key - end_of_fields_ != k_key_size)
      refuse_damaged(file_, 0x14, "the key of the LTO-IR header has an unknown size");
    auto const payload =
        bytes_.view(end_of_key, bytes_.size() - std::min<std::uint64_t>(end_of_key, bytes_.size()));
    if (payload.empty() || payload.size() % 4 != 0)
      refuse_damaged(
          file_, bytes_.size(),
          detail::format("truncated: LTO-IR of {} bytes is not a multiple of 4", payload.size()));
  }

  void read_fields()
  {
    auto const last = end_of_fields_ - k_field_size;
    for (std::uint64_t offset = k_ltoir_header_size; offset < last; offset += k_field_size)
      read_field(offset, bytes_.read<std::uint16_t>(offset),
                 bytes_.read<std::uint16_t>(offset + 2));
    if (bytes_.read<std::uint32_t>(last) != 0)
      refuse_damaged(file_, last, "the fields of the LTO-IR header do not end with 0");
    if (architecture_ == 0) refuse_damaged(file_, last, "the LTO-IR header states no architecture");
  }

  void read_field(std::uint64_t offset, std::uint16_t tag, std::uint16_t value)
  {
    if (tag == k_tag_end)
      refuse_damaged(file_, offset, "the fields of the LTO-IR header end early");
    if (tag == k_tag_specific) is_specific_ = value != 0;
    if (tag != k_tag_architecture) return;
    architecture_ = value / k_architecture_unit;
    if (value % k_architecture_unit != 0 || architecture_ < k_least_architecture ||
        architecture_ > k_greatest_architecture)
      refuse_damaged(file_, offset + 2, detail::format("architecture {}/10 of LTO-IR", value));
  }

  byte_reader bytes_;
  input_file file_;
  std::uint32_t end_of_fields_ = 0;
  unsigned architecture_ = 0;
  bool is_specific_ = false;
};

}  // namespace

bool is_ltoir(bytes_view bytes) noexcept
{
  return bytes.size() >= sizeof k_ltoir_magic &&
         byte_reader(bytes).read<std::uint32_t>(0) == k_ltoir_magic;
}

ltoir_header read_ltoir_header(bytes_view ltoir, std::string_view name)
{
  return header_reader(ltoir, name).read();
}

}  // namespace fatlink::detail
