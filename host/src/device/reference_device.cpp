// SPDX-License-Identifier: Apache-2.0
#include "device/backends.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "device/device_checks.hpp"
#include "fatlink/device_backend.hpp"
#include "fatlink/error.hpp"
#include "interpreter/decode/address_space.hpp"
#include "interpreter/decode/code_error.hpp"
#include "interpreter/execution/memory.hpp"
#include "interpreter/machine.hpp"
#include "util/files/output_file.hpp"
#include "util/process/fork_guard.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

// Errors of device code (interpreter::code_error) as errors of fatlink.

/// The code of the error that reports an error of this kind.
error_code code_of(interpreter::error_kind kind) noexcept
{
  switch (kind) {
    case interpreter::error_kind::syntax:
      return error_code::invalid_ptx;
    case interpreter::error_kind::refused:
      return error_code::refused_instruction;
    case interpreter::error_kind::invalid:
      return error_code::invalid_instruction;
    case interpreter::error_kind::unresolved:
      return error_code::unresolved_symbol;
    case interpreter::error_kind::duplicate:
      return error_code::duplicate_symbol;
    case interpreter::error_kind::prototype:
      return error_code::prototype_mismatch;
    case interpreter::error_kind::no_kernel:
      return error_code::unknown_kernel;
    case interpreter::error_kind::launch:
      return error_code::invalid_launch;
    case interpreter::error_kind::memory:
      return error_code::out_of_memory;
    case interpreter::error_kind::address:
      return error_code::illegal_address;
    case interpreter::error_kind::endless:
      return error_code::endless_kernel;
    case interpreter::error_kind::deadlock:
      return error_code::deadlock;
    case interpreter::error_kind::trap:
      return error_code::trap;
    case interpreter::error_kind::race:
      return error_code::write_race;
    case interpreter::error_kind::uninitialized:
      return error_code::uninitialized_read;
  }
  return error_code::defect;
}

char const* remedy_of_kind(interpreter::code_error const& failure) noexcept
{
  switch (failure.kind()) {
    case interpreter::error_kind::syntax:
      return "check the PTX with ptxas; if ptxas accepts it, report it with the inputs";
    case interpreter::error_kind::refused:
      return "the reference device has no texture references, tensor maps, multicast memory or "
             "products of several warps; run it on a GPU";
    case interpreter::error_kind::invalid:
      return "fix the device code that made this PTX";
    case interpreter::error_kind::unresolved:
      return "pass the input that defines it";
    case interpreter::error_kind::duplicate:
      return "pass only one input that defines it";
    case interpreter::error_kind::prototype:
      return "fix the type: every declaration and definition of the function must be the same";
    case interpreter::error_kind::no_kernel:
      return "<ptx_interface::kernels> lists the kernels of a fatbin";
    case interpreter::error_kind::launch:
      return "check the grid, block and arguments that the host program passes";
    case interpreter::error_kind::memory:
      return "allocate less memory";
    case interpreter::error_kind::endless:
      return "fix the loop, or raise <cpu_options::instruction_budget> (0: no limit)";
    default:
      return failure.location().empty()
                 ? "fix the device code; compile with line information (nvcc -lineinfo, fatlink "
                   "compile --line-info) to see source lines (for lto mode, the library too)"
                 : "fix the device code";
  }
}

std::string remedy(interpreter::code_error const& failure)
{
  return failure.hint().empty() ? remedy_of_kind(failure) : failure.hint();
}

/// @throws file_error, link_error, unavailable_error or device_error, by the kind of `failure`,
///   with its code and hint.
[[noreturn]] void throw_error(interpreter::code_error const& failure)
{
  error_details details{.message = failure.what(),
                        .input = failure.source(),
                        .code = code_of(failure.kind()),
                        .hint = remedy(failure)};
  switch (failure.kind()) {
    case interpreter::error_kind::syntax:
    case interpreter::error_kind::no_kernel:
      throw file_error(stage::device, details);
    case interpreter::error_kind::invalid:
    case interpreter::error_kind::unresolved:
    case interpreter::error_kind::duplicate:
    case interpreter::error_kind::prototype:
      throw link_error(stage::linker, details);
    case interpreter::error_kind::refused:
      throw unavailable_error(stage::device, details);
    default:
      throw device_error(stage::device, details);
  }
}

/// The result of `call()`; an interpreter::code_error is thrown as an error of fatlink.
template <typename Call>
decltype(auto) translate_failures(Call const& call)
try {
  return call();
} catch (interpreter::code_error const& failure) {
  throw_error(failure);
}

/// Where the host keeps memory of the reference device, for copies by the host program.
/// Units: bytes. Threads: safe.
class memory_access {
 public:
  /// Both outlive this object. `device`: its name, for messages.
  memory_access(interpreter::memory const& memory, std::string const& device)
      : memory_(memory), device_(device)
  {
  }

  /// Where `bytes` bytes at `address` are; `action` ("copying to") is for the message.
  /// @throws device_error (illegal-address) they are not in one allocation.
  [[nodiscard]] std::byte* readable(device_address address, std::size_t bytes,
                                    char const* action) const;
  /// The same, for bytes that are written: constant variables may be, memory that is mapped as
  /// read-only must not be.
  [[nodiscard]] std::byte* writable(device_address address, std::size_t bytes,
                                    char const* action) const;

 private:
  [[noreturn]] void fail_access(char const* action, device_address address, std::size_t bytes,
                                std::string const& place, std::string hint) const;

  interpreter::memory const& memory_;
  std::string const& device_;
};

std::byte* memory_access::readable(device_address address, std::size_t bytes,
                                   char const* action) const
{
  auto const regions = memory_.snapshot();
  if (auto const* region = interpreter::find_region(*regions, address, bytes); region != nullptr)
    return region->data + (address - region->base);
  fail_access(action, address, bytes, interpreter::address_text(*regions, address),
              "check the address and the size that the host program passes");
}

std::byte* memory_access::writable(device_address address, std::size_t bytes,
                                   char const* action) const
{
  auto const regions = memory_.snapshot();
  auto const* const region = interpreter::find_region(*regions, address, bytes);
  if (region != nullptr && region->is_mapped && region->read_only)
    fail_access(action, address, bytes, "in " + interpreter::name_of(*region) + ", read-only",
                "map the memory with host_access::read_write");
  return readable(address, bytes, action);
}

void memory_access::fail_access(char const* action, device_address address, std::size_t bytes,
                                std::string const& place, std::string hint) const
{
  throw device_error(stage::device,
                     {.message = detail::format("{} {} failed: {} bytes at {:#x} are {}", action,
                                                device_, bytes, address, place),
                      .input = device_,
                      .code = error_code::illegal_address,
                      .hint = std::move(hint)});
}

// PTX that is loaded on the reference device, its kernels and its variables. Failures of the
// interpreter are thrown as errors of fatlink. Units: bytes. Threads: safe.

/// A kernel of a reference_module, which owns it.
struct reference_kernel {
  interpreter::program* program = nullptr;
  interpreter::kernel const* kernel = nullptr;
  std::vector<std::size_t> parameter_sizes = {};

  [[nodiscard]] kernel_attributes attributes() const;
  /// @throws device_error more dynamic shared memory than a launch can have.
  void check_shared(std::size_t bytes) const;
};

class reference_module {
 public:
  /// @throws link_error, file_error, unavailable_error as the PTX deserves.
  reference_module(std::shared_ptr<interpreter::memory> memory, linked_image const& image);

  /// Lives as long as the module. @throws file_error no such kernel.
  reference_kernel& find_kernel(std::string const& name);
  /// @throws file_error no such variable.
  [[nodiscard]] device_variable find_variable(std::string const& name);

 private:
  interpreter::program program_;
  std::mutex mutex_;
  fork_guard fork_guard_{fork_order::reference_module, mutex_};
  std::map<std::string, reference_kernel> kernels_;
};

std::vector<interpreter::module_text> texts_of(linked_image const& image)
{
  if (image.kind == image_kind::ptx)
    return {{.text = {reinterpret_cast<char const*>(image.bytes.data()), image.bytes.size()},
             .name = "linked PTX"}};
  std::vector<interpreter::module_text> texts;
  for (auto const& part : image.parts) texts.push_back({part.text, part.name});
  return texts;
}

std::vector<std::size_t> sizes_of(std::vector<interpreter::slot> const& parameters)
{
  std::vector<std::size_t> sizes;
  for (auto const& parameter : parameters) sizes.push_back(parameter.size);
  return sizes;
}

kernel_attributes reference_kernel::attributes() const
{
  return {.static_shared_bytes = kernel->shared_bytes,
          .local_bytes = kernel->entry->local_bytes,
          .constant_bytes = program->constant_bytes(),
          .max_threads_per_block = kernel->max_threads(),
          .max_dynamic_shared_bytes = kernel->max_dynamic_shared()};
}

void reference_kernel::check_shared(std::size_t bytes) const
{
  check_dynamic_shared(kernel->entry->name, bytes, kernel->max_dynamic_shared(),
                       error_code::invalid_launch);
}

reference_module::reference_module(std::shared_ptr<interpreter::memory> memory,
                                   linked_image const& image)
    : program_(std::move(memory), texts_of(image))
{
}

reference_kernel& reference_module::find_kernel(std::string const& name)
{
  auto const& kernel = translate_failures([&]() -> auto const& { return program_.find(name); });
  std::lock_guard const lock(mutex_);
  return kernels_
      .try_emplace(name, reference_kernel{&program_, &kernel, sizes_of(kernel.entry->parameters)})
      .first->second;
}

device_variable reference_module::find_variable(std::string const& name)
{
  auto const variable = program_.find_variable(name);
  if (variable)
    return {.address = variable->address, .bytes = static_cast<std::size_t>(variable->bytes)};
  throw file_error(
      stage::device,
      {.message = detail::format("variable {} is not in the linked image", printable_line(name)),
       .input = name,
       .code = error_code::unknown_variable,
       .hint = "pass the name as the PTX has it; a link may remove a variable that is "
               "not used"});
}

// Arrays, textures and surfaces. Texels of arrays are in the device's memory, rows without padding.
// Units: bytes, texels. Threads: safe, except that an array is written by one thread at a time.

/// An array in `texels`, an allocation of its own.
struct reference_array {
  interpreter::region texels = {};
  interpreter::image_layout layout = {};
};

class reference_textures {
 public:
  explicit reference_textures(std::shared_ptr<interpreter::memory> memory)
      : memory_(std::move(memory))
  {
  }

  /// @throws device_error the host has not enough memory.
  [[nodiscard]] std::unique_ptr<reference_array> create_array(texel_format const& format,
                                                              array_shape const& shape);
  void destroy_array(std::unique_ptr<reference_array> array) noexcept;
  /// `texels` has the bytes of all texels.
  static void write_array(reference_array const& array, bytes_view texels);
  static void read_array(reference_array const& array, std::span<std::byte> texels);

  std::uint64_t create_texture(reference_array const& array, texture_options const& options);
  std::uint64_t create_texture(linear_texels const& texels, texture_options const& options);
  std::uint64_t create_surface(reference_array const& array);
  /// Destroys a texture or surface.
  void destroy_object(std::uint64_t object) noexcept { memory_->textures().remove(object); }

 private:
  std::shared_ptr<interpreter::memory> memory_;
};

interpreter::texel_layout layout_of(texel_format const& format)
{
  auto const bits = static_cast<unsigned>(texel_bytes(format)) * 8 / format.channels;
  auto const make = [&](interpreter::texel_kind kind) {
    return interpreter::texel_layout{.channels = format.channels, .bits = bits, .kind = kind};
  };
  switch (format.type) {
    case channel_type::u8:
    case channel_type::u16:
    case channel_type::u32:
      return make(interpreter::texel_kind::unsigned_integer);
    case channel_type::s8:
    case channel_type::s16:
    case channel_type::s32:
      return make(interpreter::texel_kind::signed_integer);
    case channel_type::f16:
    case channel_type::f32:
      break;
  }
  return make(interpreter::texel_kind::floating);
}

/// Rows begin at multiples of the largest access of a surface, so that an access which is aligned
/// in its row is aligned.
interpreter::image_layout layout_of(texel_format const& format, array_shape const& shape)
{
  constexpr std::size_t k_alignment = 16;
  return {.texels = layout_of(format),
          .width = shape.width,
          .height = shape.height,
          .depth = shape.depth,
          .layers = shape.layers,
          .is_cube = shape.is_cubemap,
          .row_bytes = interpreter::aligned(shape.width * texel_bytes(format), k_alignment),
          .allows_surface = shape.allows_surface,
          .allows_gather = shape.allows_gather};
}

interpreter::image image_of(reference_array const& array)
{
  return {.address = array.texels.base, .layout = array.layout};
}

interpreter::image image_of(linear_texels const& texels)
{
  auto const is_indexed = texels.height == 0;
  return {.address = texels.address,
          .layout = {.texels = layout_of(texels.format),
                     .width = texels.width,
                     .height = texels.height,
                     .row_bytes =
                         is_indexed ? texels.width * texel_bytes(texels.format) : texels.row_bytes,
                     .is_linear = is_indexed,
                     .is_pitched = !is_indexed}};
}

interpreter::address_mode mode_of(address_mode mode) noexcept
{
  switch (mode) {
    case address_mode::wrap:
      return interpreter::address_mode::wrap;
    case address_mode::mirror:
      return interpreter::address_mode::mirror;
    case address_mode::border:
      return interpreter::address_mode::border;
    case address_mode::clamp:
      break;
  }
  return interpreter::address_mode::clamp;
}

interpreter::sampler sampler_of(texture_options const& options)
{
  interpreter::sampler sampler{.is_linear_filter = options.filter == filter_mode::linear,
                               .has_normalized_coordinates = options.has_normalized_coordinates,
                               .reads_normalized = options.reads_normalized,
                               .border = options.border};
  std::ranges::transform(options.address, sampler.modes.begin(), mode_of);
  return sampler;
}

/// Calls `copy_row` with each row in the array, and where it is in texels without padding.
template <typename CopyRow>
void each_row(reference_array const& array, std::size_t size, CopyRow const& copy_row)
{
  auto const& layout = array.layout;
  auto const row_size = layout.width * layout.texels.bytes();
  for (std::size_t row = 0; (row + 1) * row_size <= size; ++row)
    copy_row(array.texels.data + row * layout.row_bytes, row * row_size, row_size);
}

std::unique_ptr<reference_array> reference_textures::create_array(texel_format const& format,
                                                                  array_shape const& shape)
{
  auto array = std::make_unique<reference_array>();
  array->layout = layout_of(format, shape);
  array->texels =
      translate_failures([&] { return memory_->allocate(array->layout.bytes(), "an array"); });
  return array;
}

void reference_textures::destroy_array(std::unique_ptr<reference_array> array) noexcept
{
  memory_->release(array->texels.base);
}

void reference_textures::write_array(reference_array const& array, bytes_view texels)
{
  each_row(array, texels.size(), [&](std::byte* row, std::size_t place, std::size_t bytes) {
    std::memcpy(row, texels.data() + place, bytes);
  });
}

void reference_textures::read_array(reference_array const& array, std::span<std::byte> texels)
{
  each_row(array, texels.size(), [&](std::byte const* row, std::size_t place, std::size_t bytes) {
    std::memcpy(texels.data() + place, row, bytes);
  });
}

std::uint64_t reference_textures::create_texture(reference_array const& array,
                                                 texture_options const& options)
{
  return memory_->textures().add_texture(image_of(array), sampler_of(options));
}

std::uint64_t reference_textures::create_texture(linear_texels const& texels,
                                                 texture_options const& options)
{
  return memory_->textures().add_texture(image_of(texels), sampler_of(options));
}

std::uint64_t reference_textures::create_surface(reference_array const& array)
{
  return memory_->textures().add_surface(image_of(array));
}

// The device.

using clock = std::chrono::steady_clock;

interpreter::dimensions dimensions_of(extent const& size) noexcept
{
  return {size.x, size.y, size.z};
}

/// Standard output is the program's own, for `--json`. Text that cannot be written is dropped.
void print(std::string_view text)
{
  signal_guard const closed_pipe(SIGPIPE);
  signal_guard const file_limit(SIGXFSZ);
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
}

device_info info_of(target link_target)
{
  auto const cores = std::max(std::thread::hardware_concurrency(), 1U);
  return {.kind = device_kind::cpu,
          .name = detail::format("reference device on {} CPU core{}", cores, cores == 1 ? "" : "s"),
          .target = link_target,
          .multiprocessors = cores,
          .max_shared_bytes_per_block = interpreter::k_max_dynamic_shared};
}

/// Every call has finished when it returns, so that streams need no state: all streams of a device
/// have the device's address as their handle.
class reference_device final : public device_backend {
 public:
  reference_device(target link_target, cpu_options const& options)
      : options_(options), info_(info_of(link_target))
  {
  }

  [[nodiscard]] device_info const& info() const noexcept override { return info_; }
  [[nodiscard]] std::uint64_t instructions() const noexcept override { return instructions_; }

  device_address allocate(std::size_t bytes) override
  {
    return translate_failures([&] { return memory_->allocate(bytes).base; });
  }
  void release(device_address address) noexcept override { memory_->release(address); }
  device_address map_host(void* memory, std::size_t bytes, bool read_only) override
  {
    return memory_->map(static_cast<std::byte*>(memory), bytes, read_only).base;
  }
  device_address allocate(std::size_t bytes, handle stream) override
  {
    check_stream(stream);
    return allocate(bytes);
  }
  void release(device_address address, handle /*stream*/) noexcept override { release(address); }
  void copy_in(device_address destination, bytes_view source) override
  {
    if (source.empty()) return;
    std::memcpy(access_.writable(destination, source.size(), "copying to"), source.data(),
                source.size());
  }
  void copy_in(device_address destination, bytes_view source, handle stream) override
  {
    check_stream(stream);
    copy_in(destination, source);
  }
  void copy_out(std::span<std::byte> destination, device_address source) override
  {
    if (destination.empty()) return;
    std::memcpy(destination.data(), access_.readable(source, destination.size(), "copying from"),
                destination.size());
  }
  void copy_out(std::span<std::byte> destination, device_address source, handle stream) override
  {
    check_stream(stream);
    copy_out(destination, source);
  }
  void copy_on_device(device_address destination, device_address source, std::size_t bytes,
                      handle stream) override
  {
    check_stream(stream);
    if (bytes == 0) return;
    std::memmove(access_.writable(destination, bytes, "copying on"),
                 access_.readable(source, bytes, "copying on"), bytes);
  }
  void fill(device_address destination, std::byte value, std::size_t bytes) override
  {
    if (bytes == 0) return;
    std::memset(access_.writable(destination, bytes, "filling memory of"),
                std::to_integer<int>(value), bytes);
  }
  void fill(device_address destination, std::byte value, std::size_t bytes, handle stream) override
  {
    check_stream(stream);
    fill(destination, value, bytes);
  }

  handle load(linked_image const& image) override
  {
    check_image_kind(info_, image);
    return translate_failures(
        [&] { return std::make_unique<reference_module>(memory_, image).release(); });
  }
  void unload(handle module) noexcept override { delete static_cast<reference_module*>(module); }
  handle find_kernel(handle module, std::string const& name) override
  {
    return &static_cast<reference_module*>(module)->find_kernel(name);
  }
  device_variable find_variable(handle module, std::string const& name) override
  {
    return static_cast<reference_module*>(module)->find_variable(name);
  }

  [[nodiscard]] std::span<std::size_t const> parameter_sizes(handle kernel) const noexcept override
  {
    return static_cast<reference_kernel*>(kernel)->parameter_sizes;
  }
  [[nodiscard]] void* native_library(handle) const noexcept override { return nullptr; }
  [[nodiscard]] void* native_function(handle) const noexcept override { return nullptr; }
  [[nodiscard]] void* native_kernel(handle) const noexcept override { return nullptr; }
  [[nodiscard]] kernel_attributes attributes(handle kernel) override
  {
    return static_cast<reference_kernel*>(kernel)->attributes();
  }
  [[nodiscard]] unsigned active_blocks(handle kernel, unsigned block_threads,
                                       std::size_t shared_bytes) override
  {
    auto const& code = *static_cast<reference_kernel*>(kernel);
    code.check_shared(shared_bytes);
    return block_threads <= code.kernel->max_threads() ? 1 : 0;
  }
  [[nodiscard]] block_size_suggestion suggest_block(handle kernel,
                                                    std::size_t shared_bytes) override
  {
    auto const& code = *static_cast<reference_kernel*>(kernel);
    code.check_shared(shared_bytes);
    return {.block_threads = code.kernel->max_threads(), .grid_blocks = info_.multiprocessors};
  }

  /// Runs the kernel to its end.
  void launch(handle kernel, handle stream, launch_shape const& shape,
              void* const* arguments) override
  {
    check_stream(stream);
    auto const& code = *static_cast<reference_kernel*>(kernel);
    std::vector<std::span<std::byte const>> values;
    for (std::size_t i = 0; i < code.parameter_sizes.size(); ++i)
      values.emplace_back(static_cast<std::byte const*>(arguments[i]), code.parameter_sizes[i]);
    interpreter::launch_options const options{.grid = dimensions_of(shape.grid),
                                              .block = dimensions_of(shape.block),
                                              .shared_bytes = shape.shared_bytes,
                                              .budget = options_.instruction_budget,
                                              .check_races = options_.check_races,
                                              .check_initialization = options_.check_uninitialized,
                                              .in_order = options_.deterministic,
                                              .print = print};
    instructions_ += translate_failures(
        [&] { return interpreter::launch(*code.program, *code.kernel, options, values); });
  }

  handle create_stream() override { return this; }
  void destroy_stream(handle) noexcept override {}
  void synchronize(handle stream) override { check_stream(stream); }
  [[nodiscard]] stream_facts describe_stream(handle stream) override
  {
    check_stream(stream);
    return {};
  }
  [[nodiscard]] bool is_synchronous() const noexcept override { return true; }
  handle create_untimed_event() override { return create_event(); }
  [[nodiscard]] bool event_done(handle /*event*/) noexcept override { return true; }
  handle create_event() override { return new std::optional<clock::time_point>(); }
  void destroy_event(handle event) noexcept override
  {
    delete static_cast<std::optional<clock::time_point>*>(event);
  }
  void record(handle event, handle stream) override
  {
    check_stream(stream);
    *static_cast<std::optional<clock::time_point>*>(event) = clock::now();
  }
  double elapsed_ms(handle start, handle stop) override
  {
    return std::chrono::duration<double, std::milli>(time_of(stop) - time_of(start)).count();
  }

  handle create_array(texel_format const& format, array_shape const& shape) override
  {
    return textures_.create_array(format, shape).release();
  }
  void destroy_array(handle array) noexcept override
  {
    textures_.destroy_array(std::unique_ptr<reference_array>(static_cast<reference_array*>(array)));
  }
  void write_array(handle array, bytes_view texels) override
  {
    reference_textures::write_array(*static_cast<reference_array*>(array), texels);
  }
  void read_array(handle array, std::span<std::byte> texels) override
  {
    reference_textures::read_array(*static_cast<reference_array*>(array), texels);
  }
  std::uint64_t create_texture(handle array, texture_options const& options) override
  {
    return textures_.create_texture(*static_cast<reference_array*>(array), options);
  }
  std::uint64_t create_texture(linear_texels const& texels, texture_options const& options) override
  {
    return textures_.create_texture(texels, options);
  }
  void destroy_texture(std::uint64_t texture) noexcept override
  {
    textures_.destroy_object(texture);
  }
  std::uint64_t create_surface(handle array) override
  {
    return textures_.create_surface(*static_cast<reference_array*>(array));
  }
  void destroy_surface(std::uint64_t surface) noexcept override
  {
    textures_.destroy_object(surface);
  }

 private:
  void check_stream(handle stream) const
  {
    if (stream == nullptr || stream == this) return;
    fail_use(detail::format("stream {} does not belong to the {}", stream, info_.name),
             "the stream",
             "pass a stream of this device, or stream_view(nullptr); streams of CUDA work with a "
             "GPU only");
  }

  [[nodiscard]] clock::time_point time_of(handle event) const
  {
    auto const& time = *static_cast<std::optional<clock::time_point> const*>(event);
    if (time) return *time;
    throw device_error(stage::device,
                       {.message = "timing on " + info_.name + " failed: an event was not recorded",
                        .input = info_.name,
                        .code = error_code::invalid_event,
                        .hint = "record both events on a stream first"});
  }

  cpu_options options_;
  device_info info_;
  std::shared_ptr<interpreter::memory> memory_ = std::make_shared<interpreter::memory>();
  memory_access access_{*memory_, info_.name};
  reference_textures textures_{memory_};
  std::atomic<std::uint64_t> instructions_ = 0;
};

}  // namespace

std::shared_ptr<device_backend> open_cpu(target link_target, cpu_options const& options)
{
  return std::make_shared<reference_device>(link_target, options);
}

}  // namespace fatlink::detail
