// SPDX-License-Identifier: Apache-2.0
// Passes transforms to cuFFT as LTO callbacks, which cuFFT links into its kernels (docs/cufft.md).
// Header only: it includes <cufftXt.h> of the program's own cuFFT 12 (CUDA 13), to which the
// program links. Threads: an object is used by one thread at a time.
#pragma once

#include <cufftXt.h>

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "fatlink/error.hpp"
#include "fatlink/finding.hpp"
#include "fatlink/input.hpp"
#include "fatlink/preflight.hpp"
#include "fatlink/target.hpp"

#if CUFFT_VERSION < 12000
#error "fatlink/cufft.hpp needs cuFFT 12, which is part of CUDA 13"
#endif

namespace fatlink {

/// A callback and its info, for one plan. cuFFT reads both when the plan is made, so the object
/// must exist until cufftMakePlan… has returned.
class cufft_callback {
 public:
  /// Takes the fatbin of `code` and checks it, before cuFFT reads it: it must define the callback
  /// of `type` with cuFFT's name and types, and have LTO-IR that links for `gpu`, the target of the
  /// GPU that runs the plan. The check needs fatlink's installed libraries (cufft_load_complex, …).
  /// `info` is the address in the GPU's memory that the callback gets as its info; it must be valid
  /// whenever the plan runs.
  /// @throws refused_error the check found an error.
  /// @throws usage_error `type` is not the type of a callback, or `code` has several modules.
  /// @throws file_error, format_error as input::find and preflight.
  cufft_callback(input code, cufftXtCallbackType type, target gpu, void* info = nullptr)
      : code_(std::move(code)), type_(type), info_(info)
  {
    auto const request = preflight_request{.target = gpu, .mode = link_mode::lto};
    auto findings = preflight(std::vector{input::find(library_of(type)), code_}, request);
    if (!findings.empty() && findings.front().severity == severity::error)
      throw refused_error(gpu, std::move(findings));
    if (code_.modules().size() != 1)
      throw usage_error({.message = code_.name() + " has several modules; cuFFT takes one",
                         .input = code_.name(),
                         .code = error_code::invalid_argument,
                         .hint = "pass the fatbin or object that defines the callback"});
  }
  cufft_callback(cufft_callback const&) = delete;
  cufft_callback& operator=(cufft_callback const&) = delete;

  /// Sets the callback of `plan`, after cufftCreate and before cufftMakePlan….
  /// @throws device_error cuFFT refuses it.
  void set(cufftHandle plan)
  {
    auto const bytes = code_.modules().front().bytes();
    // Without a name, cuFFT calls the function with the name of `type`.
    auto const result =
        cufftXtSetJITCallback(plan, nullptr, bytes.data(), bytes.size(), type_, &info_);
    if (result != CUFFT_SUCCESS)
      throw device_error(
          stage::device,
          {.message = code_.name() + ": cufftXtSetJITCallback returned " + std::to_string(result),
           .input = code_.name(),
           .code = vendor_code("cufftResult " + std::to_string(result)),
           .hint = "set callbacks after cufftCreate and before cufftMakePlan…"});
  }

 private:
  /// The installed library with the contract of the callback.
  static std::string library_of(cufftXtCallbackType type)
  {
    constexpr std::array names{"load_complex",     "load_double_complex", "load_real",
                               "load_double_real", "store_complex",       "store_double_complex",
                               "store_real",       "store_double_real"};
    auto const index = static_cast<std::size_t>(type);
    if (index >= names.size())
      throw usage_error({.message = "no callback has the type " + std::to_string(index),
                         .input = std::to_string(index),
                         .code = error_code::invalid_argument,
                         .hint = "pass CUFFT_CB_LD_COMPLEX to CUFFT_CB_ST_REAL_DOUBLE"});
    return std::string("cufft_") + names[index];
  }

  input code_;
  cufftXtCallbackType type_;
  void* info_;
};

}  // namespace fatlink
