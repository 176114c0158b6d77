// The tables of bash and zsh as functions of `case` statements, which both read alike, and the question to kubectl. Pure.
import type { CommandWords } from './words.ts'

/**
 * The names of objects, one on each line. What kubectl answers is filtered, because the completion of a shell expands what it
 * is given: a server that a context names must not run code here.
 */
export const namePattern = "'^[a-z0-9][-a-z0-9./]*$'"
export const maxWait = '--request-timeout=3s'

/**
 * `_sekisho_words trail`, `_sekisho_option trail flag`, `_sekisho_argument trail index` and `_sekisho_names values [flags of
 * kubectl]`.
 */
export function posixTables(commands: readonly CommandWords[]): string {
  const words = commands.map(command => `    "${command.path}") echo "${command.words.map(({ word }) => word).join(' ')}" ;;`)
  const options = commands.flatMap(({ path, options: all }) =>
    all.map(({ flags, values }) => `    ${flags.map(flag => `"${path} ${flag}"`).join('|')}) echo "${values}" ;;`),
  )
  const commandsWithNames = commands.flatMap(({ path, argument }) =>
    argument === undefined ? [] : [`    "${path} ${argument.repeats ? '"*' : '0"'}) echo "${argument.values}" ;;`],
  )
  return `_sekisho_words() {
  case "$1" in
${words.join('\n')}
  esac
}
_sekisho_option() {
  case "$1 $2" in
${options.join('\n')}
  esac
}
_sekisho_argument() {
  case "$1 $2" in
${commandsWithNames.join('\n')}
  esac
}
_sekisho_names() {
  local values="$1"
  shift
  case "$values" in
    "words "*) printf '%s\\n' "\${values#words }" | tr ' ' '\\n' ;;
    "names "*) kubectl get "\${values#names }" -o name ${maxWait} "$@" 2>/dev/null | sed 's|.*/||' | grep -E ${namePattern} ;;
    "kinds "*) kubectl get "\${values#kinds }" -o name ${maxWait} "$@" 2>/dev/null | sed 's|\\..*/|/|' | grep -E ${namePattern} ;;
    contexts) kubectl config get-contexts -o name 2>/dev/null | grep -E '^[-A-Za-z0-9_./@:]+$' ;;
  esac
}`
}
