# SPDX-License-Identifier: Apache-2.0
"""CUDA device code that is linked at run time: libraries with hooks, and transforms that fill them."""
