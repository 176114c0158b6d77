// `make soak`: runs the whole platform for a quarter of an hour under churn (Applications, pushes, tokens) and faults (API
// server, GitHub, and in the production form killed processes), then without faults, and compares the state with the expected
// one. Exits with 1 when a promise was broken. Bounded in time.
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { readClusterSettings } from '../../dev/cluster/settings.ts'
import type { Mode as Form } from '../../src/api/names.ts'
import { messageOf } from '../../src/lib/errors.ts'
import { createApplications } from './applications.ts'
import { evaluateSoak, type SoakRow } from './assertions.ts'
import { auditProblems, compareEffects, type Effects, untilEffects } from './effects.ts'
import { createFaultInjection } from './fault-injection.ts'
import { createKills } from './kills.ts'
import { createMeasurements } from './measurements.ts'
import { openSoakPlatform, type SoakPlatform } from './platform.ts'
import { createPushes } from './pushes.ts'
import { sum, warmUpSeconds } from './samples.ts'
import { silencesUntilFound } from './silences.ts'
import { openTenant } from './tenant.ts'
import { createTokens } from './tokens.ts'

const usage = `usage: make soak [M=minutes] [MODE=form]   or   node test/soak/main.ts [--form F] [--minutes N] [--calm] [-o json]
  --form F     production (default): broker, controllers and admission, two replicas each; or standalone: one process
  --minutes N  duration of churn and faults, 1 to 240 (default 15)
  --calm       churn without faults
  -o json      print the rows as JSON
`

type Options = { readonly form: Form; readonly minutes: number; readonly calm: boolean; readonly json: boolean }

function readOptions(): Options | undefined {
  const form = { type: 'string', default: 'production' } as const
  const options = { form, minutes: { type: 'string', default: '15' }, calm: { type: 'boolean', default: false } } as const
  const more = { output: { type: 'string', short: 'o', default: 'table' }, help: { type: 'boolean', default: false } } as const
  const { values } = parseArgs({ options: { ...options, ...more } })
  const minutes = Number(values.minutes)
  const known = values.output === 'table' || values.output === 'json'
  if (values.help || !known || !isForm(values.form) || !(minutes >= 1 && minutes <= 240)) return undefined
  return { form: values.form, minutes, calm: values.calm, json: values.output === 'json' }
}

function isForm(text: string): text is Form {
  return text === 'production' || text === 'standalone'
}

/** Calls `work` at this interval until the signal aborts; an error of `work` rejects. */
async function repeat(everyMilliseconds: number, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    const began = performance.now()
    await work()
    const left = Math.max(0, everyMilliseconds - (performance.now() - began))
    await new Promise<void>(resolve => {
      const timer = setTimeout(done, left)
      function done(): void {
        clearTimeout(timer)
        signal.removeEventListener('abort', done)
        resolve()
      }
      signal.addEventListener('abort', done)
    })
  }
}

async function soak(fixture: SoakPlatform, { minutes, calm }: Options): Promise<readonly SoakRow[]> {
  await openTenant(fixture)
  const over = new AbortController()
  const applications = createApplications(fixture, over.signal)
  const pushes = await createPushes(fixture)
  const killing = !calm && fixture.form === 'production'
  const tokens = await createTokens(fixture, killing)
  const faults = createFaultInjection(fixture)
  const measurements = createMeasurements(fixture.processes)
  const began = performance.now()
  const elapsed = (): number => (performance.now() - began) / 1000
  const kills = createKills(fixture.processes, () => elapsed() < warmUpSeconds(minutes))
  const timer = setTimeout(() => over.abort(), minutes * 60_000)
  const failed: unknown[] = []
  const run = (everyMilliseconds: number, work: () => Promise<void>): Promise<void> =>
    repeat(everyMilliseconds, over.signal, work).catch((error: unknown) => {
      failed.push(error)
      over.abort()
    })
  const monitor = async (): Promise<void> => {
    const ended = fixture.ended()
    if (ended !== undefined) throw new Error(ended)
    await measurements.sample(elapsed())
  }
  const report = async (): Promise<void> => {
    const memory = await measurements.memory(elapsed())
    const facts = `${applications.writes()} writes, ${pushes.pushed()} pushes, ${tokens.delivered()} tokens`
    console.error(`[${elapsed().toFixed(0).padStart(5)} s] ${facts}; ${memory}`)
  }
  try {
    await Promise.all([
      run(1000, applications.tick),
      run(3000, pushes.tick),
      run(1000, tokens.tick),
      ...(calm ? [] : [run(4000, faults.next)]),
      ...(killing ? [run(20_000, kills.next)] : []),
      run(5000, monitor),
      run(20_000, report),
    ])
    if (failed.length > 0) throw failed[0]
    await faults.end()
    console.error('no more faults: waiting for the expected state')
    const calmSince = performance.now()
    await tokens.end()
    const compare = (): Promise<Effects> => compareEffects(fixture, { applications: applications.wanted, heads: pushes.heads })
    const effects = await untilEffects(fixture, compare, 180_000)
    const settledSeconds = (performance.now() - calmSince) / 1000
    const audit = await auditProblems(fixture)
    const { processes } = measurements
    const samples = processes.flatMap(process => process.samples)
    const [quietest] = samples.toSorted((one, other) => other.watchSilence - one.watchSilence)
    if (quietest !== undefined)
      console.error(
        `longest silence: ${quietest.silentKind}, ${quietest.watchSilence.toFixed(1)} s, at ${quietest.at.toFixed(0)} s`,
      )
    for (const item of effects.lost) console.error(`lost: ${item}`)
    for (const item of [...effects.duplicate, ...audit.repeated]) console.error(`twice: ${item}`)
    const counts: Record<string, number> = {
      'writes by developers': applications.writes(),
      'pushes by git': pushes.pushed(),
      'tokens delivered': tokens.delivered(),
      'grants written again because no webhook answered': tokens.repeated(),
      ...Object.fromEntries([...tokens.refusals].map(([status, count]) => [`token desk answered ${status}`, count])),
      'audit entries': audit.entries,
      lists: sum(processes.map(process => process.samples.at(-1)?.lists ?? 0)),
      'watches ended': sum(processes.map(process => process.samples.at(-1)?.watchEnds ?? 0)),
      ...Object.fromEntries([...kills.counts].map(([name, count]) => [`fault: ${name} killed`, count])),
      ...Object.fromEntries([...faults.counts].sort().map(([name, count]) => [`fault: ${name}`, count])),
    }
    const tokensAlive = await tokens.alive()
    const silences = fixture.proxies.flatMap(proxy => silencesUntilFound(proxy.log.entries(), performance.now()))
    const { delays } = applications
    return evaluateSoak({ minutes, processes, silences, effects, settledSeconds, tokensAlive, audit, delays, counts })
  } finally {
    clearTimeout(timer)
    over.abort()
    await pushes.close()
    await tokens.close()
  }
}

function print(rows: readonly SoakRow[]): void {
  for (const { what, value, unit, atMost, met } of rows) {
    const shown = Number.isInteger(value) ? String(value) : value.toFixed(2)
    const bound = atMost === undefined ? '' : `  at most ${atMost}`
    const result = met === undefined ? '' : met ? '  held' : '  BROKEN'
    console.log(`${what.padEnd(58)} ${shown.padStart(9)} ${unit.padEnd(6)}${bound}${result}`)
  }
}

async function main(): Promise<number> {
  const options = readOptions()
  if (options === undefined) {
    process.stderr.write(usage)
    return 2
  }
  const fixture = await openSoakPlatform({ form: options.form })
  try {
    const rows = await soak(fixture, options)
    const file = join(readClusterSettings().stateFolder, 'soak', `result-${options.form}.json`)
    await mkdir(dirname(file), { recursive: true })
    const result = { date: new Date().toISOString(), form: options.form, minutes: options.minutes, calm: options.calm, rows }
    await writeFile(file, `${JSON.stringify(result, null, 2)}\n`)
    if (options.json) console.log(JSON.stringify(result, null, 2))
    else print(rows)
    return rows.some(({ met }) => met === false) ? 1 : 0
  } finally {
    await fixture.close()
  }
}

try {
  process.exitCode = await main()
} catch (error) {
  console.error(`soak: ${messageOf(error)}`)
  process.exitCode = 1
}
