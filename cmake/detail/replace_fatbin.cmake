# SPDX-License-Identifier: Apache-2.0
# The last build step of fatlink_add_fatbin:
#   cmake -DBUILT=<built fatbin> -DFATBIN=<fatbin> -P replace_fatbin.cmake
# Replaces FATBIN and its .json by BUILT and its .json: both are copied to temporary names beside the destination, then
# renamed. So each of the two is there at any time, complete. The .json is renamed first: a fatbin that is new is found
# with its .json. Between the two renames readers refuse the pair (digest-mismatch), and fatlink::watch waits.
# A step of its own because ninja removes the outputs of an interrupted step that has a dependency file.
cmake_minimum_required(VERSION 3.25)

cmake_path(GET FATBIN PARENT_PATH folder)
file(MAKE_DIRECTORY "${folder}")
foreach(variable IN ITEMS BUILT FATBIN)
  cmake_path(REPLACE_EXTENSION ${variable} LAST_ONLY json OUTPUT_VARIABLE ${variable}_json)
endforeach()

# refuse_failed(<result>...): ends the step, without temporary files, if one of the results is an error.
function(refuse_failed)
  foreach(error IN LISTS ARGV)
    if(error)
      file(REMOVE "${fatbin}" "${json}")
      message(FATAL_ERROR "${FATBIN} was not replaced: ${error}")
    endif()
  endforeach()
endfunction()

set(fatbin "${FATBIN}.partial")
set(json "${FATBIN_json}.partial")
file(COPY_FILE "${BUILT}" "${fatbin}" RESULT fatbin_error)
file(COPY_FILE "${BUILT_json}" "${json}" RESULT json_error)
refuse_failed("${fatbin_error}" "${json_error}")
file(RENAME "${json}" "${FATBIN_json}" RESULT json_error)
refuse_failed("${json_error}")
file(RENAME "${fatbin}" "${FATBIN}" RESULT fatbin_error)
refuse_failed("${fatbin_error}")
