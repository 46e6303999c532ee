# Manual pages and completion are in the sources, as the command printed them (`make manual`): nothing built is run here, so
# that forebay can be built for another machine. tests/commands proves that they are what the command says now.
file(GLOB pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/man/*.1)
install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
set(completion ${CMAKE_SOURCE_DIR}/docs/completion)
install(FILES ${completion}/forebay.bash RENAME forebay DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${completion}/_forebay DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${completion}/forebay.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
