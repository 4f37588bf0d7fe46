// SPDX-License-Identifier: Apache-2.0
// Linked into the programs of the Python wheel only, with --wrap: the start files of glibc 2.34 and
// newer leave it to the C library to run a program's constructors, which older ones do not do.
extern "C" {

// NOLINTBEGIN(bugprone-reserved-identifier): names of the linker and the start files.

using main_function = int(int, char**, char**);
using initializer = void(int, char**, char**);

extern initializer* const __init_array_start[] __attribute__((visibility("hidden")));
extern initializer* const __init_array_end[] __attribute__((visibility("hidden")));
void _init();

int __real___libc_start_main(main_function* main, int argc, char** argv, initializer* init,
                             void (*fini)(), void (*loader_fini)(), void* stack_end);
int __wrap___libc_start_main(main_function* main, int argc, char** argv, initializer* init,
                             void (*fini)(), void (*loader_fini)(), void* stack_end);

static void run_initializers(int argc, char** argv, char** environment)
{
  ::_init();
  for (auto const* i = __init_array_start; i != __init_array_end; ++i)
    (*i)(argc, argv, environment);
}

/// Newer C libraries run the initializers only if they are given no function. The loader runs the
/// finalizers.
int __wrap___libc_start_main(main_function* main, int argc, char** argv, initializer* /*init*/,
                             void (*fini)(), void (*loader_fini)(), void* stack_end)
{
  return __real___libc_start_main(main, argc, argv, &run_initializers, fini, loader_fini,
                                  stack_end);
}

// NOLINTEND(bugprone-reserved-identifier)
}
