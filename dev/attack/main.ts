// `make attack`: one tenant, and people without one, against another tenant and the platform, on the running installation. Exit
// code 0 only when the layer that stopped it is known for every attempt.
import { parseArgs } from 'node:util'
import { print, printUsage, runCommandLine } from '../cluster/command-line.ts'
import { withLock } from '../cluster/processes/lock.ts'
import { standardErrorProgress } from '../cluster/progress.ts'
import { type ClusterSettings, readClusterSettings } from '../cluster/settings.ts'
import { isLayerName, type LayerName, layerNames, layerSwitches } from '../up/layers/list.ts'
import type { Attack } from './attack.ts'
import { attacks } from './list.ts'
import { playAttacks } from './play.ts'
import { attackLines, goalLines, outcomeLines, summarize, summaryText } from './report.ts'
import { playWithout, putBackLeftOver, requireLocalCluster } from './without/layers-off.ts'
import { type Without, withoutLines } from './without/report.ts'

const usage = `usage: node dev/attack/main.ts [options]
  --only <name>      only the attacks whose name contains this; may be repeated
  --short            without builds; what make test plays
  --floods           also the floods of a minute, with what they cost a bystander
  --without <layer>  on the local cluster: play the attacks with all layers, then once more with this one switched off, and show
                     what it alone stops; may be repeated. The layer is put back whatever happens; after a crash by the next
                     "make attack" and by "make up". Meanwhile the platform raises its alarms, and writes by the API are dry runs.
                     Layers: ${layerNames.join(', ')}
  --list             print the attacks and the layers, and play none
  -o json            print the results as JSON

exit code 0: every attempt was stopped with all layers, and each layer of --without was off and is back; what passes without it
is no failure. 1: an attempt was not stopped with all layers, or a layer was not off, or is not back. 2: wrong options. 130: interrupted.
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

function listText(list: readonly Attack[], settings: ClusterSettings): string {
  const switches = Object.entries(layerSwitches(settings.repository))
  return [
    ...list.map(({ name, as, tries }) => `${name.padEnd(34)} ${as}: ${tries}`),
    '',
    ...switches.map(([name, { what, alarm }]) => `--without ${name.padEnd(24)} ${what}; expected meanwhile: ${alarm}`),
    '',
  ].join('\n')
}

async function run(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', multiple: true, default: [] },
      short: { type: 'boolean', default: false },
      floods: { type: 'boolean', default: false },
      without: { type: 'string', multiple: true, default: [] },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      output: { type: 'string', short: 'o', default: 'text' },
    },
  })
  if (values.help) return printUsage(usage, true)
  if (values.output !== 'text' && values.output !== 'json') return printUsage(usage)
  const list = chosen(values)
  if (list.length === 0) return printUsage(`no attack has such a name\n${usage}`)
  const without = [...new Set(values.without)]
  const unknown = without.find(name => !isLayerName(name))
  if (unknown !== undefined)
    return printUsage(`no layer ${unknown} can be switched off: it is one of ${layerNames.join(', ')}\n${usage}`)
  const settings = readClusterSettings()
  if (values.list) {
    print(listText(list, settings))
    return 0
  }
  if (without.length > 0) requireLocalCluster(settings)
  // A second run would remove what this one makes.
  return withLock(
    `attack ${settings.stateFolder}`,
    () => play(settings, { list, json: values.output === 'json', without: without.filter(isLayerName) }),
    pid => standardErrorProgress().note(`process ${pid} attacks this platform already: waiting until it ends`),
  )
}

type Asked = { readonly list: readonly Attack[]; readonly json: boolean; readonly without: readonly LayerName[] }

async function play(settings: ClusterSettings, { list, json, without }: Asked): Promise<number> {
  const started = performance.now()
  const progress = standardErrorProgress()
  const stop = new AbortController()
  const interrupt = (): void => {
    if (stop.signal.aborted) process.exit(130)
    progress.note('interrupted: cleaning up; interrupt again to leave at once')
    stop.abort()
  }
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, interrupt)
  const { signal } = stop
  await putBackLeftOver({ settings, progress })
  const played = await playAttacks(
    {
      settings,
      progress,
      signal,
      onAttack: (name, ofAttack) => (json ? progress.note(name) : print(`${attackLines(name, ofAttack)}\n`)),
    },
    list,
  )
  const seconds = (performance.now() - started) / 1000
  const summary = summarize(played.results)
  const runs: Without[] = []
  for (const layer of without) {
    if (signal.aborted) break
    const playing = { settings, progress, signal, onAttack: (name: string) => progress.note(`without ${layer}: ${name}`) }
    runs.push(await playWithout(playing, layer, { attacks: list, before: played.results }))
  }
  const floods = list.some(({ form }) => form === 'flood')
  const text = [
    ...(runs.length > 0 ? [...withoutLines(runs), ''] : []),
    summaryText(summary, seconds),
    ...goalLines(seconds, floods),
    ...outcomeLines(played),
  ].join('\n')
  const results = { summary: { ...summary, seconds }, ...played, ...(without.length > 0 && { without: runs }) }
  print(`${json ? JSON.stringify(results, null, 2) : text}\n`)
  if (signal.aborted) return 130
  return summary.stopped === summary.attempts ? 0 : 1
}

await runCommandLine('attack', run)
