// SPDX-License-Identifier: Apache-2.0
// White space and comments of PTX only separate its words: PTX that is laid out in another way has
// the same interface, and computes the same on the reference device. The PTX is that of all fatbins
// of the build and of the conformance cases; half of the mutants have `.loc` before their
// statements, as nvcc -lineinfo writes it. $FATLINK_TEST_SCALE multiplies the 400 mutants.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <set>
#include <span>

#include "conformance/suite.hpp"
#include "fatlink/device.hpp"
#include "fatlink/fatbin.hpp"
#include "fatlink/ptx_interface.hpp"
#include "input/bare_entries.hpp"
#include "places.hpp"
#include "preflight/rules.hpp"
#include "ptx/parser.hpp"
#include "stratified.hpp"
#include "test_scale.hpp"

using namespace fatlink;

namespace {

constexpr std::size_t k_mutants = 400;
constexpr std::size_t k_inputs = 96;
constexpr std::size_t k_most_text = 200'000;

using random_source = std::mt19937;

struct ptx_word {
  std::string text;
  bool may_touch;  ///< may follow the word before it without white space
};

bool is_blank(char letter)
{
  return letter == ' ' || letter == '\n' || letter == '\t' || letter == '\r';
}

bool is_mark(char letter)
{
  return std::strchr(",;()[]{}", letter) != nullptr && letter != '\0';
}

/// The words of PTX without its white space and comments. Not ptx::lexer, which is tested.
std::vector<ptx_word> words_of(std::string_view text)
{
  std::vector<ptx_word> words;
  auto is_separate = false;
  auto const skip_comment = [&](std::string_view open, std::string_view close) {
    if (!text.starts_with(open)) return false;
    text.remove_prefix(std::min(text.find(close, 2) + close.size(), text.size()));
    return is_separate = true;
  };
  while (!text.empty()) {
    if (is_blank(text.front())) {
      text.remove_prefix(1);
      is_separate = true;
      continue;
    }
    if (skip_comment("//", "\n") || skip_comment("/*", "*/")) continue;
    std::size_t end = 1;
    if (text.front() == '"')
      end = text.find('"', 1) + 1;
    else if (!is_mark(text.front()))
      while (end < text.size() && !is_blank(text[end]) && !is_mark(text[end]) && text[end] != '"' &&
             text[end] != '/')
        ++end;
    auto const follows_mark = words.empty() || is_mark(words.back().text.back());
    words.push_back(
        {std::string(text.substr(0, end)), !is_separate || follows_mark || is_mark(text.front())});
    text.remove_prefix(end);
    is_separate = false;
  }
  return words;
}

/// Writes `.loc` before the statements of functions.
std::vector<ptx_word> with_locations(std::vector<ptx_word> const& words, random_source& random)
{
  std::vector<ptx_word> result;
  auto const add = [&](std::string_view text) {
    for (auto& word : words_of(text)) result.push_back({std::move(word.text), false});
  };
  int depth = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    auto const& word = words[i].text;
    depth += word == "{" ? 1 : word == "}" ? -1 : 0;
    auto const begins_statement = i > 0 && depth > 0 && words[i - 1].text == ";";
    if (begins_statement && word.front() != '.' && word != "}") {
      add(".loc 1 " + std::to_string(i) + " 3");
      if (random() % 4 == 0) add(", function_name $L__info_string0, inlined_at 1 9 2");
      if (random() % 4 == 0) add(", function_name $L__info_string0+16, inlined_at 1 9 2");
      result.push_back({word, false});
    } else {
      result.push_back(words[i]);
    }
    if (i > 0 && words[i - 1].text == ".address_size") add(".file 1 \"a b.cu\", 12, 34");
  }
  return result;
}

/// The words with random white space and comments between them; sometimes all in one line.
std::string lay_out(std::vector<ptx_word> const& words, random_source& random)
{
  constexpr std::array k_separators{
      " ", "\n", "\t", "\r\n", " /* ; } \" */ ", " // { ; \"\n", "\n\n", "/**/", " \n\t "};
  auto const is_one_line = random() % 4 == 0;
  std::string text;
  for (auto const& word : words) {
    if (!word.may_touch || random() % 2 == 0)
      text += is_one_line ? " " : k_separators[random() % k_separators.size()];
    text += word.text;
  }
  return text;
}

std::string mutate(std::string const& text, random_source& random)
{
  auto words = words_of(text);
  if (random() % 2 == 0 && text.find(".loc") == std::string::npos)
    words = with_locations(words, random);
  return lay_out(words, random);
}

std::string describe(ptx_function const& function)
{
  auto text = to_string(function, with_alignment::yes) + (function.is_weak ? " weak" : "") + " " +
              std::to_string(function.max_block_threads);
  for (auto const extent : function.required_block) text += ' ' + std::to_string(extent);
  for (auto const* list : {&function.results, &function.parameters})
    for (auto const& one : *list)
      text += " " + one.accessed_as + (one.is_pointer ? " pointer" : "") +
              (one.is_unread ? " unread" : "") + (one.is_unpassed ? " unpassed" : "");
  return text + "\n";
}

/// Everything that the readers of a module state, without numbers of lines.
std::string describe(std::string const& text)
{
  auto const head = detail::read_ptx_text(std::as_bytes(std::span(text)), "mutant.ptx");
  auto result = std::to_string(head.version_major) + '.' + std::to_string(head.version_minor) +
                ' ' + head.target.name() + "\n";
  auto const interface = read_ptx_interface(text, "mutant.ptx");
  for (auto const* list :
       {&interface.kernels, &interface.definitions, &interface.weak, &interface.hooks})
    for (auto const& function : *list) result += describe(function);
  for (auto const* list : {&interface.variables, &interface.external_variables})
    for (auto const& variable : *list) result += to_string(variable, with_alignment::yes) + "\n";
  for (auto const& name : interface.hidden) result += name + "\n";
  return result;
}

/// What nothing but the parser of the reference device states.
std::string describe_code(std::string const& text)
{
  std::string result;
  auto const module = ptx::parse_module(text, "mutant.ptx");
  for (auto const& function : module.functions) {
    result += function.name + ' ' + std::to_string(function.instructions.size()) + ' ' +
              std::to_string(function.registers.size()) + ' ' + function.error.reason + "\n";
    for (auto const& instruction : function.instructions) (result += instruction.name) += '\n';
  }
  return result;
}

/// Folders of fatbins that the build makes or that are committed.
std::vector<std::filesystem::path> fatbins_of_build()
{
  std::set<std::filesystem::path> paths;
  for (std::filesystem::path const folder : {places::data(), places::corpus(), places::fixture(""),
                                             std::string(places::tests() / "hostile")})
    for (auto const& file : std::filesystem::directory_iterator(folder))
      if (file.path().extension() == ".fatbin") paths.insert(file.path());
  return {paths.begin(), paths.end()};
}

std::vector<std::string> ptx_of(fatbin const& file)
{
  std::vector<std::string> texts;
  for (auto const& entry : file.entries())
    if (entry.kind == entry_kind::ptx && entry.uncompressed_size <= k_most_text)
      texts.push_back(read_ptx(entry, file.name()));
  return texts;
}

/// A random member of each of `count` equal parts of `all`.
template <typename Value>
std::vector<Value const*> spread(std::vector<Value> const& all, std::size_t count,
                                 random_source& random)
{
  std::vector<Value const*> chosen;
  for (std::size_t i = 0; i < count && !all.empty(); ++i) {
    auto const begin = i * all.size() / count;
    auto const end = std::max(begin + 1, (i + 1) * all.size() / count);
    chosen.push_back(&all[begin + random() % (end - begin)]);
  }
  return chosen;
}

random_source make_random()
{
  return random_source(43);  // NOLINT(cert-msc51-cpp): the same mutants each time
}

loaded_module load(device const& device, std::vector<std::string> const& texts)
{
  linked_image image;
  image.kind = image_kind::ptx_set;
  for (auto const& text : texts)
    image.parts.push_back({"part" + std::to_string(image.parts.size()) + ".ptx", text});
  return device.load(image);
}

/// The results of apply_transform's kernel with the transform in `texts`, as bits.
std::vector<std::uint32_t> results_of(device const& device, std::vector<std::string> const& texts)
{
  auto const module = load(device, texts);
  auto const inputs = stratified(k_inputs);
  auto in = device.allocate<float>(k_inputs);
  in.write(inputs);
  auto out = device.allocate<float>(k_inputs);
  out.write(inputs);
  auto stream = device.create_stream();
  module.kernel<void(float const*, float*, std::size_t)>("apply_transform")
      .launch(stream, {.grid = 1, .block = k_inputs, .shared_bytes = 0}, in.data(), out.data(),
              k_inputs);
  stream.synchronize();
  std::vector<std::uint32_t> results(k_inputs);
  out.read({reinterpret_cast<float*>(results.data()), k_inputs});
  return results;
}

bool defines_transform(std::string const& text)
{
  auto const interface = read_ptx_interface(text, "transform.ptx");
  return interface.hooks.empty() && std::ranges::any_of(interface.definitions, [](auto const& one) {
           return to_string(one) == "(b32) user_transform(b32)";
         });
}

}  // namespace

TEST(WhiteSpace, LeavesTheInterfaceOfPtxAsItIs)
{
  auto random = make_random();
  auto const files = fatbins_of_build();
  std::size_t count = 0;
  for (auto const* path : spread(files, fixtures::scaled(k_mutants / 4), random))
    for (auto const& text : ptx_of(fatbin::read(*path))) {
      auto const mutant = mutate(text, random);
      ASSERT_EQ(describe(mutant), describe(text)) << *path << "\n" << mutant;
      ASSERT_EQ(describe_code(mutant), describe_code(text)) << *path << "\n" << mutant;
      ++count;
    }
  EXPECT_GE(count, fixtures::scaled(k_mutants / 4) / 2);
}

TEST(WhiteSpace, LeavesTheResultsOfTransformsAsTheyAre)
{
  auto random = make_random();
  auto const device = open_device("cpu");
  auto const library = ptx_of(fatbin::read(places::data("apply_transform.fatbin"))).at(0);
  std::vector<std::string> transforms;
  for (auto const& path : fatbins_of_build())
    for (auto& text : ptx_of(fatbin::read(path)))
      if (defines_transform(text)) transforms.push_back(std::move(text));
  ASSERT_GE(transforms.size(), 40U);
  for (auto const* text : spread(transforms, fixtures::scaled(k_mutants / 4), random)) {
    std::vector<std::string> const mutants{mutate(library, random), mutate(*text, random)};
    ASSERT_EQ(results_of(*device, mutants), results_of(*device, {library, *text})) << mutants[1];
  }
}

TEST(WhiteSpace, LeavesTheResultsOfEveryInstructionAsTheyAre)
{
  auto random = make_random();
  auto const device = open_device("cpu", {.instruction_budget = 1 << 22, .check_races = false});
  conformance::case_list cases;
  for (auto const& path : conformance::case_files())
    for (auto& one : conformance::read_cases(path))
      if (!one.fails()) cases.push_back(std::move(one));
  for (auto const* one : spread(cases, fixtures::scaled(k_mutants), random)) {
    auto const mutant = mutate(conformance::module_of({*one}), random);
    ASSERT_EQ(
        conformance::run(*one, *device, load(*device, {mutant}), conformance::kernel_name(*one, 0)),
        "")
        << one->place(one->line) << "\n"
        << mutant;
  }
}
