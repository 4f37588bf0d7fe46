// SPDX-License-Identifier: Apache-2.0
#include "device/on_each_device.hpp"

#include <future>
#include <system_error>
#include <thread>

#include "base/wording.hpp"
#include "fatlink/error.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {

void run_on_threads(std::vector<std::size_t> const& numbers,
                    std::function<void(std::size_t)> const& call)
{
  std::promise<bool> is_complete;
  std::vector<std::jthread> threads;  // end before the promise
  auto const answer = is_complete.get_future().share();
  threads.reserve(numbers.size());
  try {
    for (auto const number : numbers)
      threads.emplace_back([answer, number, &call, words = current_wording()] {
        wording_scope const scope(words);
        if (answer.get()) call(number);
      });
  } catch (std::system_error const& cause) {
    is_complete.set_value(false);
    throw unavailable_error(
        stage::device,
        {.message = detail::format("cannot start a thread for each of {} devices: {}",
                                   numbers.size(), cause.code().message()),
         .code = error_code::out_of_memory,
         .hint = "use fewer devices, or raise the limits of processes and memory (ulimit -u, -v)"});
  } catch (...) {
    is_complete.set_value(false);
    throw;
  }
  is_complete.set_value(true);
}

}  // namespace fatlink::detail
