# What `cmake --install` puts where, so that find_package(vlearn) works elsewhere.
include(CMakePackageConfigHelpers)

install(TARGETS vlearn EXPORT vlearn)
install(DIRECTORY include/vlearn DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/vlearn)
install(EXPORT vlearn NAMESPACE vlearn:: FILE vlearn-targets.cmake DESTINATION ${config_dir})
configure_package_config_file(cmake/vlearn-config.cmake.in vlearn-config.cmake
                              INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(vlearn-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/vlearn-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/vlearn-config-version.cmake DESTINATION ${config_dir})
