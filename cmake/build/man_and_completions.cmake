# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
man_and_completions
-------------------
Makes the manual page, share/man/man1/fatlink.1 of the build folder, from man/fatlink.1.in and what the program states
of its options: the target ``fatlink_manual``. A cross build runs the program in CMAKE_CROSSCOMPILING_EMULATOR, as it
does for the fatbins. Installs the page, and the completions of three shells in the folder that each shell searches.

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
set(manual "${PROJECT_BINARY_DIR}/share/man/man1/fatlink.1")
configure_file(man/fatlink.1.in fatlink.1.in @ONLY)
add_custom_command(OUTPUT "${manual}"
  COMMAND "${CMAKE_COMMAND}" -E make_directory "${PROJECT_BINARY_DIR}/share/man/man1"
  COMMAND fatlink_program --manual "${CMAKE_CURRENT_BINARY_DIR}/fatlink.1.in" > "${manual}"
  DEPENDS fatlink_program "${CMAKE_CURRENT_BINARY_DIR}/fatlink.1.in"
  COMMENT "Writing the manual page")
add_custom_target(fatlink_manual DEPENDS "${manual}")

if(FATLINK_INSTALL AND NOT FATLINK_WHEEL)
  set_target_properties(fatlink_manual PROPERTIES EXCLUDE_FROM_ALL OFF)
  install(FILES "${manual}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT runtime)
  install(FILES completions/fatlink.bash RENAME fatlink
    DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" COMPONENT runtime)
  install(FILES completions/_fatlink
    DESTINATION "${FATLINK_ZSH_COMPLETIONS_DIR}" COMPONENT runtime)
  install(FILES completions/fatlink.fish
    DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" COMPONENT runtime)
endif()
