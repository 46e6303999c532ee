# bash completion for forebay, made by: forebay completion bash
_forebay_keys() {
  _forebay_words "pool.paths= pool.memory_share= pool.budget= pool.high_water= pool.low_water= run.via= stage.threads= stage.copy= stage.direct= stage.watch= drain.threads= drain.bandwidth= drain.when= drain.verify= drain.layout= drain.checkpoints= drain.safe_interval= drain.settle= drain.refresh= drain.patience= drain.silence="
  compopt -o nospace 2> /dev/null || :
}
_forebay_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current"); }
_forebay_paths() {
  mapfile -t COMPREPLY < <(compgen "$1" -- "$current")
  compopt -o filenames 2> /dev/null || :
}
# One of the words of $1 was typed already.
_forebay_has() {
  local word
  for word in "${COMP_WORDS[@]:2:COMP_CWORD-2}"; do
    [[ " $1 " != *" $word "* ]] || return 0
  done
  return 1
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
  local commands="run doctor status stop drain clean predict help exec stage restartable plan inspect trajectory mesh report bench"
  if ((COMP_CWORD == 1)); then
    _forebay_words "run doctor status stop drain clean predict help exec stage restartable plan inspect trajectory mesh report bench -h --help -V --version "
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
    "run --layout") _forebay_words "verbatim collated"; return ;;
    "run --drain-when") _forebay_words "live end"; return ;;
    "run --budget") :; return ;;
    "run --json") _forebay_paths -f; return ;;
    "run --copy") :; return ;;
    "run --direct") _forebay_paths -d; return ;;
    "run --watch") _forebay_paths -d; return ;;
    "run --checkpoint") _forebay_paths -d; return ;;
    "run --via") _forebay_words "auto path redirect namespace"; return ;;
    "run --verify") _forebay_words "written read-back"; return ;;
    "run --bandwidth") :; return ;;
    "run --safe-interval") :; return ;;
    "run --patience") :; return ;;
    "run --set") _forebay_keys; return ;;
    "run pool.paths") :; return ;;
    "run pool.memory_share") :; return ;;
    "run pool.budget") :; return ;;
    "run pool.high_water") :; return ;;
    "run pool.low_water") :; return ;;
    "run run.via") _forebay_words "auto path redirect namespace"; return ;;
    "run stage.threads") :; return ;;
    "run stage.copy") :; return ;;
    "run stage.direct") :; return ;;
    "run stage.watch") :; return ;;
    "run drain.threads") :; return ;;
    "run drain.bandwidth") :; return ;;
    "run drain.when") _forebay_words "live end"; return ;;
    "run drain.verify") _forebay_words "written read-back"; return ;;
    "run drain.layout") _forebay_words "verbatim collated"; return ;;
    "run drain.checkpoints") :; return ;;
    "run drain.safe_interval") :; return ;;
    "run drain.settle") :; return ;;
    "run drain.refresh") :; return ;;
    "run drain.patience") :; return ;;
    "run drain.silence") :; return ;;
    "doctor --case") _forebay_paths -d; return ;;
    "doctor --report") _forebay_paths -f; return ;;
    "status --case") _forebay_paths -d; return ;;
    "status --pool") _forebay_paths -d; return ;;
    "stop --case") _forebay_paths -d; return ;;
    "stop --when") _forebay_words "next-write now"; return ;;
    "drain --case") _forebay_paths -d; return ;;
    "drain --pool") _forebay_paths -d; return ;;
    "clean --case") _forebay_paths -d; return ;;
    "clean --pool") _forebay_paths -d; return ;;
    "clean --drop") :; return ;;
    "predict --case") _forebay_paths -d; return ;;
    "predict --machine") _forebay_paths -f; return ;;
    "predict --step") :; return ;;
    "predict --ranks") :; return ;;
    "predict --nodes") :; return ;;
    "predict --files") :; return ;;
    "predict --bytes") :; return ;;
    "predict --every") :; return ;;
    "predict --steps") :; return ;;
    "predict --page") _forebay_paths -f; return ;;
    "predict --calibrate") _forebay_paths -f; return ;;
    "predict --dirs") :; return ;;
    "predict --purge") :; return ;;
    "predict --jobs") :; return ;;
    "predict --layout") _forebay_words "verbatim collated"; return ;;
    "predict --budget") :; return ;;
    "predict --set") _forebay_keys; return ;;
    "predict pool.paths") :; return ;;
    "predict pool.memory_share") :; return ;;
    "predict pool.budget") :; return ;;
    "predict pool.high_water") :; return ;;
    "predict pool.low_water") :; return ;;
    "predict run.via") _forebay_words "auto path redirect namespace"; return ;;
    "predict stage.threads") :; return ;;
    "predict stage.copy") :; return ;;
    "predict stage.direct") :; return ;;
    "predict stage.watch") :; return ;;
    "predict drain.threads") :; return ;;
    "predict drain.bandwidth") :; return ;;
    "predict drain.when") _forebay_words "live end"; return ;;
    "predict drain.verify") _forebay_words "written read-back"; return ;;
    "predict drain.layout") _forebay_words "verbatim collated"; return ;;
    "predict drain.checkpoints") :; return ;;
    "predict drain.safe_interval") :; return ;;
    "predict drain.settle") :; return ;;
    "predict drain.refresh") :; return ;;
    "predict drain.patience") :; return ;;
    "predict drain.silence") :; return ;;
    "exec --case") _forebay_paths -d; return ;;
    "stage --case") _forebay_paths -d; return ;;
    "stage -n") :; return ;;
    "stage --ranks") :; return ;;
    "stage --pool") _forebay_paths -d; return ;;
    "restartable --case") _forebay_paths -d; return ;;
    "plan -n") :; return ;;
    "plan --ranks") :; return ;;
    "plan --nodes") :; return ;;
    "plan --order") _forebay_words "core socket node"; return ;;
    "mesh -l") :; return ;;
    "mesh --levels") :; return ;;
    "mesh -o") _forebay_paths -f; return ;;
    "mesh --output") _forebay_paths -f; return ;;
    "mesh --parts") :; return ;;
    "mesh --groups") :; return ;;
    "mesh --join") :; return ;;
    "mesh --tolerance") :; return ;;
    "mesh --merge") :; return ;;
    "mesh --parts-from") _forebay_paths -f; return ;;
    "mesh --partition") _forebay_paths -f; return ;;
    "mesh -t") :; return ;;
    "mesh --threads") :; return ;;
    "report --page") _forebay_paths -f; return ;;
    "man --into") _forebay_paths -d; return ;;
  esac
  case $command in
    run) _forebay_words "-h --help --case --pool --layout --drain-when --budget --json -q --quiet --dry-run --copy --direct --watch --checkpoint --via --verify --bandwidth --safe-interval --patience --set --" ;;
    doctor) _forebay_words "-h --help --case --all --json --report --measure" ;;
    status) _forebay_words "-h --help --case --pool -w --watch --json" ;;
    stop) _forebay_words "-h --help --case --when --no-wait" ;;
    drain) _forebay_words "-h --help --resume --case --pool -q --quiet" ;;
    clean) _forebay_words "-h --help --case -y --yes --pool --drop --throw-away" ;;
    predict) _forebay_words "-h --help --case --machine --step --ranks --nodes --files --bytes --every --steps --page --json --presets --calibrate --dirs --purge --jobs --layout --budget --set --seeds" ;;
    help)
      if [[ $current == -* ]]; then
        _forebay_words "-h --help"
      else
        _forebay_words "$commands"
      fi
      ;;
    exec) _forebay_words "-h --help --case --" ;;
    stage) _forebay_words "-h --help --case -n --ranks --pool -q --quiet" ;;
    restartable) _forebay_words "-h --help --case --set-aside --json" ;;
    plan) _forebay_words "-h --help -n --ranks --nodes --order --json" ;;
    inspect)
      if [[ $current == -* ]]; then
        _forebay_words "-h --help --no-verify --json"
      else
        _forebay_paths -f
      fi
      ;;
    trajectory)
      if [[ $current == -* ]]; then
        _forebay_words "-h --help --json"
      elif ! _forebay_has "ls verify rm"; then
        _forebay_words "ls verify rm"
      else
        _forebay_paths -d
      fi
      ;;
    mesh)
      if [[ $current == -* ]]; then
        _forebay_words "-h --help -l --levels -o --output -f --force --parts --json -q --quiet --groups --join --tolerance --merge --parts-from --partition -t --threads"
      elif ! _forebay_has "multiply"; then
        _forebay_words "multiply"
      else
        _forebay_paths -f
      fi
      ;;
    report)
      if [[ $current == -* ]]; then
        _forebay_words "-h --help --page"
      else
        _forebay_paths -f
      fi
      ;;
    bench)
      if [[ $current == -* ]]; then
        _forebay_words "-h --help --quick --json"
      elif ! _forebay_has "io openfoam trajectory arrays"; then
        _forebay_words "io openfoam trajectory arrays"
      fi
      ;;
    man)
      if [[ $current == -* ]]; then
        _forebay_words "-h --help --into"
      else
        _forebay_words "$commands"
      fi
      ;;
    completion)
      if [[ $current == -* ]]; then
        _forebay_words "-h --help"
      elif ! _forebay_has "bash zsh fish"; then
        _forebay_words "bash zsh fish"
      fi
      ;;
  esac
}
complete -F _forebay forebay
