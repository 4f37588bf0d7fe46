# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
man_and_completions
-------------------
The manual page and the completions of three shells, where each looks for them.

``FATLINK_ZSH_COMPLETIONS_DIR``
  Zsh alone has a folder for packages on Debian, and one for everybody elsewhere.
#]=======================================================================]
if(EXISTS "/etc/debian_version")
  set(zsh_folder vendor-completions)
else()
  set(zsh_folder site-functions)
endif()
set(FATLINK_ZSH_COMPLETIONS_DIR "${CMAKE_INSTALL_DATADIR}/zsh/${zsh_folder}" CACHE STRING
    "Folder for zsh's completions, in the prefix")

# In the build tree, too: man -M share/man fatlink.
configure_file(man/fatlink.1.in "${PROJECT_BINARY_DIR}/share/man/man1/fatlink.1" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/share/man/man1/fatlink.1"
  DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT runtime)
install(FILES completions/fatlink.bash RENAME fatlink
  DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" COMPONENT runtime)
install(FILES completions/_fatlink
  DESTINATION "${FATLINK_ZSH_COMPLETIONS_DIR}" COMPONENT runtime)
install(FILES completions/fatlink.fish
  DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" COMPONENT runtime)
