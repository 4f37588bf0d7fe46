// SPDX-License-Identifier: Apache-2.0
// Reads and extends the corpora of fuzz targets (tests/fuzz/README.md).
//   fuzz_corpus add CORPUS FILE...       appends files, each an input of its name
//   fuzz_corpus unpack CORPUS FOLDER     writes each input to a file of its name, for libFuzzer
#include <span>

#include "tests/fuzz/corpus.hpp"

namespace {

void add(std::filesystem::path const& corpus, std::span<char*> files)
{
  for (std::filesystem::path const file : files) {
    auto const bytes = corpora::read_bytes(file);
    auto const name = file.filename().string();
    for (auto const& other : corpora::read(corpus))
      if (other.bytes == bytes || other.name == name)
        throw corpora::bad_corpus(file.string() + ": " + corpus.string() +
                                  " has this input or its name: " + other.name);
    auto const text = "\ninput " + name + "\n" + corpora::encoder(bytes).encode();
    if (corpora::reader(corpus, text).read().at(0).bytes != bytes)
      throw corpora::bad_corpus(file.string() + ": is not read as it was written");
    std::ofstream(corpus, std::ios::app) << text;
  }
}

void unpack(std::filesystem::path const& corpus, std::filesystem::path const& folder)
{
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  for (auto const& input : corpora::read(corpus)) {
    std::ofstream file(folder / input.name, std::ios::binary);
    if (!(file << input.bytes).flush())
      throw corpora::bad_corpus((folder / input.name).string() + ": cannot be written");
  }
}

}  // namespace

int main(int count, char** arguments)
try {
  auto const words = std::span(arguments, static_cast<std::size_t>(count));
  std::string_view const verb = count > 3 ? words[1] : "";
  if (verb == "add")
    add(words[2], words.subspan(3));
  else if (verb == "unpack" && count == 4)
    unpack(words[2], words[3]);
  else
    throw corpora::bad_corpus("usage: fuzz_corpus add CORPUS FILE... | unpack CORPUS FOLDER");
  return 0;
} catch (std::exception const& failure) {
  std::fprintf(stderr, "fuzz_corpus: error: %s\n", failure.what());
  return 2;
}
