// The completion scripts, executed by the shells themselves: what they offer when Tab is pressed at the end of a line.
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createProgram } from '../program.ts'
import { completionScript, type Shell } from './completion-script.ts'
import { commandWords } from './words.ts'

const program = createProgram({ result: () => {}, say: () => {} })

test('the words are those of the program', () => {
  const words = new Map(commandWords(program).map(command => [command.path, command.words.map(({ word }) => word)]))
  expect(words.get('')).toContain('logs')
  expect(words.get('env')).toEqual(['list', 'set', 'unset'])
  expect(words.get('logs')).toContain('--follow')
})

const offers: readonly (readonly [string, readonly string[]])[] = [
  ['sekisho lo', ['login', 'logout', 'logs']],
  ['sekisho env ', ['list', 'set', 'unset']],
  ['sekisho env set --dr', ['--dry-run']],
  ['sekisho env list ', ['shop']],
  ['sekisho env list sh', ['shop']],
  ['sekisho logs ', ['shop']],
  ['sekisho logs shop --fo', ['--follow']],
  ['sekisho logs -n acme ', ['of-acme', 'shop']],
  ['sekisho logs --namespace acme of', ['of-acme']],
  ['sekisho previews pause ', ['previews']],
  ['sekisho builds logs ', ['main']],
  ['sekisho services at', ['attach']],
  ['sekisho services info ', ['shop-db']],
  ['sekisho services create x --class ', ['postgresql']],
  ['sekisho services create x --when-deleted ', ['Delete', 'Keep']],
  ['sekisho why ', ['application/shop', 'remotesync/main']],
  ['sekisho transfer remotesync/main re', ['remotesync/main']],
  ['sekisho completion ', ['bash', 'fish', 'zsh']],
  ['sekisho previews list -o ', ['json', 'table', 'wide']],
  ['sekisho builds logs -o ', ['json', 'text']],
  ['sekisho ps --output y', ['yaml']],
  ['sekisho status --context ', ['kind-a', 'sekisho']],
  ['sekisho login --ca-file au', ['authority.pem']],
  ['sekisho ps -n ', []],
  ['sekisho run shop -- ', []],
]

/** Its second Application is what no server may answer: a shell that expands it runs it. With a namespace it has a third one. */
const kubectl = `#!/bin/sh
case "$1 $2" in
  "config get-contexts") echo sekisho; echo kind-a ;;
  "get applications.apps.sekisho.dev")
    echo application.apps.sekisho.dev/shop
    echo 'application.apps.sekisho.dev/$(touch expanded)'
    case "$*" in *"acme"*) echo application.apps.sekisho.dev/of-acme ;; esac ;;
  "get apppipelines.apps.sekisho.dev") echo apppipeline.apps.sekisho.dev/previews ;;
  "get serviceinstances.services.sekisho.dev,buckets.services.sekisho.dev") echo serviceinstance.services.sekisho.dev/shop-db ;;
  "get serviceclasses.services.sekisho.dev") echo serviceclass.services.sekisho.dev/postgresql ;;
  "get remotesyncs.apps.sekisho.dev") echo remotesync.apps.sekisho.dev/main ;;
  "get applications."*,*) echo application.apps.sekisho.dev/shop; echo remotesync.apps.sekisho.dev/main ;;
  "get remotesyncs."*,*) echo remotesync.apps.sekisho.dev/main; echo apppipeline.apps.sekisho.dev/previews ;;
esac
`

/** Reads lines and prints, for each, a line `Tab` and what is offered. */
const sessions: Readonly<Record<Shell, string>> = {
  // bash splits at = too: COMP_WORDBREAKS in https://www.gnu.org/software/bash/manual/html_node/Bash-Variables.html
  bash: `source ./script.bash
while IFS= read -r line; do
  echo Tab
  read -ra COMP_WORDS <<< "\${line//=/ = }"
  case "$line" in *" ") COMP_WORDS+=("") ;; esac
  COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
  _sekisho
  printf '%s\\n' "\${COMPREPLY[@]}"
done`,
  fish: `source ./script.fish
while read -l line
  echo Tab
  complete -C "$line" | string replace -r '\\t.*' ''
end
exit 0`,
  // A shell on a terminal of its own, in which the widget of Tab notes what is added instead of showing it. It starts without a
  // completion system.
  zsh: `zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PS1= RPS1=; stty -echo; unset zle_bracketed_paste; source ./script.zsh'
zpty -w shell 'compadd() { builtin compadd "$@"; local -i code=$?; local -a added; builtin compadd -O added "$@"; print -rl -- $added >> next; return code }'
zpty -w shell 'press() { : > next; _main_complete; mv next offered; compstate[insert]=; compstate[list]= }'
zpty -w shell 'zle -C press complete-word press; bindkey "^I" press; : > ready'
await() {
  for ((i = 0; i < 500; i++)); do
    if [[ -e $1 ]]; then return; fi
    while zpty -r -t shell shown; do print -rn -- "$shown" >> terminal; done
    sleep 0.02
  done
  print "the shell did not answer"
}
await ready
while IFS= read -r line; do
  print Tab
  rm -f offered
  zpty -w -n shell $'\\x15'"$line"$'\\t'
  await offered
  cat offered
done
zpty -d shell`,
}

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sekisho-completion-'))
  writeFileSync(join(folder, 'kubectl'), kubectl)
  chmodSync(join(folder, 'kubectl'), 0o755)
  writeFileSync(join(folder, 'authority.pem'), '')
  for (const shell of ['bash', 'zsh', 'fish'] as const)
    writeFileSync(join(folder, `script.${shell}`), completionScript(program, shell))
})
afterAll(() => rmSync(folder, { recursive: true }))

const plain = { bash: ['--norc', '--noprofile'], zsh: ['-f'], fish: ['--no-config'] } as const

/** Line → what the shell offers, sorted. */
function offered(shell: Shell, lines: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const env = { PATH: `${folder}${delimiter}${process.env['PATH']}`, HOME: folder, TERM: 'dumb', LANG: 'C.UTF-8' }
  const input = `${lines.join('\n')}\n`
  const text = execFileSync(shell, [...plain[shell], '-c', sessions[shell]], {
    cwd: folder,
    encoding: 'utf8',
    env,
    input,
    timeout: 60_000,
  })
  const [, ...answers] = text.split(/^Tab\n/m)
  return new Map(
    answers.map((answer, index) => [lines[index] ?? '', [...new Set(answer.split('\n').filter(word => word !== ''))].sort()]),
  )
}

function isInstalled(shell: Shell): boolean {
  try {
    execFileSync(shell, ['-c', 'true'])
    return true
  } catch {
    return false
  }
}

/** fish replaces the whole word, the others what stands behind the =. */
const wholeOption: Readonly<Record<Shell, string>> = { bash: 'yaml', zsh: 'yaml', fish: '--output=yaml' }

const installed = { bash: isInstalled('bash'), zsh: isInstalled('zsh'), fish: isInstalled('fish') }
for (const shell of ['bash', 'zsh', 'fish'] as const)
  if (!installed[shell])
    process.stderr.write(`skipped: the completion of ${shell}, which is not installed: apt-get install -y ${shell}\n`)

describe.each(['bash', 'zsh', 'fish'] as const)('%s', shell => {
  test.skipIf(!installed[shell])('offers what may come next, and expands no name', () => {
    const expected = [...offers, ['sekisho ps --output=y', [wholeOption[shell]]] as const]
    const lines = expected.map(([line]) => line)
    expect([...offered(shell, lines)]).toEqual(expected)
    expect(existsSync(join(folder, 'expanded'))).toBe(false)
  })

  test('every command has its place', () => {
    const script = completionScript(program, shell)
    for (const command of program.commands) expect(script).toContain(command.name())
  })
})
