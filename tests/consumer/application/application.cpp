// SPDX-License-Identifier: Apache-2.0
// Links the shipped pair, isolated, runs it on the reference device, and checks a few numbers.
#include <fatlink/cache.hpp>
#include <fatlink/device.hpp>
#include <fatlink/linker.hpp>

#include <cstdio>
#include <string>
#include <vector>

int main(int, char** words)
try {
  auto const share = std::string(words[1]);
  auto const library = fatlink::fatbin::read(share + "/apply_transform.fatbin");
  auto const transform = fatlink::fatbin::read(share + "/relu_poly.fatbin");
  auto const device = fatlink::open_device("cpu");
  fatlink::linker linker(
      {.cache = std::make_shared<fatlink::link_cache>(fatlink::default_cache_settings())});
  for (auto const mode : {fatlink::link_mode::ptx, fatlink::link_mode::lto}) {
    auto const image = linker.link(
        {library, transform},
        {.target = device->info().target, .mode = mode, .emit = device->info().image_for(mode)});
    auto const kernel =
        device->load(image).kernel<float const*, float*, std::size_t>("apply_transform");
    std::vector<float> values{-1, 0, 1, 2};
    auto in = device->allocate<float>(values.size());
    auto out = device->allocate<float>(values.size());
    in.write(values);
    auto stream = device->create_stream();
    kernel.launch(stream, {.grid = 1, .block = 32, .shared_bytes = 0}, in.data(), out.data(),
                  values.size());
    stream.synchronize();
    out.read(values);
    if (values != std::vector<float>{0, 0, 3, 9}) return 1;
    std::printf("%s: %zu bytes, right, cache %s\n", to_string(mode), image.bytes.size(),
                to_string(image.cache));
  }
  return 0;
} catch (fatlink::error const& failed) {
  std::fprintf(stderr, "%s\n%s\n", failed.what(), failed.details().hint.c_str());
  return 2;
}
