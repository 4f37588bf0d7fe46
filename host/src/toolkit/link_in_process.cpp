// SPDX-License-Identifier: Apache-2.0
#include "toolkit/link_in_process.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "fatbin/write_fatbin.hpp"
#include "fatlink/error.hpp"
#include "util/process/fork_guard.hpp"
#include "util/process/stopwatch.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

// The entry fields of PTX that fatlink generates.
constexpr std::uint64_t k_flags_64_bit_linux = 0x11;
constexpr std::uint16_t k_ptx_major = 8;

/// PTX as ptxas takes it, which refuses all but ASCII, also in comments and names of files, and
/// vertical tabs and form feeds. Nowhere else can PTX have them.
std::string to_ascii(std::string text)
{
  for (auto& letter : text)
    if (static_cast<unsigned char>(letter) > 0x7F)
      letter = '?';
    else if (letter == '\v' || letter == '\f')
      letter = ' ';
  return text;
}

/// nvJitLink 13 links PTX of sm_72, sm_82 and sm_101, and refuses entries of these numbers. It
/// takes the architecture from the PTX itself.
target target_of_entry(target of_ptx)
{
  auto const number = of_ptx.number();
  auto const is_refused = number == 72 || number == 82 || number == 101;
  return is_refused ? target(number / 10 * 10, of_ptx.suffix()) : of_ptx;
}

byte_buffer write_ptx(fatbin_entry entry, std::string const& name)
{
  auto const text = to_ascii(read_ptx(entry, name));
  entry.target = target_of_entry(entry.target);
  entry.payload = std::as_bytes(std::span(text));
  entry.uncompressed_size = text.size();
  entry.compression = compression::none;
  entry.flags &= ~layout::k_flags_of_compression;
  entry.scramble_key = 0;
  return write_fatbin(entry, name);
}

[[noreturn]] void refuse_form(std::string const& name, std::string const& cause)
{
  throw format_error(
      0, {.message = detail::format("{}: {}; it is not passed to nvJitLink", name, cause),
          .input = name,
          .code = error_code::corrupt_fatbin,
          .hint = "install fatlink and fatlink-linkd of one version"});
}

}  // namespace

link_input link_input::write(fatbin const& file, fatbin_entry const& entry)
{
  auto const is_ptx = entry.kind == entry_kind::ptx;
  return {file.name(), is_ptx ? write_ptx(entry, file.name()) : write_fatbin(entry, file.name()),
          entry.kind == entry_kind::elf && !file.is_verified()};
}

link_input link_input::from_ptx(std::string_view text, target architecture, std::string name)
{
  fatbin_entry entry;
  entry.target = architecture;
  entry.version_major = k_ptx_major;
  entry.flags = k_flags_64_bit_linux;
  entry.payload = std::as_bytes(std::span(text));
  entry.uncompressed_size = text.size();
  auto bytes = write_fatbin(entry, name);
  return {std::move(name), std::move(bytes)};
}

link_input link_input::read(bytes_view bytes, std::string name)
{
  auto const entries = read_fatbin(bytes, name);
  if (entries.size() != 1)
    refuse_form(name, detail::format("holds {} entries instead of one", entries.size()));
  auto written = write_fatbin(entries[0], name);
  if (!std::ranges::equal(written, bytes)) refuse_form(name, "is not as fatlink writes it");
  return {std::move(name), std::move(written)};
}

namespace {

// In the order of nvJitLinkResult in nvJitLink.h of CUDA 13.0.
/// The name that nvJitLink.h gives an nvJitLinkResult: "NVJITLINK_ERROR_INVALID_INPUT";
/// "NVJITLINK_ERROR_UNKNOWN" for a number that CUDA 13.0 does not define.
char const* nvjitlink_result_name(int code) noexcept
{
  static constexpr std::array k_names{
      "NVJITLINK_SUCCESS",
      "NVJITLINK_ERROR_UNRECOGNIZED_OPTION",
      "NVJITLINK_ERROR_MISSING_ARCH",
      "NVJITLINK_ERROR_INVALID_INPUT",
      "NVJITLINK_ERROR_PTX_COMPILE",
      "NVJITLINK_ERROR_NVVM_COMPILE",
      "NVJITLINK_ERROR_INTERNAL",
      "NVJITLINK_ERROR_THREADPOOL",
      "NVJITLINK_ERROR_UNRECOGNIZED_INPUT",
      "NVJITLINK_ERROR_FINALIZE",
      "NVJITLINK_ERROR_NULL_INPUT",
      "NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS",
      "NVJITLINK_ERROR_INCORRECT_INPUT_TYPE",
      "NVJITLINK_ERROR_ARCH_MISMATCH",
      "NVJITLINK_ERROR_OUTDATED_LIBRARY",
      "NVJITLINK_ERROR_MISSING_FATBIN",
      "NVJITLINK_ERROR_UNRECOGNIZED_ARCH",
      "NVJITLINK_ERROR_UNSUPPORTED_ARCH",
      "NVJITLINK_ERROR_LTO_NOT_ENABLED",
  };
  auto const index = static_cast<std::size_t>(code);
  return index < k_names.size() ? k_names[index] : "NVJITLINK_ERROR_UNKNOWN";
}

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
    if (bytes.empty()) fail_link(0, "linking made an empty image", {});
    return bytes;
  }

  /// Reads all logs. An error line fails the link, whatever the status.
  void finish()
  {
    auto const text = all_logs();
    if (!first_error_line(text).empty()) fail_link(0, "linking", {});
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
      fail_link(0, "reading a result that this nvJitLink does not offer", {});
    std::size_t size = 0;
    check(size_of(handle_.get(), &size), "reading the result", {});
    byte_buffer bytes(size);
    check(read_into(handle_.get(), reinterpret_cast<Byte*>(bytes.data())), "reading the result",
          {});
    return bytes;
  }

  void check(int code, std::string const& doing, std::string const& input)
  {
    if (code != 0) fail_link(code, doing, input);
  }

  [[noreturn]] void fail_link(int code, std::string const& doing, std::string const& input)
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

namespace {

constexpr std::string_view k_mark = "@E@";

std::string_view skip_blanks(std::string_view text)
{
  auto const begin = text.find_first_not_of(" \t\r");
  return begin == std::string_view::npos ? std::string_view{} : text.substr(begin);
}

bool begins_with(std::string_view text, std::string_view word)
{
  auto const lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return text.size() >= word.size() &&
         std::equal(word.begin(), word.end(), text.begin(),
                    [&](char a, char b) { return lower(a) == lower(b); });
}

/// `text` without `prefix` and the blanks after it.
std::string_view skip(std::string_view text, std::string_view prefix)
{
  return begins_with(text, prefix) ? skip_blanks(text.substr(prefix.size())) : text;
}

/// `text` without "application ptx input, line 25; ", which ptxas writes before a fault of PTX.
std::string_view skip_place(std::string_view text)
{
  auto const end = text.find("; ");
  return begins_with(text, "application ptx input, line ") && end != std::string_view::npos
             ? skip_blanks(text.substr(end + 2))
             : text;
}

}  // namespace

bool is_error_line(std::string_view line)
{
  auto text = skip(skip_blanks(line), k_mark);
  for (auto const* tool : {"ptxas ", "nvlink "}) text = skip(text, tool);
  text = skip_place(text);
  return begins_with(text, "error") || begins_with(text, "fatal");
}

bool is_progress_line(std::string_view line)
{
  auto const text = skip_blanks(line);
  return text.starts_with("SUCCESS:") || text.starts_with("INFO:");
}

std::vector<std::string> lines_of(std::string const& text)
{
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (!skip_blanks(line).empty()) lines.push_back(line);
  return lines;
}

std::string first_error_line(std::string const& text)
{
  auto const lines = lines_of(text);
  auto const line = std::find_if(lines.begin(), lines.end(), is_error_line);
  return line == lines.end() ? std::string() : *line;
}

std::string quoted_after(std::string_view line, std::string_view text)
{
  auto const begin = line.find(text);
  if (begin == std::string_view::npos) return {};
  auto const name = line.substr(begin + text.size());
  return std::string(name.substr(0, name.find('\'')));
}

// The end of the process.

namespace {

constexpr auto k_longest_wait = std::chrono::seconds(10);

thread_local int links_of_thread = 0;

[[noreturn]] void refuse_link(std::string const& reason)
{
  throw unavailable_error(
      stage::linker, {.message = detail::format("nvJitLink cannot run in this process: {}", reason),
                      .input = "nvJitLink",
                      .code = error_code::nvjitlink_unavailable,
                      .hint = "link in the helper (<isolation::helper>, the default)"});
}

/// Counts the links that run in this process. Never destroyed: it is used until the process ends.
class link_gate {
 public:
  static link_gate& instance()
  {
    static auto& gate = *new link_gate;
    return gate;
  }

  void enter()
  {
    std::lock_guard const lock(mutex_);
    if (is_ending_) refuse_link("the process is ending");
    if (was_forked_in_link_) refuse_link("it was forked while another thread was linking");
    ++running_;
    ++links_of_thread;
  }

  void leave()
  {
    {
      std::lock_guard const lock(mutex_);
      --running_;
      --links_of_thread;
    }
    has_link_ended_->notify_all();
  }

  /// Waits for the links of other threads only: nvJitLink itself may end the process.
  void close()
  {
    std::unique_lock lock(mutex_);
    is_ending_ = true;
    has_link_ended_->wait_for(lock, k_longest_wait, [&] { return running_ <= links_of_thread; });
  }

 private:
  void enter_child()
  {
    was_forked_in_link_ = was_forked_in_link_ || running_ > links_of_thread;
    running_ = links_of_thread;
    // Constructed again in place: the threads that wait on the old object are the parent's, and its
    // destructor would wait for them.
    std::construct_at(has_link_ended_.get());
  }

  std::mutex mutex_;
  std::unique_ptr<std::condition_variable> has_link_ended_ =
      std::make_unique<std::condition_variable>();
  int running_ = 0;
  bool is_ending_ = false;
  bool was_forked_in_link_ = false;
  fork_guard fork_guard_{fork_order::nvjitlink, mutex_, [this] { enter_child(); }};
};

/// Closes the gate when the main thread ends.
struct main_thread_end {
  bool is_armed = false;
  ~main_thread_end()
  {
    if (is_armed && ::gettid() == ::getpid()) link_gate::instance().close();
  }
};

thread_local main_thread_end end_of_thread;

/// Creates the object of the calling thread: when the shared library is loaded, usually by the main
/// thread, and when a thread links.
bool watch_thread()
{
  return end_of_thread.is_armed = true;
}

[[maybe_unused]] bool const loading_thread_is_watched = watch_thread();
// Constructed before there are threads: a construction that a fork interrupts is never finished in
// the child.
[[maybe_unused]] auto const& gate_at_start = link_gate::instance();

}  // namespace

process_end_guard::process_end_guard()
{
  watch_thread();
  link_gate::instance().enter();
}

process_end_guard::~process_end_guard()
{
  link_gate::instance().leave();
}

void process_end_guard::watch_exit()
{
  static std::once_flag is_registered;
  std::call_once(is_registered, [] { (void)std::atexit([] { link_gate::instance().close(); }); });
}

}  // namespace fatlink::detail
