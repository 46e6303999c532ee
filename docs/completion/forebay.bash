# bash completion for forebay, made by: forebay completion bash
_forebay_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current"); }
_forebay_paths() {
  mapfile -t COMPREPLY < <(compgen "$1" -- "$current")
  compopt -o filenames 2> /dev/null || :
}
_forebay() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} index
  COMPREPLY=()
  # --flag=value comes as three words.
  if [[ $current == = ]]; then
    current=
  elif [[ $previous == = && COMP_CWORD -ge 2 ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if ((COMP_CWORD == 1)); then
    _forebay_words "run exec stage status drain clean restartable plan inspect trajectory mesh report predict bench doctor -h --help --version "
    return
  fi
  if [[ " run exec " == *" $command "* ]]; then
    for ((index = 2; index < COMP_CWORD; index++)); do
      [[ ${COMP_WORDS[index]} == -- ]] || continue
      if declare -F _command_offset > /dev/null; then
        _command_offset $((index + 1))
      elif ((index + 1 == COMP_CWORD)); then
        mapfile -t COMPREPLY < <(compgen -c -- "$current")
      else
        _forebay_paths -f
      fi
      return
    done
  fi
  case "$command $previous" in
    "run --case") _forebay_paths -d; return ;;
    "run --pool") _forebay_paths -d; return ;;
    "run --copy") :; return ;;
    "run --direct") _forebay_paths -d; return ;;
    "run --checkpoint") _forebay_paths -d; return ;;
    "run --via") _forebay_words "auto path redirect namespace"; return ;;
    "run --layout") _forebay_words "verbatim collated"; return ;;
    "run --drain-when") _forebay_words "live end"; return ;;
    "run --verify") _forebay_words "written read-back"; return ;;
    "run --bandwidth") :; return ;;
    "run --safe-interval") :; return ;;
    "run --patience") :; return ;;
    "run --budget") :; return ;;
    "run --set") :; return ;;
    "run --json") _forebay_paths -f; return ;;
    "exec --case") _forebay_paths -d; return ;;
    "stage --case") _forebay_paths -d; return ;;
    "stage -n") :; return ;;
    "stage --ranks") :; return ;;
    "stage --pool") _forebay_paths -d; return ;;
    "status --case") _forebay_paths -d; return ;;
    "status --pool") _forebay_paths -d; return ;;
    "drain --case") _forebay_paths -d; return ;;
    "drain --pool") _forebay_paths -d; return ;;
    "clean --case") _forebay_paths -d; return ;;
    "clean --pool") _forebay_paths -d; return ;;
    "clean --drop") :; return ;;
    "restartable --case") _forebay_paths -d; return ;;
    "plan -n") :; return ;;
    "plan --ranks") :; return ;;
    "plan --nodes") :; return ;;
    "plan --order") _forebay_words "core socket node"; return ;;
    "mesh --groups") :; return ;;
    "mesh --join") :; return ;;
    "mesh --tolerance") :; return ;;
    "mesh --merge") :; return ;;
    "mesh -l") :; return ;;
    "mesh --levels") :; return ;;
    "mesh -o") _forebay_paths -f; return ;;
    "mesh --output") _forebay_paths -f; return ;;
    "mesh --parts") :; return ;;
    "mesh --parts-from") _forebay_paths -f; return ;;
    "mesh --partition") _forebay_paths -f; return ;;
    "mesh -t") :; return ;;
    "mesh --threads") :; return ;;
    "report --page") _forebay_paths -f; return ;;
    "predict --case") _forebay_paths -d; return ;;
    "predict --machine") _forebay_words "NAME FILE"; return ;;
    "predict --calibrate") :; return ;;
    "predict --step") :; return ;;
    "predict --ranks") :; return ;;
    "predict --nodes") :; return ;;
    "predict --files") :; return ;;
    "predict --dirs") :; return ;;
    "predict --bytes") :; return ;;
    "predict --every") :; return ;;
    "predict --steps") :; return ;;
    "predict --purge") :; return ;;
    "predict --jobs") :; return ;;
    "predict --layout") _forebay_words "verbatim collated"; return ;;
    "predict --budget") :; return ;;
    "predict --set") :; return ;;
    "predict --page") _forebay_paths -f; return ;;
    "man --into") _forebay_paths -d; return ;;
  esac
  case $command in
    run) _forebay_words "-h --help --case --pool --copy --direct --checkpoint --via --layout --drain-when --verify --bandwidth --safe-interval --patience --budget --set --json -q --quiet --dry-run --" ;;
    exec) _forebay_words "-h --help --case --" ;;
    stage) _forebay_words "-h --help --case -n --ranks --pool -q --quiet" ;;
    status) _forebay_words "-h --help --case --pool -w --watch --json" ;;
    drain) _forebay_words "-h --help --resume --case --pool -q --quiet" ;;
    clean) _forebay_words "-h --help --case --pool --drop --throw-away" ;;
    restartable) _forebay_words "-h --help --case --set-aside --json" ;;
    plan) _forebay_words "-h --help -n --ranks --nodes --order --json" ;;
    inspect) _forebay_words "-h --help --no-verify --json" ;;
    trajectory) _forebay_words "-h --help --json ls verify rm" ;;
    mesh) _forebay_words "-h --help --groups --join --tolerance --merge -l --levels -o --output -f --force --parts --parts-from --partition -t --threads --json -q --quiet" ;;
    report) _forebay_words "-h --help --page" ;;
    predict) _forebay_words "-h --help --case --machine --calibrate --step --ranks --nodes --files --dirs --bytes --every --steps --purge --jobs --layout --budget --set --page --json --presets --seeds" ;;
    bench) _forebay_words "-h --help --quick --json" ;;
    doctor) _forebay_words "-h --help --json --measure" ;;
    man) _forebay_words "-h --help --into" ;;
    completion) _forebay_words "-h --help bash zsh fish" ;;
  esac
}
complete -F _forebay forebay
