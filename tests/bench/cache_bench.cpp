// SPDX-License-Identifier: Apache-2.0
// Time of a cache hit in each layer.
#include <benchmark/benchmark.h>

#include <filesystem>

#include "fatlink/linker.hpp"

using namespace fatlink;

namespace {

/// A temporary folder, removed at the end.
class scratch {
 public:
  scratch()
  {
    auto pattern = (std::filesystem::temp_directory_path() / "fatlink-bench-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~scratch() { std::filesystem::remove_all(path_); }
  scratch(scratch const&) = delete;
  scratch& operator=(scratch const&) = delete;
  [[nodiscard]] cache_settings settings() const
  {
    cache_settings found;
    found.folder = path_ / "cache";
    return found;
  }

 private:
  std::filesystem::path path_;
};

std::vector<fatbin> const& shipped()
{
  static std::vector<fatbin> const pair{fatbin::read(FATLINK_DATA_DIR "/apply_transform.fatbin"),
                                        fatbin::read(FATLINK_DATA_DIR "/relu_poly.fatbin")};
  return pair;
}

link_options const k_options{.target = "sm_90", .mode = link_mode::lto, .emit = image_kind::cubin};

link_cache::product link_of_8_kib()
{
  return {{byte_buffer(8192), {}}};
}

void memory_hit(benchmark::State& state)
{
  scratch const folder;
  link_cache cache(folder.settings());
  auto const key =
      link_key(shipped(), k_options, "13.0 157d67e654e020e4bc581f362fe42f752181ddda 98806736");
  cache.find_or_make(key, link_of_8_kib);
  for (auto _ : state) benchmark::DoNotOptimize(cache.find_or_make(key, link_of_8_kib));
}
BENCHMARK(memory_hit);
BENCHMARK(memory_hit)->Threads(4);

void folder_hit(benchmark::State& state)
{
  scratch const folder;
  auto settings = folder.settings();
  settings.memory_limit = 1;
  link_cache cache(settings);
  // Two links, of which memory keeps only the last.
  cache_key const keys[] = {cache_key().add("key", "a"), cache_key().add("key", "b")};
  for (auto const& key : keys) cache.find_or_make(key, link_of_8_kib);
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(cache.find_or_make(keys[i++ % 2], link_of_8_kib));
}
BENCHMARK(folder_hit);

void key_of_hashed_inputs(benchmark::State& state)
{
  for (auto const& input : shipped()) (void)input.digest();
  for (auto _ : state) benchmark::DoNotOptimize(link_key(shipped(), k_options, "13.0"));
}
BENCHMARK(key_of_hashed_inputs);

void locate_nvjitlink(benchmark::State& state)
{
  for (auto _ : state) benchmark::DoNotOptimize(nvjitlink::locate());
}
BENCHMARK(locate_nvjitlink);

/// All of linker::link, preflight included, with the link in memory.
void link_hit(benchmark::State& state)
{
  scratch const folder;
  linker linker({.cache = std::make_shared<link_cache>(folder.settings())});
  (void)linker.link(shipped(), k_options);
  for (auto _ : state) benchmark::DoNotOptimize(linker.link(shipped(), k_options));
}
BENCHMARK(link_hit);

}  // namespace

BENCHMARK_MAIN();
