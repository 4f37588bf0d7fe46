# SPDX-License-Identifier: Apache-2.0
"""Which kernel `run` executes, which it refuses, and that its grid covers every element."""
from fatlink_cli import LIBRARY, SHARE, CliTest

HOOK = 'extern "C" __device__ float user_transform(float x);\n'
INDEX = "size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;"
PLAIN = (f'extern "C" __global__ void %s(const float* in, float* out, size_t n) '
         f"{{ {INDEX} if (i < n) out[i] = user_transform(in[i]); }}\n")
FEWER = 'extern "C" __global__ void fewer(float* out) { *out = user_transform(1); }\n'
SCALED = ('extern "C" __global__ void scaled(const float* in, float* out, float scale, size_t n) '
          f"{{ {INDEX} if (i < n) out[i] = scale * user_transform(in[i]); }}\n")
NARROW = ('extern "C" __global__ void narrow(const float* in, float* out, unsigned n) '
          f"{{ {INDEX} if (i < n) out[i] = user_transform(in[i]); }}\n")
REAL = ('extern "C" __global__ void real(const float* in, float* out, double n) '
        f"{{ {INDEX} if (i < n) out[i] = user_transform(in[i]); }}\n")


class RunKernels(CliTest):
    def library(self, *kernels, options=()):
        return self.compile("own", HOOK + "".join(kernels), *(options or ("-dlto", "-arch=sm_75")))

    def run_own(self, *words, **options):
        return self.fatlink_json("run", "--device", "cpu", "--library", "own.fatbin",
                                 "--transform", SHARE / "identity.fatbin", *words, **options)

    def assert_refused(self, *words, says, hint):
        done = self.assert_fails(2, "run", "--device", "gpu:77", "--library", "own.fatbin",
                                 "--transform", SHARE / "identity.fatbin", *words, says=says, hint=hint)
        self.assertEqual(list(self.cache.iterdir()), [], "something was linked")
        return done

    def test_a_kernel_of_one_element_a_thread_processes_every_element(self):
        self.library(PLAIN % "plain")
        for count in (1, 255, 256, 257, 65536, 100_001):
            with self.subTest(count=count):
                said = self.run_own("--kernel", "plain", "--elements", count)
                self.assertEqual([mode["verified"] for mode in said["modes"]], [True, True])

    def test_launch_bounds_limit_the_block(self):
        bounded = (PLAIN % "plain").replace("void plain", "void __launch_bounds__(64) plain")
        self.library(bounded)
        said = self.run_own("--elements", 1000)
        self.assertEqual([mode["verified"] for mode in said["modes"]], [True, True])  # 256 threads would be refused

    def test_a_required_block_is_used_and_its_first_dimension_covers_every_element(self):
        # Hopper's attribute is the one that makes nvcc write .reqntid.
        required = (PLAIN % "plain").replace("void plain", "void __block_size__((32, 2, 1)) plain")
        self.library(required, options=("-dlto", "-arch=sm_90"))
        said = self.run_own("--elements", 1000)
        self.assertTrue(said["modes"][0]["verified"])

    def test_fewer_parameters_are_refused_before_anything_is_linked(self):
        self.library(FEWER, PLAIN % "plain")
        self.assert_refused("--kernel", "fewer",
                            says=["kernel fewer(u64)", "own.fatbin", "(const float*, float*, size_t)"],
                            hint="--kernel plain")

    def test_more_parameters_are_refused_before_anything_is_linked(self):
        self.library(SCALED)
        self.assert_refused("--kernel", "scaled", says=["kernel scaled(u64, u64, f32, u64)", "own.fatbin"],
                            hint="no kernel of own.fatbin has these parameters")

    def test_other_sizes_and_types_are_refused_before_anything_is_linked(self):
        self.library(NARROW, REAL, PLAIN % "first", PLAIN % "second")
        self.assert_refused("--kernel", "narrow", says=["kernel narrow(u64, u64, u32)"], hint="--kernel first or --kernel second")
        self.assert_refused("--kernel", "real", says=["kernel real(u64, u64, f64)"], hint="--kernel first or --kernel second")

    def test_the_only_kernel_of_a_library_is_executed_without_being_named(self):
        self.library(PLAIN % "plain")
        said = self.run_own()
        self.assertEqual(said["kernels"], ["plain"])
        self.assertTrue(said["modes"][1]["verified"])

    def test_the_only_kernel_is_refused_where_its_parameters_differ(self):
        self.library(SCALED)
        self.assert_refused(says=["kernel scaled(u64, u64, f32, u64)"], hint="no kernel")

    def test_of_several_kernels_apply_transform_is_executed_without_being_named(self):
        self.library(PLAIN % "apply_transform", PLAIN % "other")
        self.assertEqual(self.run_own()["kernels"], ["apply_transform"])

    def test_one_of_several_kernels_must_be_named(self):
        self.library(PLAIN % "first", FEWER, PLAIN % "second")
        self.assert_refused(says=["own.fatbin", "3 kernels", "none of them apply_transform"], hint="--kernel first")

    def test_a_kernel_that_is_not_there_does_not_link(self):
        self.library(PLAIN % "plain")
        self.assert_fails(4, "run", "--device", "cpu", "--kernel", "nope", "--library", "own.fatbin",
                          "--transform", SHARE / "gelu.fatbin", says=["kernel nope", "[unknown-kernel]"])

    def test_a_kernel_is_not_named_where_a_plan_names_it(self):
        self.assert_fails(2, "run", "--device", "cpu", "--kernel", "nope", "--library", LIBRARY,
                          says=["--kernel nope: the launch plan of apply_transform names its kernels"], hint="leave out --kernel")

    def test_options_of_plans_serve_a_kernel_without_one(self):
        self.library(PLAIN % "plain")
        self.run_own("--set", "n=1000", "--output", "out.npy")
        said = self.run_own("--set", "n=1000", "--expect", "out.npy")
        self.assertEqual([mode["expected"][0]["verified"] for mode in said["modes"]], [True, True])
        self.assertEqual((said["sizes"], said["is_implied"]), ({"n": 1000}, True))

    def test_bench_refuses_a_library_whose_kernel_has_other_parameters(self):
        self.compile("apply_transform", HOOK + SCALED.replace("scaled", "apply_transform"))
        self.assert_fails(2, "bench", "--repeat", 1, "--transform", SHARE / "gelu.fatbin",
                          says=["kernel apply_transform(u64, u64, f32, u64)"], hint="no kernel",
                          env={"FATLINK_PATH": str(self.folder)})
