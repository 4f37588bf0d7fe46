// SPDX-License-Identifier: Apache-2.0
#include "bench_options.hpp"

#include <charconv>
#include <stdexcept>

namespace algorithm_bench {
namespace {

template <typename Number>
Number read_number(std::string const& what, std::string const& word)
{
  Number number = 0;
  auto const* const end = word.data() + word.size();
  auto const [last, problem] = std::from_chars(word.data(), end, number);
  if (problem != std::errc{} || last != end || number <= 0)
    throw std::invalid_argument(what + " " + word + ": expected a whole number of 1 or more");
  return number;
}

}  // namespace

bench_options read_options(std::vector<std::string> const& words)
{
  bench_options options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    auto const& word = words[i];
    if (word == "--check") {
      options.only_check = true;
    } else if (word == "--rounds" || word == "--only") {
      if (i + 1 == words.size()) throw std::invalid_argument(word + ": has no value");
      if (word == "--only")
        options.only = words[++i];
      else
        options.rounds = read_number<int>(word, words[++i]);
    } else if (word.starts_with("-")) {
      throw std::invalid_argument(word +
                                  ": unknown option; there are --check, --rounds and --only");
    } else if (options.data.empty()) {
      options.data = word;
    } else {
      options.elements.push_back(read_number<std::size_t>("ELEMENTS", word));
    }
  }
  if (options.data.empty())
    throw std::invalid_argument("name the folder of the libraries: share/fatlink");
  if (options.elements.empty()) options.elements = {std::size_t{1} << 20, std::size_t{1} << 28};
  return options;
}

}  // namespace algorithm_bench
