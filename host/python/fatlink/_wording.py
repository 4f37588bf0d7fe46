# SPDX-License-Identifier: Apache-2.0
"""Says in Python what messages and hints of the library say in C++: `link_options::target` is the argument `target`.

Imported when the first error or warning is made."""
import re

# Names of C++ that have another form here. Members of other options are arguments of the same name.
_NAMES = {
    "link_options::optimization 0": "no_optimization=True",
    "link_options::optimization": "no_optimization",
    "link_mode::lto": 'mode="lto"',
    "link_mode::ptx": 'mode="ptx"',
    "link_mode::sass": 'mode="sass"',
    "ptx_interface::kernels lists": "`fatlink inspect` lists",
    "ptx_interface::variables lists": "`fatlink inspect` lists",
    "image_kind::cubin": 'emit="cubin"',
    "image_kind::ltoir": 'emit="ltoir"',
    "image_kind::relocatable": 'emit="relocatable"',
    "isolation::helper": "fatlink.configure(in_process=False)",
    "isolation::in_process": "fatlink.configure(in_process=True)",
    "device::link_options(mode) of this GPU": "target=fatlink.open_device() of this GPU",
    "fatlink::compiler and compile_options::contract": "fatlink.compile(…, contract=…)",
    "cache_settings::folder": "fatlink.configure(cache_folder=…)",
    "linker_settings::nvjitlink": "fatlink.configure(nvjitlink=…)",
    "linker_settings::time_limit": "fatlink.configure(link_time_limit_ms=…)",
    "compiler_settings::libnvvm": "fatlink.configure(libnvvm=…)",
    "compiler_settings::memory_limit_mib": "fatlink.configure(compile_memory_limit_mib=…)",
    "compiler_settings::nvrtc": "fatlink.configure(nvrtc=…)",
    "compiler_settings::time_limit": "fatlink.configure(compile_time_limit_ms=…)",
    "link_and_load": "fatlink.LiveModule",
    "cpu_options::instruction_budget": 'fatlink.open_device("cpu", instruction_budget=…)',
}
_PATTERN = re.compile("|".join(map(re.escape, _NAMES)) + r"|\b(?:link_options|compile_options|live_settings)::(\w+)")
# Options of the program, with their names in C++ behind them: "with -I lib (compile_options::include_folders)".
_OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*(?: (?!\()([^\s()]+))? \((?:link|compile)_options::(\w+)\)")


def in_python(message: str) -> str:
    """A message or hint with the names of the Python package."""
    message = _OPTION.sub(lambda found: f"{found[2]}={found[1] and repr(found[1]) or '…'}", message)
    return _PATTERN.sub(lambda found: found[1] or _NAMES[found[0]], message)
