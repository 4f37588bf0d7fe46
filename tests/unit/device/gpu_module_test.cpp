// SPDX-License-Identifier: Apache-2.0
// Images on a GPU, with a driver in whose place the test answers: which handles a module has, and
// what it does when the driver refuses a call.
#include "device/gpu_module.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "expect_error.hpp"
#include "fatlink/image.hpp"

using namespace fatlink;
using fatlink::detail::gpu_module;

namespace {

template <typename Handle>
Handle handle_of(std::uintptr_t number)
{
  return reinterpret_cast<Handle>(number);  // NOLINT(performance-no-int-to-ptr)
}

auto const k_library = handle_of<CUlibrary>(0x10);
auto const k_module = handle_of<CUmodule>(0x20);
auto const k_kernel = handle_of<CUkernel>(0x30);
auto const k_function = handle_of<CUfunction>(0x40);

/// What the driver answers, and what it was asked.
struct module_driver {
  CUresult load = CUDA_SUCCESS;
  CUresult get_module = CUDA_SUCCESS;
  CUresult get_kernel = CUDA_SUCCESS;
  CUresult get_function = CUDA_SUCCESS;
  char* log = nullptr;
  CUlibrary unloaded = nullptr;
  CUfunction loaded = nullptr;
};
module_driver module_calls;

CUresult load_library(CUlibrary* library, void const* /*code*/, CUjit_option* /*options*/,
                      void** values, unsigned /*count*/, CUlibraryOption* /*options*/,
                      void** /*values*/, unsigned /*count*/)
{
  module_calls.log = static_cast<char*>(values[0]);
  if (module_calls.load != CUDA_SUCCESS) std::strcpy(module_calls.log, "the driver's log");
  *library = k_library;
  return module_calls.load;
}

CUresult get_module(CUmodule* module, CUlibrary library)
{
  EXPECT_EQ(library, k_library);
  if (module_calls.get_module != CUDA_SUCCESS) std::strcpy(module_calls.log, "the driver's log");
  *module = k_module;
  return module_calls.get_module;
}

CUresult unload_library(CUlibrary library)
{
  module_calls.unloaded = library;
  return CUDA_SUCCESS;
}

CUresult get_kernel(CUkernel* kernel, CUlibrary library, char const* /*name*/)
{
  EXPECT_EQ(library, k_library);
  *kernel = k_kernel;
  return module_calls.get_kernel;
}

CUresult get_function(CUfunction* function, CUkernel kernel)
{
  EXPECT_EQ(kernel, k_kernel);
  *function = k_function;
  return module_calls.get_function;
}

CUresult load_function(CUfunction function)
{
  module_calls.loaded = function;
  return CUDA_SUCCESS;
}

CUresult get_parameter(CUfunction /*function*/, std::size_t /*index*/, std::size_t* /*offset*/,
                       std::size_t* /*size*/)
{
  return CUDA_ERROR_INVALID_VALUE;  // there are no parameters
}

CUresult get_global(CUdeviceptr* address, std::size_t* bytes, CUmodule module, char const* name)
{
  EXPECT_EQ(module, k_module);
  if (std::string(name) != "scale") return CUDA_ERROR_NOT_FOUND;
  *address = 0x1000;
  *bytes = 4;
  return CUDA_SUCCESS;
}

CUresult describe_refusal(CUresult /*code*/, char const** text)
{
  *text = "the reason";
  return CUDA_SUCCESS;
}

class GpuModule : public testing::Test {
 protected:
  void SetUp() override
  {
    module_calls = {};
    api_.library_load = load_library;
    api_.library_get_module = get_module;
    api_.library_unload = unload_library;
    api_.library_get_kernel = get_kernel;
    api_.kernel_get_function = get_function;
    api_.func_load = load_function;
    api_.func_get_param_info = get_parameter;
    api_.module_get_global = get_global;
    api_.get_error_name = describe_refusal;
    api_.get_error_string = describe_refusal;
    info_.kind = device_kind::gpu;
    info_.name = "the GPU";
    image_.kind = image_kind::cubin;
  }

  void expect_refused_with_log()
  {
    try {
      gpu_module const module(api_, info_, image_);
      ADD_FAILURE() << "loaded";
    } catch (device_error const& failed) {
      EXPECT_THAT(failed.what(), testing::HasSubstr("loading the linked image on the GPU failed"));
      EXPECT_EQ(failed.details().log, "the driver's log");
    }
  }

  detail::driver api_{};
  device_info info_;
  linked_image image_;
};

}  // namespace

TEST_F(GpuModule, HasALibraryOfAllContextsAndFunctionsOfItsOwn)
{
  gpu_module module(api_, info_, image_);
  EXPECT_EQ(module.library(), k_library);
  auto const& kernel = module.find_kernel("scale");
  EXPECT_EQ(kernel.native_kernel(), k_kernel);
  EXPECT_EQ(kernel.function(), k_function);
  EXPECT_EQ(module_calls.loaded, k_function);
  EXPECT_EQ(&module.find_kernel("scale"), &kernel);
}

TEST_F(GpuModule, FindsVariablesInItsContext)
{
  gpu_module const module(api_, info_, image_);
  auto const variable = module.find_variable("scale");
  EXPECT_EQ(variable.address, 0x1000U);
  EXPECT_EQ(variable.bytes, 4U);
  expect_error<file_error>([&] { (void)module.find_variable("offset"); },
                           "variable offset is not in the linked image");
}

TEST_F(GpuModule, IsUnloadedAsALibrary)
{
  {
    gpu_module module(api_, info_, image_);
    EXPECT_EQ(module_calls.unloaded, nullptr);
    module.unload();
  }
  EXPECT_EQ(module_calls.unloaded, k_library);
}

TEST_F(GpuModule, ReportsAnImageThatTheDriverRefuses)
{
  module_calls.load = CUDA_ERROR_INVALID_IMAGE;
  expect_refused_with_log();
  EXPECT_EQ(module_calls.unloaded, nullptr);
}

TEST_F(GpuModule, ReportsAnImageThatItsContextRefusesAndUnloadsIt)
{
  module_calls.get_module = CUDA_ERROR_NO_BINARY_FOR_GPU;
  expect_refused_with_log();
  EXPECT_EQ(module_calls.unloaded, k_library);
}

TEST_F(GpuModule, ReportsKernelsThatTheImageLacks)
{
  gpu_module module(api_, info_, image_);
  module_calls.get_kernel = CUDA_ERROR_NOT_FOUND;
  expect_error<file_error>([&] { (void)module.find_kernel("scale"); },
                           "kernel scale is not in the linked image");
}

TEST_F(GpuModule, ReportsKernelsThatTheDriverCannotLoad)
{
  gpu_module module(api_, info_, image_);
  module_calls.get_function = CUDA_ERROR_OUT_OF_MEMORY;
  expect_error<device_error>([&] { (void)module.find_kernel("scale"); },
                             "loading the kernel scale failed: the reason");
}
