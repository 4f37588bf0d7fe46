// SPDX-License-Identifier: Apache-2.0
#include "tool.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "fatlink/error.hpp"
#include "fatlink/nvjitlink.hpp"
#include "file_calls.hpp"
#include "toolkit/nvrtc.hpp"
#include "toolkit/nvvm.hpp"
#include "util/process/stopwatch.hpp"

namespace fatlink {
namespace {

using namespace detail;

/// The library that `settings` name, or the first of the search; the hello states which file it is.
template <typename Library>
std::shared_ptr<Library const> open_library(helper_settings const& settings)
{
  if (settings.file.empty()) return Library::open();
  try {
    return Library::open(settings.file);
  } catch (unavailable_error const&) {
    if (!settings.may_search) throw;
    return Library::open();
  }
}

template <typename Library>
helper_hello describe_library(Library const& library)
{
  return {.major = static_cast<std::uint32_t>(library.major()),
          .minor = static_cast<std::uint32_t>(library.minor()),
          .path = library.path(),
          .reason = library.reason(),
          .identity = library.identity(),
          .layers = {}};
}

class link_tool : public tool {
 public:
  explicit link_tool(helper_settings const& settings)
      : nvjitlink_(open_library<nvjitlink>(settings))
  {
  }
  [[nodiscard]] helper_hello hello() const override { return describe_library(*nvjitlink_); }
  [[nodiscard]] message_kind request_kind() const noexcept override
  {
    return message_kind::request;
  }
  [[nodiscard]] byte_buffer answer(bytes_view body, request_identity const& identity) const override
  {
    auto const request = decode_request(body);
    std::vector<link_input> inputs;
    for (auto const& input : request.inputs)
      inputs.push_back(link_input::read(input.bytes, input.name));
    (void)take_printed_output();  // printed after the last link
    return encode(
        link_in_process(*nvjitlink_, inputs, request.options, request.emit, take_printed_output),
        identity);
  }

 private:
  std::shared_ptr<nvjitlink const> nvjitlink_;
};

template <typename Library, auto Compile>
class compile_tool : public tool {
 public:
  explicit compile_tool(std::shared_ptr<Library const> library) : library_(std::move(library)) {}
  [[nodiscard]] helper_hello hello() const override { return describe_library(*library_); }
  [[nodiscard]] message_kind request_kind() const noexcept override
  {
    return message_kind::compile_request;
  }
  [[nodiscard]] byte_buffer answer(bytes_view body, request_identity const& identity) const override
  {
    auto const request = decode_program(body);
    file_calls const files(identity);
    stopwatch watch;
    compile_reply reply{.products = Compile(*library_, request)};
    reply.ms = watch.lap();
    (void)take_printed_output();  // in case the compiler prints: it has a log
    return encode(reply, identity);
  }

 private:
  std::shared_ptr<Library const> library_;
};

std::unique_ptr<tool> open_nvrtc(helper_settings const& settings)
{
  auto library = open_library<nvrtc>(settings);
  if (!settings.headers_folder.empty()) install_headers(*library, settings.headers_folder);
  warm_up(*library);  // it opens its builtins at the first compile
  return std::make_unique<compile_tool<nvrtc, compile_with_nvrtc>>(std::move(library));
}

}  // namespace

std::unique_ptr<tool> open_tool(helper_settings const& settings)
{
  switch (settings.tool) {
    case helper_tool::nvjitlink:
      return std::make_unique<link_tool>(settings);
    case helper_tool::nvrtc:
      return open_nvrtc(settings);
    case helper_tool::libnvvm:
      break;
  }
  return std::make_unique<compile_tool<nvvm, compile_with_nvvm>>(open_library<nvvm>(settings));
}

namespace {

[[noreturn]] void fail_start()
{
  auto const reason = std::generic_category().message(errno);
  throw unavailable_error(
      stage::linker,
      {.message =
           "standard error cannot be captured, and nvJitLink reports errors there: " + reason,
       .code = error_code::helper_unavailable,
       .hint = "use a kernel with memfd_create, and see what refuses it (a container's profile)"});
}

}  // namespace

void collect_printed_output()
{
  auto const file = ::memfd_create("fatlink-printed", MFD_CLOEXEC);
  if (file < 0) fail_start();
  if (::fcntl(file, F_SETFL, O_APPEND) != 0 || ::dup2(file, STDOUT_FILENO) < 0 ||
      ::dup2(file, STDERR_FILENO) < 0)
    fail_start();
  ::close(file);
}

std::string take_printed_output()
{
  std::fflush(stdout);
  std::fflush(stderr);
  std::string text;
  std::array<char, 4096> block{};
  for (;;) {
    auto const count =
        ::pread(STDERR_FILENO, block.data(), block.size(), static_cast<off_t>(text.size()));
    if (count <= 0) break;
    text.append(block.data(), static_cast<std::size_t>(count));
  }
  if (!text.empty() && ::ftruncate(STDERR_FILENO, 0) != 0) ::_exit(2);  // else it comes twice
  return text;
}

}  // namespace fatlink
