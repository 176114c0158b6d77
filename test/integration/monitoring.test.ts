// What Prometheus reads of us, by its own program: the rules are valid, each alert fires when it should and not otherwise, and
// every expression of the dashboard is one. promtool comes from the cache of programs of the local cluster.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { catalog } from '../../dev/cluster/binaries/catalog.ts'
import { ensureBinary } from '../../dev/cluster/binaries/ensure-binary.ts'
import { silentProgress } from '../../dev/cluster/progress.ts'
import { tryCommand } from '../../dev/cluster/run-command.ts'
import { readClusterSettings } from '../../dev/cluster/settings.ts'
import type { Alert, Series } from '../../dev/generate/monitoring/alert.ts'
import { alerts, expressions, operationsPage, ruleGroups } from '../../dev/generate/monitoring/files.ts'

const settings = readClusterSettings()
let promtool: string
let folder: string

beforeAll(async () => {
  promtool = (await ensureBinary(catalog.promtool, { settings, progress: silentProgress })).path('promtool')
  folder = await mkdtemp(join(tmpdir(), 'monitoring-'))
})

afterAll(() => rm(folder, { recursive: true }))

/** What promtool says, and how it ended. */
async function run(...args: readonly string[]) {
  const { code, output, errorOutput } = await tryCommand(promtool, args)
  return { code, output: output + errorOutput }
}

test('the rules that are deployed are valid', async () => {
  const rules = join(settings.repository, 'deploy/monitoring/rules.yaml')
  expect(await run('check', 'rules', rules)).toEqual({ code: 0, output: expect.stringContaining(`${alerts.length} rules found`) })
})

test('every expression of the dashboard is one of Prometheus', async () => {
  const rules = expressions().map(({ expression }, index) => ({
    record: `panel:${index}`,
    // Grafana fills it in.
    expr: expression.replaceAll('$__rate_interval', '5m'),
  }))
  const file = join(folder, 'panels.yaml')
  await writeFile(file, stringify({ groups: [{ name: 'panels', rules }] }))
  expect(await run('check', 'rules', file)).toEqual({ code: 0, output: expect.stringContaining(`${rules.length} rules found`) })
})

const inputs = (series: Series) => Object.entries(series).map(([name, values]) => ({ series: name, values }))

/** One case of `promtool test rules`: the alerts of that name at each of the times, `fires` or not. */
function played({ name, example }: Alert, which: 'fires' | 'silent') {
  const { minutes } = example
  const times = which === 'fires' ? [minutes] : Array.from({ length: minutes + 1 }, (_, minute) => minute)
  return {
    name: `${name} ${which}`,
    interval: '1m',
    input_series: inputs(example[which]),
    promql_expr_test: times.map(minute => ({
      expr: `count(ALERTS{alertname="${name}",alertstate="firing"}) > 0`,
      eval_time: `${minute}m`,
      exp_samples: which === 'fires' ? [{ labels: '{}', value: 1 }] : [],
    })),
  }
}

async function play(of: readonly Alert[], which: 'fires' | 'silent') {
  const [rules, tests] = [join(folder, 'rules.yaml'), join(folder, 'tests.yaml')]
  await writeFile(rules, stringify({ groups: ruleGroups(of) }))
  const cases = { rule_files: [rules], evaluation_interval: '1m', tests: of.map(alert => played(alert, which)) }
  await writeFile(tests, stringify(cases, { aliasDuplicateObjects: false }))
  return run('test', 'rules', tests)
}

test.each(['fires', 'silent'] as const)('every alert: %s as its example says', async which => {
  const { code, output } = await play(alerts, which)
  expect(output).toContain('SUCCESS')
  expect(code).toBe(0)
})

test('an alert that never fires, and one that always does, fail their example', async () => {
  const [first] = alerts
  if (first === undefined) throw new Error('there is no alert')
  expect((await play([{ ...first, expression: 'vector(1) > 1' }], 'fires')).code).not.toBe(0)
  expect((await play([{ ...first, expression: 'vector(1)', for: '0m' }], 'silent')).code).not.toBe(0)
})

test('every alert leads to a section that says what to do, and every section is of an alert', async () => {
  const page = await readFile(join(settings.repository, operationsPage), 'utf8')
  const sections = page
    .split(/^### /m)
    .slice(1)
    .map(section => {
      const [heading = '', ...text] = section.split(/\n(?!\n)/)
      return { heading: heading.trim(), words: text.join(' ').split(/\s+/).length }
    })
  const ofAlerts = sections.filter(({ heading }) => heading.startsWith('Sekisho'))
  expect(ofAlerts.map(({ heading }) => heading).toSorted()).toEqual(alerts.map(({ name }) => name).toSorted())
  expect(ofAlerts.filter(({ words }) => words < 20)).toEqual([])
})
