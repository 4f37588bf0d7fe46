// SPDX-License-Identifier: Apache-2.0
// Links the installed pair in the helper, runs it on the reference device, and checks the results.
#include <fatlink/cache.hpp>
#include <fatlink/device.hpp>

#include <cstdio>
#include <string>
#include <vector>

namespace {

std::vector<float> run(fatlink::device const& device, fatlink::loaded_module const& module,
                       std::vector<float> values)
{
  auto const kernel = module.kernel<void(float const*, float*, std::size_t)>("apply_transform");
  auto input = device.allocate<float>(values.size());
  auto output = device.allocate<float>(values.size());
  auto stream = device.create_stream();
  input.write(values, stream);
  kernel.launch(stream, fatlink::elementwise_shape(values.size()), input.data(), output.data(),
                values.size());
  output.read(values, stream);
  stream.synchronize();
  return values;
}

}  // namespace

int main(int, char** arguments)
try {
  auto const share = std::string(arguments[1]);
  std::vector const inputs{fatlink::fatbin::find(share + "/apply_transform.fatbin"),
                           fatlink::fatbin::find(share + "/relu_poly.fatbin")};
  auto const device = fatlink::open_device("cpu");
  fatlink::linker linker(
      {.cache = std::make_shared<fatlink::link_cache>(fatlink::default_cache_settings())});
  for (auto const mode : {fatlink::link_mode::ptx, fatlink::link_mode::lto}) {
    auto const image = linker.link(inputs, device->link_options(mode));
    auto const results = run(*device, device->load(image), {-1, 0, 1, 2});
    if (results != std::vector<float>{0, 0, 3, 9}) return 1;
    std::printf("%s: %zu bytes, right, cache %s\n", to_string(mode), image.bytes.size(),
                to_string(image.cache));
  }
  return 0;
} catch (fatlink::error const& failure) {
  std::fprintf(stderr, "%s\n%s\n", failure.what(), failure.details().hint.c_str());
  return 2;
}
