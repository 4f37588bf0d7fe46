# SPDX-License-Identifier: 0BSD
"""Blends two arrays. fatlink finds the library without an import of this module:

    fatlink.load("blend", "screen_blend").run(a=a, b=b, out=out)"""
