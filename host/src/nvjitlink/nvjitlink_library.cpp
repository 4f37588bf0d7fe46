// SPDX-License-Identifier: Apache-2.0
#include "nvjitlink/nvjitlink_library.hpp"

namespace fatlink::detail {

vendor_library const& nvjitlink_library()
{
  // Used while static objects are destroyed.
  static auto const& library = *new vendor_library{
      .title = "nvJitLink",
      .name = "libnvJitLink.so.13",
      .variable = "FATLINK_NVJITLINK",
      .major = 13,
      .folders = {"lib64", "lib", "targets/x86_64-linux/lib"},
      .wheel_folder = "lib",
      .functions = {"nvJitLinkCreate", "nvJitLinkDestroy", "nvJitLinkAddData", "nvJitLinkComplete",
                    "nvJitLinkGetLinkedCubin", "nvJitLinkGetLinkedPtx", "nvJitLinkGetErrorLog",
                    "nvJitLinkGetInfoLog", "nvJitLinkVersion"},
      .versioned_name = "nvJitLinkCreate",
      .remedy =
          "install CUDA 13's nvJitLink (Debian, Ubuntu: libnvjitlink-13-0; in an active Python "
          "environment: pip install nvidia-nvjitlink), or set FATLINK_NVJITLINK to its "
          "libnvJitLink.so.13",
      .unavailable = error_code::nvjitlink_unavailable,
      .origin = stage::linker};
  return library;
}

}  // namespace fatlink::detail
