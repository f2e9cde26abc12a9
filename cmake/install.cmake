# The engine as a library for other programs: `cmake --install` puts base and core there, for find_package(taut).
#
# One archive of what the two modules consist of already, without the allocation counter: that one replaces malloc, which
# is for the program to decide and not for a library. Users write #include <taut/core/spsc_ring.h>; inside, the headers
# include each other as "core/…", so both folders are on the path.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set_source_files_properties(src/core/allocation_counter.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
add_library(taut_engine STATIC
            $<TARGET_OBJECTS:taut_base>
            $<FILTER:$<TARGET_OBJECTS:taut_core>,EXCLUDE,allocation_counter>)
set_target_properties(taut_engine PROPERTIES OUTPUT_NAME taut EXPORT_NAME taut LINKER_LANGUAGE CXX)
target_compile_features(taut_engine INTERFACE cxx_std_23)
target_include_directories(taut_engine INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
                                                 $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/taut>)
target_link_libraries(taut_engine INTERFACE Threads::Threads spdlog::spdlog Boost::headers)
# Debug checks change the size of classes in headers: the user's files must agree with the archive.
if(CMAKE_CXX_FLAGS MATCHES "-DTAUT_DEBUG=1")
  target_compile_definitions(taut_engine INTERFACE TAUT_DEBUG=1)
endif()

foreach(module base core)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/src/${module} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/taut COMPONENT engine
          FILES_MATCHING PATTERN "*.h" PATTERN "allocation_counter.h" EXCLUDE)
endforeach()
install(TARGETS taut_engine EXPORT taut_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT engine)
install(EXPORT taut_targets NAMESPACE taut:: FILE taut-targets.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/taut
        COMPONENT engine)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/taut-config.cmake.in ${CMAKE_BINARY_DIR}/taut-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/taut)
# Before 1.0 every minor version may break what was.
write_basic_package_version_file(${CMAKE_BINARY_DIR}/taut-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/taut-config.cmake ${CMAKE_BINARY_DIR}/taut-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/taut COMPONENT engine)
