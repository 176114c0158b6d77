// `make attack`: one tenant, and people without one, against another tenant and the platform, on the running installation. Exit
// code 0 only when the layer that stopped it is known for every attempt.
import { parseArgs } from 'node:util'
import { print, printUsage, runCommandLine } from '../cluster/command-line.ts'
import { withLock } from '../cluster/processes/lock.ts'
import { standardErrorProgress } from '../cluster/progress.ts'
import { type ClusterSettings, readClusterSettings } from '../cluster/settings.ts'
import type { Attack } from './attack.ts'
import { attacks } from './list.ts'
import { attackLines, goalLines, outcomeLines, summarize, summaryText } from './report.ts'
import { type Played, runAttacks } from './run.ts'
import { openWorld } from './world/world.ts'

const usage = `usage: node dev/attack/main.ts [options]
  --only <name>   only the attacks whose name contains this; may be repeated
  --short         without builds; what make test plays
  --floods        also the floods of a minute, with what they cost a bystander
  --list          print the attacks and play none
  -o json         print the results as JSON
`

type Options = {
  readonly only: readonly string[]
  readonly short: boolean
  readonly floods: boolean
}

function chosen({ only, short, floods }: Options): readonly Attack[] {
  return attacks
    .filter(({ form }) => form === undefined || (form === 'long' && !short) || (form === 'flood' && floods))
    .filter(({ name }) => only.length === 0 || only.some(part => name.includes(part)))
}

async function run(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', multiple: true, default: [] },
      short: { type: 'boolean', default: false },
      floods: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      output: { type: 'string', short: 'o', default: 'text' },
    },
  })
  if (values.help) return printUsage(usage, true)
  if (values.output !== 'text' && values.output !== 'json') return printUsage(usage)
  const list = chosen(values)
  if (list.length === 0) return printUsage(`no attack has such a name\n${usage}`)
  if (values.list) {
    print(list.map(({ name, as, tries }) => `${name.padEnd(34)} ${as}: ${tries}\n`).join(''))
    return 0
  }
  const settings = readClusterSettings()
  // A second run would remove what this one makes.
  return withLock(
    `attack ${settings.stateFolder}`,
    () => play(settings, list, values.output === 'json'),
    pid => standardErrorProgress().note(`process ${pid} attacks this platform already: waiting until it ends`),
  )
}

async function play(settings: ClusterSettings, list: readonly Attack[], json: boolean): Promise<number> {
  const started = performance.now()
  const progress = standardErrorProgress()
  const stop = new AbortController()
  const interrupt = (): void => {
    if (stop.signal.aborted) process.exit(130)
    progress.note('interrupted: cleaning up; interrupt again to leave at once')
    stop.abort()
  }
  process.on('SIGINT', interrupt)
  process.on('SIGTERM', interrupt)
  const world = await openWorld(settings, progress)
  let played: Played = { results: [], unclearAtFirst: [] }
  try {
    played = await runAttacks(world, list, {
      atOnce: 4,
      signal: stop.signal,
      onAttack: (name, ofAttack) => (json ? progress.note(name) : print(`${attackLines(name, ofAttack)}\n`)),
    })
  } finally {
    await progress.step('clean up', () => world.close())
  }
  const seconds = (performance.now() - started) / 1000
  const summary = summarize(played.results)
  const floods = list.some(({ form }) => form === 'flood')
  const text = [summaryText(summary, seconds), ...goalLines(seconds, floods), ...outcomeLines(played)].join('\n')
  print(`${json ? JSON.stringify({ summary: { ...summary, seconds }, ...played }, null, 2) : text}\n`)
  if (stop.signal.aborted) return 130
  return summary.stopped === summary.attempts ? 0 : 1
}

await runCommandLine('attack', run)
