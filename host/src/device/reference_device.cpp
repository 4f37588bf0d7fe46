// SPDX-License-Identifier: Apache-2.0
#include "device/reference_device.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>
#include <thread>

#include "device/kernel_parameters.hpp"
#include "interpreter/machine.hpp"
#include "util/process/signal_guard.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

using clock = std::chrono::steady_clock;

/// The code of an error that reports the fault.
error_code code_of(interpreter::fault kind) noexcept
{
  switch (kind) {
    case interpreter::fault::syntax:
      return error_code::invalid_ptx;
    case interpreter::fault::refused:
      return error_code::refused_instruction;
    case interpreter::fault::invalid:
      return error_code::invalid_instruction;
    case interpreter::fault::unresolved:
      return error_code::unresolved_symbol;
    case interpreter::fault::duplicate:
      return error_code::duplicate_symbol;
    case interpreter::fault::prototype:
      return error_code::prototype_mismatch;
    case interpreter::fault::no_kernel:
      return error_code::unknown_kernel;
    case interpreter::fault::launch:
      return error_code::invalid_launch;
    case interpreter::fault::memory:
      return error_code::out_of_memory;
    case interpreter::fault::address:
      return error_code::illegal_address;
    case interpreter::fault::endless:
      return error_code::endless_kernel;
    case interpreter::fault::deadlock:
      return error_code::deadlock;
    case interpreter::fault::trap:
      return error_code::trap;
    case interpreter::fault::race:
      return error_code::write_race;
  }
  return error_code::defect;
}

char const* remedy(interpreter::failure const& failed) noexcept
{
  switch (failed.kind()) {
    case interpreter::fault::syntax:
      return "link again; if it happens again, report it with the inputs";
    case interpreter::fault::refused:
      return "the reference device has no textures, surfaces, device heap (malloc, new), matrix "
             "instructions, asynchronous copies, clusters or dynamic alloca; run it on a GPU: "
             "--device gpu";
    case interpreter::fault::invalid:
      return "fix the device code that made this PTX";
    case interpreter::fault::unresolved:
      return "pass the input that defines it";
    case interpreter::fault::duplicate:
      return "pass only one input that defines it";
    case interpreter::fault::prototype:
      return "fix the type: every declaration and definition of the function must be the same";
    case interpreter::fault::no_kernel:
      return "fatlink inspect shows the kernels of a fatbin";
    case interpreter::fault::launch:
      return "check the grid, block and arguments that the host program passes";
    case interpreter::fault::memory:
      return "use fewer --elements";
    case interpreter::fault::endless:
      return "fix the loop, or raise --instruction-budget (0: no limit)";
    default:
      return failed.location().empty()
                 ? "fix the device code; compile with nvcc -lineinfo to see source lines (for lto "
                   "mode, the library too)"
                 : "fix the device code";
  }
}

[[noreturn]] void rethrow(interpreter::failure const& failed)
{
  error_details details{.message = failed.what(),
                        .input = failed.source(),
                        .code = code_of(failed.kind()),
                        .hint = remedy(failed)};
  switch (failed.kind()) {
    case interpreter::fault::syntax:
    case interpreter::fault::no_kernel:
      throw file_error(stage::device, details);
    case interpreter::fault::invalid:
    case interpreter::fault::unresolved:
    case interpreter::fault::duplicate:
    case interpreter::fault::prototype:
      throw link_error(stage::linker, details);
    case interpreter::fault::refused:
      throw unavailable_error(stage::device, details);
    default:
      throw device_error(stage::device, details);
  }
}

template <typename Call>
auto translated(Call const& call)
try {
  return call();
} catch (interpreter::failure const& failed) {
  rethrow(failed);
}

struct found_kernel {
  interpreter::program* in;
  interpreter::kernel const* which;
};

/// A program and its kernels, which the module's handle owns.
struct loaded {
  loaded(std::shared_ptr<interpreter::memory> in, std::span<interpreter::module_text const> texts)
      : program(std::move(in), texts)
  {
  }

  interpreter::program program;
  std::vector<std::unique_ptr<found_kernel>> kernels;
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

interpreter::dimensions dimensions_of(extent const& from) noexcept
{
  return {from.x, from.y, from.z};
}

class cpu_device final : public device_backend {
 public:
  cpu_device(target linked_for, cpu_options const& options) : options_(options)
  {
    auto const cores = std::max(std::thread::hardware_concurrency(), 1U);
    info_ = {
        .kind = device_kind::cpu,
        .ordinal = 0,
        .name = detail::format("reference device on {} CPU core{}", cores, cores == 1 ? "" : "s"),
        .target = linked_for,
        .memory_bytes = 0,
        .multiprocessors = cores};
  }

  [[nodiscard]] device_info const& info() const noexcept override { return info_; }
  [[nodiscard]] std::uint64_t instructions() const noexcept override { return instructions_; }

  device_address allocate(std::size_t bytes) override
  {
    return translated([&] { return memory_->allocate(bytes).base; });
  }
  void release(device_address address) noexcept override { memory_->release(address); }
  void copy_in(device_address to, bytes_view from) override
  {
    if (!from.empty()) std::memcpy(place(to, from.size(), "copying to"), from.data(), from.size());
  }
  void copy_out(std::span<std::byte> to, device_address from) override
  {
    if (!to.empty()) std::memcpy(to.data(), place(from, to.size(), "copying from"), to.size());
  }
  void copy_on_device(device_address to, device_address from, std::size_t bytes, handle) override
  {
    if (bytes != 0)
      std::memmove(place(to, bytes, "copying on"), place(from, bytes, "copying on"), bytes);
  }
  void fill(device_address to, std::byte value, std::size_t bytes) override
  {
    if (bytes != 0)
      std::memset(place(to, bytes, "filling memory of"), std::to_integer<int>(value), bytes);
  }
  void fill(device_address to, std::byte value, std::size_t bytes, handle) override
  {
    fill(to, value, bytes);
  }

  handle load(linked_image const& image) override
  {
    if (image.kind == image_kind::cubin)
      throw device_error(stage::device,
                         {.message = "loading the linked image on the reference device failed: it "
                                     "is a cubin, and this device executes PTX",
                          .input = "linked image",
                          .code = error_code::invalid_image,
                          .hint = "link with emit = device_info::image_for(mode)"});
    return translated([&] {
      auto const texts = texts_of(image);
      return std::make_unique<loaded>(memory_, texts).release();
    });
  }
  void unload(handle module) noexcept override { delete static_cast<loaded*>(module); }
  handle find_kernel(handle module, std::string const& name,
                     std::span<std::size_t const> parameter_sizes) override
  {
    auto& in = *static_cast<loaded*>(module);
    return translated([&] {
      auto const& found = in.program.find(name);
      check_kernel_parameters(name, sizes_of(found.entry->parameters), parameter_sizes);
      std::lock_guard const lock(mutex_);
      in.kernels.push_back(std::make_unique<found_kernel>(found_kernel{&in.program, &found}));
      return in.kernels.back().get();
    });
  }

  /// Runs the kernel to its end, whatever the stream.
  void launch(handle kernel, handle, launch_shape const& shape,
              std::span<void const* const> arguments, std::span<std::size_t const> sizes) override
  {
    auto const& [program, which] = *static_cast<found_kernel*>(kernel);
    std::vector<std::span<std::byte const>> values;
    for (std::size_t i = 0; i < arguments.size(); ++i)
      values.emplace_back(static_cast<std::byte const*>(arguments[i]), sizes[i]);
    interpreter::launch_options const how{.grid = dimensions_of(shape.grid),
                                          .block = dimensions_of(shape.block),
                                          .shared_bytes = shape.shared_bytes,
                                          .budget = options_.instruction_budget,
                                          .check_races = options_.check_races,
                                          .print = print};
    instructions_ += translated(
        [&, p = program, k = which] { return interpreter::launch(*p, *k, how, values); });
  }

  // Every call has ended when it returns: streams have nothing to hold.
  handle create_stream() override { return nullptr; }
  void destroy_stream(handle) noexcept override {}
  void synchronize(handle) override {}
  handle create_event() override { return new std::optional<clock::time_point>(); }
  void destroy_event(handle event) noexcept override
  {
    delete static_cast<std::optional<clock::time_point>*>(event);
  }
  void record(handle event, handle) override
  {
    *static_cast<std::optional<clock::time_point>*>(event) = clock::now();
  }
  double elapsed_ms(handle start, handle stop) override
  {
    return std::chrono::duration<double, std::milli>(time_of(stop) - time_of(start)).count();
  }

 private:
  /// Standard output is the program's own, for `--json`. Text that cannot be written is dropped.
  static void print(std::string_view text)
  {
    signal_guard const no_reader(SIGPIPE);
    signal_guard const too_large(SIGXFSZ);
    (void)std::fwrite(text.data(), 1, text.size(), stderr);
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

  std::byte* place(device_address address, std::size_t bytes, char const* doing) const
  {
    auto const regions = memory_->snapshot();
    if (auto const* found = interpreter::find_region(*regions, address, bytes); found != nullptr)
      return found->data + (address - found->base);
    throw device_error(
        stage::device,
        {.message = detail::format("{} {} failed: {} bytes at {:#x} are {}", doing, info_.name,
                                   bytes, address, interpreter::describe(*regions, address)),
         .input = info_.name,
         .code = error_code::illegal_address,
         .hint = "check the address and the size that the host program passes"});
  }

  cpu_options options_;
  device_info info_;
  std::shared_ptr<interpreter::memory> memory_ = std::make_shared<interpreter::memory>();
  std::atomic<std::uint64_t> instructions_ = 0;
  std::mutex mutex_;
};

}  // namespace

std::shared_ptr<device_backend> open_cpu(target linked_for, cpu_options const& options)
{
  return std::make_shared<cpu_device>(linked_for, options);
}

}  // namespace fatlink::detail
