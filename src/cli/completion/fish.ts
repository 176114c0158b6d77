// The completion of fish. Pure.
import { maxWait, namePattern } from './posix.ts'
import type { CommandWords } from './words.ts'

/** https://fishshell.com/docs/current/language.html#quotes */
const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

function cases(entries: readonly (readonly [string, string])[]): string {
  return entries.map(([patterns, body]) => `    case ${patterns}\n      ${body}`).join('\n')
}

/** The script. Every command has its own words: `list` of one group is not `list` of another. */
export function fishScript(commands: readonly CommandWords[]): string {
  const words = commands.map(command => {
    const pairs = command.words.map(({ word, description }) => `${quoted(word)} ${quoted(description)}`)
    return [quoted(command.path), `printf '%s\\t%s\\n' ${pairs.join(' ')}`] as const
  })
  const options = commands.flatMap(({ path, options: all }) =>
    all.map(({ flags, values }) => [flags.map(flag => quoted(`${path} ${flag}`)).join(' '), `echo ${quoted(values)}`] as const),
  )
  const names = commands.flatMap(({ path, argument }) =>
    argument === undefined
      ? []
      : [[quoted(`${path} ${argument.repeats ? '*' : '0'}`), `echo ${quoted(argument.values)}`] as const],
  )
  return `# fish completion for sekisho: sekisho completion fish | source in ~/.config/fish/config.fish
function __sekisho_words
  switch "$argv[1]"
${cases(words)}
  end
end
function __sekisho_option
  switch "$argv[1] $argv[2]"
${cases(options)}
  end
end
function __sekisho_argument
  switch "$argv[1] $argv[2]"
${cases(names)}
  end
end
function __sekisho_names
  set -l parts (string split ' ' -- $argv[1])
  set -l scope $argv[2..-1]
  switch $parts[1]
    case words
      printf '%s\\n' $parts[2..-1]
    case names
      kubectl get $parts[2] -o name ${maxWait} $scope 2>/dev/null | string replace -r '.*/' '' | string match -r ${namePattern}
    case kinds
      kubectl get $parts[2] -o name ${maxWait} $scope 2>/dev/null | string replace -r '\\..*/' '/' | string match -r ${namePattern}
    case contexts
      kubectl config get-contexts -o name 2>/dev/null
  end
end
function __sekisho_complete
  set -l current (commandline -ct)
  set -l trail ''
  set -l before ''
  set -l index 0
  set -l scope
  for word in (commandline -opc)[2..-1]
    if test -n "$before"
      if contains -- $before -n --namespace --context --kubeconfig
        set -a scope $before $word
      end
      set before ''
      continue
    end
    set -l next (string trim -- "$trail $word")
    switch $word
      case --
        return
      case '--namespace=*' '--context=*' '--kubeconfig=*'
        set -a scope $word
      case '-*'
        if test -n "$(__sekisho_option "$trail" $word)"
          set before $word
        end
      case '*'
        if test -n "$(__sekisho_words "$next")"
          set trail $next
        else
          set index (math $index + 1)
        end
    end
  end
  set -l prefix ''
  if test -z "$before"; and string match -q -- '--*=*' $current
    set before (string split -m 1 '=' -- $current)[1]
    set prefix "$before="
  end
  set -l values
  if test -n "$before"
    set values (__sekisho_option "$trail" $before)
  else
    if not string match -q -- '-*' $current
      set values (__sekisho_argument "$trail" $index)
    end
    if test -z "$values"
      __sekisho_words "$trail"
      return
    end
  end
  if test "$values" = files
    __fish_complete_path (string replace -- "$prefix" '' $current) | string replace -r '^' "$prefix"
  else
    for name in (__sekisho_names "$values" $scope)
      echo "$prefix$name"
    end
  end
end
complete -c sekisho -e
complete -c sekisho -f -a '(__sekisho_complete)'`
}
