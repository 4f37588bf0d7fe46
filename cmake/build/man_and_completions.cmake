# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
man_and_completions
-------------------
Installs the manual page, and the completions of three shells in the folder that each shell searches.

``FATLINK_ZSH_COMPLETIONS_DIR``
  Folder for zsh's completions, relative to the prefix. Debian has a folder for packages, other systems have one
  folder.
#]=======================================================================]
if(EXISTS "/etc/debian_version")
  set(zsh_folder vendor-completions)
else()
  set(zsh_folder site-functions)
endif()
set(FATLINK_ZSH_COMPLETIONS_DIR "${CMAKE_INSTALL_DATADIR}/zsh/${zsh_folder}" CACHE STRING
    "Folder for zsh's completions, relative to the prefix")

# The arguments of the macro .IR for an install folder: PREFIX in italics and the rest, or an absolute path.
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

# The build tree has the page too: man -M share/man fatlink.
configure_file(man/fatlink.1.in "${PROJECT_BINARY_DIR}/share/man/man1/fatlink.1" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/share/man/man1/fatlink.1"
  DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT runtime)
install(FILES completions/fatlink.bash RENAME fatlink
  DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" COMPONENT runtime)
install(FILES completions/_fatlink
  DESTINATION "${FATLINK_ZSH_COMPLETIONS_DIR}" COMPONENT runtime)
install(FILES completions/fatlink.fish
  DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" COMPONENT runtime)
