# SPDX-License-Identifier: Apache-2.0
"""A shipped fatbin has the same bytes in whatever folder the project is. The long test package.reproducible compares all
packages."""
import os
import shutil
import subprocess
import unittest

from build_side import BUILD, CMAKE, SOURCE, BuildSide

SETTINGS = BUILD / "kernels/transforms/add_float.settings.cmake"


class Reproducible(BuildSide):
    def compiled_in(self, checkout):
        """The bytes of a transform, compiled in a copy of what it is compiled of."""
        shutil.copytree(SOURCE / "kernels", checkout / "kernels")
        contracts = BUILD / "kernels/algorithms/sized_contracts"
        shutil.copytree(contracts, checkout / contracts.relative_to(SOURCE))
        settings = SETTINGS.read_text().replace(str(SOURCE), str(checkout))
        for hooks in (BUILD / "kernels/algorithms").glob("fatlink_contract_*_hooks.cmake"):
            shutil.copy(hooks, checkout / hooks.relative_to(SOURCE))
        (checkout / "settings.cmake").write_text(settings)
        environment = {name: text for name, text in os.environ.items() if name != "FATLINK_NVCC_CACHE"}
        subprocess.run([CMAKE, f"-DSETTINGS={checkout}/settings.cmake", f"-DINSPECT={BUILD}/bin/fatlink",
                        "-P", SOURCE / "cmake/detail/fatbin/compile_fatbin.cmake"], check=True, env=environment)
        built, = checkout.rglob("add_float.fatbin")
        return built.read_bytes()

    @unittest.skipUnless(SOURCE in BUILD.parents and SETTINGS.exists(), "the build folder is not in the project")
    def test_fatbins_do_not_depend_on_the_folder(self):
        self.assertEqual(self.compiled_in(self.folder / "one"), self.compiled_in(self.folder / "another/longer place"))


if __name__ == "__main__":
    unittest.main()
