// SPDX-License-Identifier: 0BSD
// The library's program: mixes two signals by a transform, on a device.
//   mix_signals [DEVICE [TRANSFORM]]     gpu, gpu:1, cpu; a name or file, default linear_mix
// It finds the library's fatbins in share/fatlink beside its own folder, where they are installed.
#include <fatlink/cache.hpp>
#include <fatlink/prepare.hpp>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

int main(int count, char** words)
try {
  std::vector<float> const left{1, 2, 3};
  std::vector<float> const right{4, 5, 6};
  auto const device = fatlink::open_device(count > 1 ? words[1] : "gpu");
  std::string const transform = count > 2 ? words[2] : "linear_mix";
  auto stream = device->create_stream();
  auto a = device->allocate<float>(left.size());
  auto b = device->allocate<float>(right.size());
  auto mixed = device->allocate<float>(left.size());
  a.write(left, stream);
  b.write(right, stream);

  fatlink::linker linker(
      {.cache = std::make_shared<fatlink::link_cache>(fatlink::default_cache_settings())});
  auto const mix = fatlink::prepare(*device, linker, {.library = "mix", .transforms = {transform}});
  mix.run(stream, {{"left", a}, {"right", b}, {"out", mixed}});

  std::vector<float> result(left.size());
  mixed.read(result, stream);
  stream.synchronize();
  for (auto const value : result) std::printf("%g\n", value);
  return 0;
} catch (fatlink::error const& failure) {
  std::fprintf(stderr, "mix_signals: error: %s\n  hint: %s\n", failure.what(),
               failure.details().hint.c_str());
  return 1;
}
