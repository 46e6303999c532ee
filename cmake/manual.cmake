# Manual pages and completion come from the command itself, so they are made when it is installed.
install(CODE "
  set(to \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}\")
  set(forebay \"$<TARGET_FILE:forebay>\")
  file(MAKE_DIRECTORY \"\${to}/man/man1\" \"\${to}/bash-completion/completions\" \"\${to}/zsh/site-functions\"
       \"\${to}/fish/vendor_completions.d\")
  execute_process(COMMAND \${forebay} man --into \"\${to}/man/man1\" COMMAND_ERROR_IS_FATAL ANY)
  foreach(file bash:bash-completion/completions/forebay zsh:zsh/site-functions/_forebay
          fish:fish/vendor_completions.d/forebay.fish)
    string(REGEX MATCH \"^([a-z]+):(.*)$\" words \"\${file}\")
    execute_process(COMMAND \${forebay} completion \${CMAKE_MATCH_1} OUTPUT_FILE \"\${to}/\${CMAKE_MATCH_2}\"
                    COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  message(STATUS \"Manual pages and completion: \${to}\")
")
