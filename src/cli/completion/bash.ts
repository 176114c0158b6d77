// The completion of bash, from 3.2 on. Pure.
import { posixTables } from './posix.ts'
import type { CommandWords } from './words.ts'

/** The script. It has no `compgen -W`, which expands its words as the shell does. */
export function bashScript(commands: readonly CommandWords[]): string {
  return `# bash completion for sekisho: eval "$(sekisho completion bash)" in ~/.bashrc
_sekisho() {
  local current="\${COMP_WORDS[COMP_CWORD]}" trail="" before="" index=0 word values="" scope=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    # --output=json is three words for bash.
    if [ "$word" = "=" ]; then continue; fi
    if [ "$before" ]; then
      case "$before" in -n|--namespace|--context|--kubeconfig) scope+=("$before" "$word") ;; esac
      before=""
      continue
    fi
    case "$word" in
      --) COMPREPLY=(); return ;;
      -*) if [ "$(_sekisho_option "$trail" "$word")" ]; then before="$word"; fi ;;
      *) if [ "$(_sekisho_words "\${trail:+$trail }$word")" ]; then trail="\${trail:+$trail }$word"; else index=$((index + 1)); fi ;;
    esac
  done
  if [ "$current" = "=" ]; then current=""; fi
  if [ "$before" ]; then values="$(_sekisho_option "$trail" "$before")"
  else
    case "$current" in -*) ;; *) values="$(_sekisho_argument "$trail" "$index")" ;; esac
    if [ -z "$values" ]; then values="words $(_sekisho_words "$trail")"; fi
  fi
  COMPREPLY=()
  if [ "$values" = files ]; then
    compopt -o default 2>/dev/null || COMPREPLY=($(compgen -f -- "$current"))
    return
  fi
  while read -r word; do
    case "$word" in "$current"*) if [ "$word" ]; then COMPREPLY+=("$word"); fi ;; esac
  done <<< "$(_sekisho_names "$values" \${scope[@]+"\${scope[@]}"})"
}
${posixTables(commands)}
complete -F _sekisho sekisho`
}
