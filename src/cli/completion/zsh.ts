// The completion of zsh. Pure.
import { posixTables } from './posix.ts'
import type { CommandWords } from './words.ts'

/**
 * The script: evaluated in ~/.zshrc, or a file _sekisho in a folder of fpath. A shell without a completion system gets one. The
 * options of the shell are those that the completion system sets for its functions (zshcompsys(1)), so nothing is emulated.
 */
export function zshScript(commands: readonly CommandWords[]): string {
  return `#compdef sekisho
# zsh completion for sekisho: eval "$(sekisho completion zsh)" in ~/.zshrc
_sekisho() {
  local current="\${words[CURRENT]}" trail="" before="" word values=""
  local -i index=0
  local -a scope
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if [[ -n "$before" ]]; then
      case "$before" in -n|--namespace|--context|--kubeconfig) scope+=("$before" "$word") ;; esac
      before=""
      continue
    fi
    case "$word" in
      --) return 1 ;;
      --namespace=*|--context=*|--kubeconfig=*) scope+=("$word") ;;
      -*=*) ;;
      -*) if [[ -n "$(_sekisho_option "$trail" "$word")" ]]; then before="$word"; fi ;;
      *) if [[ -n "$(_sekisho_words "\${trail:+$trail }$word")" ]]; then trail="\${trail:+$trail }$word"; else index+=1; fi ;;
    esac
  done
  if [[ -z "$before" && "$current" == --*=* ]]; then
    before="\${current%%=*}"
    compset -P '*='
  fi
  if [[ -n "$before" ]]; then values="$(_sekisho_option "$trail" "$before")"
  else
    if [[ "$current" != -* ]]; then values="$(_sekisho_argument "$trail" "$index")"; fi
    if [[ -z "$values" ]]; then values="words $(_sekisho_words "$trail")"; fi
  fi
  if [[ "$values" == files ]]; then _files
  else compadd -- \${(f)"$(_sekisho_names "$values" "\${scope[@]}")"}
  fi
}
${posixTables(commands)}
if [[ "\${funcstack[1]}" == _sekisho ]]; then _sekisho "$@"
else
  if (( ! $+functions[compdef] )); then autoload -Uz compinit && compinit -i; fi
  compdef _sekisho sekisho
fi`
}
