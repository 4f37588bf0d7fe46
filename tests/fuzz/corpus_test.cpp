// SPDX-License-Identifier: Apache-2.0
// Every fuzz target takes the inputs of its corpus, which hold what once failed. Without libFuzzer
// and sanitizers, so that the default tests need no second build of the library; `ctest -C fuzz`
// searches for new inputs with both. Also: the reader of corpora.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "tests/fuzz/corpus.hpp"

#include "fuzz_targets.hpp"  // made by CMake: fuzz_targets(), the entry functions of tests/fuzz/*_fuzz.cpp

namespace {

std::string current_input;  // which a target reads

/// Names the input of a target that aborts.
void report_input(int signal)
{
  (void)!::write(STDERR_FILENO, current_input.data(), current_input.size());
  std::signal(signal, SIG_DFL);
  (void)std::raise(signal);
}

class Corpus : public testing::TestWithParam<fuzz_target> {
 protected:
  void SetUp() override
  {
    for (auto const signal : {SIGABRT, SIGSEGV, SIGFPE, SIGBUS}) std::signal(signal, report_input);
  }
};

std::filesystem::path corpus_of(std::string const& target)
{
  return FATLINK_CORPORA + target + ".corpus";
}

TEST_P(Corpus, IsTakenByItsTarget)
{
  auto const& [name, run] = GetParam();
  auto const inputs = corpora::read(corpus_of(name));
  for (auto const& input : inputs) {
    current_input = "while reading " + input.name + " of " + name + ".corpus\n";
    EXPECT_EQ(run(reinterpret_cast<std::uint8_t const*>(input.bytes.data()), input.bytes.size()), 0)
        << input.name;
  }
  EXPECT_FALSE(inputs.empty()) << "the corpus is empty";
}

TEST_P(Corpus, IsWrittenAsFuzzCorpusWritesIt)
{
  for (auto const& input : corpora::read(corpus_of(GetParam().name)))
    if (!input.text.empty()) {
      EXPECT_EQ(input.text, corpora::encoder(input.bytes).encode()) << input.name;
    }
}

TEST(Corpora, HaveATargetEach)
{
  std::set<std::string> found;
  for (auto const& file : std::filesystem::directory_iterator(FATLINK_CORPORA))
    if (file.path().extension() == ".corpus") found.insert(file.path().stem());
  std::set<std::string> expected;
  for (auto const& target : fuzz_targets()) expected.insert(target.name);
  EXPECT_EQ(found, expected);
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Corpus, testing::ValuesIn(fuzz_targets()),
                         [](auto const& test) { return std::string(test.param.name); });

std::vector<corpora::input> read(std::string const& text)
{
  return corpora::reader("a.corpus", text).read();
}

void expect_bad(std::string const& text, std::string const& message)
{
  try {
    (void)read(text);
    ADD_FAILURE() << "is taken: " << text;
  } catch (corpora::bad_corpus const& why) {
    EXPECT_EQ(std::string(why.what()), "a.corpus:" + message);
  }
}

TEST(CorpusReader, ReadsTextAndBytes)
{
  auto const inputs = read(
      "# comment\n\ninput a\n|{\"n\": 1}\n|\n|  end \\\n\ninput b\n\ninput c\n"
      "|\\\\\\x00{3}\\x7b\\x0A\\xff\\\n|next\n");
  ASSERT_EQ(inputs.size(), 3U);
  EXPECT_EQ(inputs[0].name, "a");
  EXPECT_EQ(inputs[0].bytes, "{\"n\": 1}\n\n  end ");
  EXPECT_EQ(inputs[1].bytes, "");
  EXPECT_EQ(inputs[2].bytes, std::string("\\\0\0\0{\n\xffnext\n", 12));
}

TEST(CorpusReader, ReadsAFileBesideTheCorpus)
{
  auto const inputs =
      corpora::reader(corpus_of("a"), "file b ../fuzz/README.md\ninput c\n|x\n").read();
  EXPECT_EQ(inputs.at(0).bytes, corpora::read_bytes(corpus_of("a").replace_filename("README.md")));
  EXPECT_EQ(inputs.at(1).bytes, "x\n");
}

TEST(CorpusReader, ReadsWhatIsWritten)
{
  std::string every;
  for (int byte = 0; byte < 256; ++byte) every += static_cast<char>(byte);
  for (auto const& bytes :
       {every + every, std::string(), std::string("\n"), std::string("\n\n \n\t\n "),
        std::string("a\0{3}", 5), std::string(5000, '('), std::string(15, '(') + "\\",
        std::string(300, '\\') + "\n", "\x01\x01{" + std::string(200, 'x') + "\\\n"}) {
    auto const text = corpora::encoder(bytes).encode();
    EXPECT_EQ(read("input a\n" + text).at(0).bytes, bytes) << text;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 140U) << line;
  }
}

TEST(CorpusReader, NamesTheLineThatItDoesNotTake)
{
  auto const form = ": a line is written: input NAME, file NAME PATH, or |BYTES";
  for (auto const* const line : {"x", "input", "input a b", "file a", "file a b c", " |x"})
    expect_bad("\n" + std::string(line) + "\n", "2" + std::string(form));
  expect_bad("|x\n", "1: there is no input before this line");
  expect_bad("input a\ninput a\n", "2: there are two inputs 'a'");
  expect_bad("file a no/such\n", "1: no/such: cannot be read");
  std::string const head = "input a\n|";
  expect_bad(head + "\\y\n", "2: an escape is written \\\\, \\xNN or \\xNN{COUNT}");
  expect_bad(head + "\\x4\n", "2: '4' is not a number of this escape");
  expect_bad(head + "\\x4g\n", "2: '4g' is not a number of this escape");
  expect_bad(head + "\\x41{}\n", "2: '' is not a number of this escape");
  expect_bad(head + "\\x41{3\n", "2: a count has no }");
  expect_bad(head + "\\x41{9999999}\n", "2: '9999999' is not a number of this escape");
}

}  // namespace
