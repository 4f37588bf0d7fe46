# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
merge_json
----------
Joins the objects of two JSON files, which ``fatlink inspect`` has checked.

  fatlink_merge_json(<reference> <plan> <result>)

Sets ``<result>`` in the caller to the text of one object with the members of both files. An empty path is an
empty object. Where both have a member, as they may have ``name`` and ``summary``, it is that of the plan.
#]=======================================================================]
include_guard(GLOBAL)

function(fatlink_merge_json reference plan result)
  set(first "{}")
  if(reference)
    file(READ "${reference}" first)
  endif()
  if(NOT plan)
    set(${result} "${first}" PARENT_SCOPE)
    return()
  endif()
  file(READ "${plan}" second)
  foreach(member IN ITEMS name summary)
    string(JSON rest ERROR_VARIABLE error REMOVE "${first}" ${member})
    if(NOT error)
      set(first "${rest}")
    endif()
  endforeach()
  string(JSON count LENGTH "${first}")
  if(count EQUAL 0)
    set(${result} "${second}" PARENT_SCOPE)
    return()
  endif()
  # As text: members that are copied by string(JSON) would lose their escapes.
  string(REGEX REPLACE "}[ \t\r\n]*$" "" first "${first}")
  string(REGEX REPLACE "^[ \t\r\n]*{" "" second "${second}")
  set(${result} "${first},${second}" PARENT_SCOPE)
endfunction()
