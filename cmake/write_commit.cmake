cmake_minimum_required(VERSION 3.25)
# Writes OUTPUT with the commit of SOURCE_DIR, only when it changed (run at every build).
execute_process(
  COMMAND git describe --always --dirty --abbrev=12 --exclude=*
  WORKING_DIRECTORY "${SOURCE_DIR}"
  OUTPUT_VARIABLE commit
  OUTPUT_STRIP_TRAILING_WHITESPACE
  ERROR_QUIET)
if(NOT commit)
  set(commit "unknown")
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT "#define VLEARN_COMMIT \"@commit@\"\n" @ONLY)
