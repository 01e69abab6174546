# Finds oneDNN as OneDNN::dnnl. On x86-64 it is in the Python package onednn-devel-cpu-gomp of the running interpreter;
# PyPI has none for other processors, so there it is the system's libdnnl-dev. The package's own record lists its files,
# so this works in a virtual environment, in pip's isolated build environment (where sys.prefix is another one) and in a
# user installation; OneDNN_LIBRARY and OneDNN_LICENSES are then the files to ship.

execute_process(
  COMMAND "${Python_EXECUTABLE}" -c [=[
import importlib.metadata, os
def locate(distribution, ending):
    files = importlib.metadata.distribution(distribution).files or []
    return next(os.path.realpath(f.locate()) for f in files if f.as_posix().endswith(ending))
header = locate("onednn-devel-cpu-gomp", "/include/oneapi/dnnl/dnnl.h")
print(os.path.dirname(os.path.dirname(os.path.dirname(header))))
print(locate("onednn-cpu-gomp", "/libdnnl.so.3"))
print(locate("onednn-cpu-gomp", "/onednn/LICENSE"))
print(locate("onednn-cpu-gomp", "/onednn/THIRD-PARTY-PROGRAMS"))
]=]
  OUTPUT_VARIABLE location OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  message(FATAL_ERROR "oneDNN is missing from the Python environment of ${Python_EXECUTABLE}; install it with: "
                      "${Python_EXECUTABLE} -m pip install onednn-devel-cpu-gomp.")
elseif(failed)
  set(OneDNN_LICENSES)
  find_path(OneDNN_INCLUDE_DIR oneapi/dnnl/dnnl.hpp)
  find_library(OneDNN_LIBRARY dnnl)
  set(OneDNN_VERSION 0)
  if(OneDNN_INCLUDE_DIR AND OneDNN_LIBRARY)
    file(STRINGS "${OneDNN_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h" version REGEX "define DNNL_VERSION_M(AJ|IN)OR")
    string(REGEX REPLACE "[^0-9;]" "" version "${version}")
    list(JOIN version "." OneDNN_VERSION)
  endif()
  if(OneDNN_VERSION VERSION_LESS 3.2)
    message(FATAL_ERROR "oneDNN 3.2 or newer is missing; install it with: apt-get install libdnnl-dev "
                        "(Debian 13 or newer).")
  endif()
else()
  string(REPLACE "\n" ";" location "${location}")
  list(GET location 0 OneDNN_INCLUDE_DIR)
  list(GET location 1 OneDNN_LIBRARY)
  list(SUBLIST location 2 2 OneDNN_LICENSES)
endif()

add_library(OneDNN::dnnl SHARED IMPORTED)
set_target_properties(OneDNN::dnnl PROPERTIES IMPORTED_LOCATION "${OneDNN_LIBRARY}")
target_include_directories(OneDNN::dnnl SYSTEM INTERFACE "${OneDNN_INCLUDE_DIR}")
set(OneDNN_FOUND TRUE)
