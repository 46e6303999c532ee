# Manual pages and completion are in the sources, as the command printed them: nothing built is run here, so that forebay can
# be built for another machine. tests/commands proves that they are what the command says now; the target manual writes them.
file(GLOB pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/man/*.1)
install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
set(completion ${CMAKE_SOURCE_DIR}/docs/completion)
install(FILES ${completion}/forebay.bash RENAME forebay DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${completion}/_forebay DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${completion}/forebay.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

set(written ${CMAKE_SOURCE_DIR}/docs)
add_custom_target(manual COMMENT "docs/man and docs/completion"
  COMMAND forebay man --into ${written}/man
  COMMAND forebay completion bash > ${written}/completion/forebay.bash
  COMMAND forebay completion zsh > ${written}/completion/_forebay
  COMMAND forebay completion fish > ${written}/completion/forebay.fish)
