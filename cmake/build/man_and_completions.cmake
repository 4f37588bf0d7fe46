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

# The arguments of .IR that name an install folder: the italic prefix and the rest, or an absolute path.
function(_fatlink_man_folder folder out)
  string(REPLACE "-" "\\-" text "${folder}")
  if(IS_ABSOLUTE "${folder}")
    set(${out} "\"\" ${text}" PARENT_SCOPE)
  else()
    set(${out} "PREFIX /${text}" PARENT_SCOPE)
  endif()
endfunction()
_fatlink_man_folder("${CMAKE_INSTALL_DATADIR}/fatlink" man_data)
_fatlink_man_folder("${CMAKE_INSTALL_LIBEXECDIR}" man_libexec)

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
