// SPDX-License-Identifier: Apache-2.0
#include "nvjitlink/link_in_process.hpp"

#include <array>
#include <chrono>
#include <string_view>

#include "nvjitlink/log.hpp"
#include "nvjitlink/result_name.hpp"
#include "util/process/stopwatch.hpp"
#include "util/text/format.hpp"
#include "util/text/printable.hpp"

namespace fatlink::detail {
namespace {

constexpr int k_input_fatbin = 4;  // NVJITLINK_INPUT_FATBIN

/// The remedy for a text in nvJitLink's log.
struct known_text {
  std::string_view text;
  char const* remedy;
};
constexpr std::array k_known_texts{
    known_text{"Unresolved extern", "pass the input that defines it"},
    known_text{"Prototype doesn't match",
               "define the hook with the type that the contract's header declares"},
    known_text{"Multiple definition", "pass only one input that defines it"},
    known_text{"multiply defined", "pass only one input that defines it"},
    known_text{
        "with max regcount of",
        "limit the registers of the callee (<link_options::max_registers>), link in lto mode "
        "(<link_mode::lto>), which compiles both together, or change the kernel's "
        "__launch_bounds__"},
    known_text{"too much global constant data",
               "make the __constant__ variables of all inputs together smaller, or read large ones "
               "from global memory (__device__)"},
    known_text{"too much shared data",
               "make the __shared__ arrays of the kernel and of the functions that it calls "
               "smaller, or use dynamic shared memory (extern __shared__)"}};

std::string remedy(int code, std::string const& log)
{
  for (auto const& known : k_known_texts)
    if (log.find(known.text) != std::string::npos) return known.remedy;
  switch (code) {
    case 3:
    case 8:
      return "the input is damaged or for another architecture: <fatbin::entries> shows which";
    case 14:
      return "install an nvJitLink at least as new as the newest toolkit among the inputs; if it "
             "is new enough, an input is damaged (<preflight> reports those without digests)";
    case 16:
    case 17:
      return "<nvjitlink::path is> the one that was opened; a newer one may support it";
    default:
      return "see nvJitLink's log";
  }
}

class session {
 public:
  session(nvjitlink const& nvjitlink, std::vector<link_input> const& inputs,
          printed_text const& printed)
      : api_(nvjitlink.functions()), inputs_(inputs), printed_(printed), handle_(nullptr, {&api_})
  {
  }

  void create(std::vector<std::string> const& options)
  {
    std::vector<char const*> texts;
    for (auto const& option : options) texts.push_back(option.c_str());
    nvjitlink::api::handle raw = nullptr;
    auto const code = api_.create(&raw, static_cast<std::uint32_t>(texts.size()), texts.data());
    handle_.reset(raw);  // a failed create still returns a handle, holding the log
    check(code, "creating the link", {});
  }

  void add(link_input const& input)
  {
    check(api_.add_data(handle_.get(), k_input_fatbin, input.bytes().data(), input.bytes().size(),
                        input.name().c_str()),
          "adding", input.name());
  }

  void complete() { check(api_.complete(handle_.get()), "linking", {}); }

  byte_buffer product(image_kind emit)
  {
    auto bytes = emit == image_kind::ptx     ? fetch(api_.ptx_size, api_.ptx)
                 : emit == image_kind::ltoir ? fetch(api_.ltoir_size, api_.ltoir)
                                             : fetch(api_.cubin_size, api_.cubin);
    while (emit == image_kind::ptx && !bytes.empty() && bytes.back() == std::byte{0})
      bytes.pop_back();  // the size counts the NUL
    if (bytes.empty()) fail(0, "linking made an empty image", {});
    return bytes;
  }

  /// Reads all logs. An error line fails the link, whatever the status.
  void finish()
  {
    auto const text = all_logs();
    if (!first_error_line(text).empty()) fail(0, "linking", {});
  }

  /// The lines of both logs and of standard error, without progress reports.
  std::vector<std::string> warnings()
  {
    std::vector<std::string> lines;
    for (auto const& line : lines_of(all_logs()))
      if (!is_progress_line(line)) lines.push_back("nvJitLink: " + line);
    return lines;
  }

 private:
  struct destroyer {
    nvjitlink::api const* api;
    using pointer = nvjitlink::api::handle;
    void operator()(pointer handle) const noexcept { api->destroy(&handle); }
  };

  template <typename Byte>
  byte_buffer fetch(int (*size_of)(nvjitlink::api::handle, std::size_t*),
                    int (*read_into)(nvjitlink::api::handle, Byte*))
  {
    if (size_of == nullptr || read_into == nullptr)
      fail(0, "reading a result that this nvJitLink does not offer", {});
    std::size_t size = 0;
    check(size_of(handle_.get(), &size), "reading the result", {});
    byte_buffer bytes(size);
    check(read_into(handle_.get(), reinterpret_cast<Byte*>(bytes.data())), "reading the result",
          {});
    return bytes;
  }

  void check(int code, std::string const& doing, std::string const& input)
  {
    if (code != 0) fail(code, doing, input);
  }

  [[noreturn]] void fail(int code, std::string const& doing, std::string const& input)
  {
    auto const log = all_logs();
    auto const error_line = first_error_line(log);
    auto const first_line = error_line.empty() ? log.substr(0, log.find('\n')) : error_line;
    auto const subject = input.empty() ? names() : input;
    throw link_error(
        stage::linker,
        {.message = detail::format("{}: {} failed{}{}", subject, doing,
                                   first_line.empty() ? "" : ": ", first_line),
         .input = subject,
         .code = code == 0 ? error_code::link_failed : vendor_code(nvjitlink_result_name(code)),
         .log = log,
         .hint = remedy(code, log)});
  }

  [[nodiscard]] std::string names() const
  {
    std::string text;
    for (auto const& input : inputs_) text += (text.empty() ? "" : ", ") + input.name();
    return text;
  }

  /// The error log, what was printed on standard error, and the info log.
  std::string all_logs()
  {
    if (printed_) printed_lines_ += printed_();
    return printable(read_log(api_.error_log_size, api_.error_log) + printed_lines_ +
                     read_log(api_.info_log_size, api_.info_log));
  }

  std::string read_log(int (*size_of)(nvjitlink::api::handle, std::size_t*),
                       int (*read)(nvjitlink::api::handle, char*)) const
  {
    std::size_t size = 0;
    if (!handle_ || size_of(handle_.get(), &size) != 0 || size == 0) return {};
    std::string log(size, '\0');
    if (read(handle_.get(), log.data()) != 0) return {};
    log.erase(log.find_last_not_of(std::string_view("\0\n ", 3)) + 1);
    return log.empty() ? log : log + '\n';
  }

  nvjitlink::api const& api_;
  std::vector<link_input> const& inputs_;
  printed_text const& printed_;
  std::string printed_lines_;
  std::unique_ptr<struct nvJitLink, destroyer> handle_;
};

}  // namespace

link_product link_in_process(nvjitlink const& nvjitlink, std::vector<link_input> const& inputs,
                             std::vector<std::string> const& options, image_kind emit,
                             printed_text const& printed)
{
  session link(nvjitlink, inputs, printed);
  stopwatch watch;
  link.create(options);
  for (auto const& input : inputs) link.add(input);
  link.complete();
  link_product product;
  product.bytes = link.product(emit);
  product.ms = watch.lap();
  link.finish();
  product.warnings = link.warnings();
  return product;
}

}  // namespace fatlink::detail
