// What Prometheus reads of us, by its own program: the rules are valid, each alert fires when it should and not otherwise, and
// every expression of the dashboard is one. promtool comes from the cache of programs of the local cluster.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseAllDocuments, stringify } from 'yaml'
import { catalog } from '../../dev/cluster/binaries/catalog.ts'
import { ensureBinary } from '../../dev/cluster/binaries/ensure-binary.ts'
import { silentProgress } from '../../dev/cluster/progress.ts'
import { runCommand, tryCommand } from '../../dev/cluster/run-command.ts'
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
function played({ name, example }: Alert, which: 'fires' | 'silent' | 'firesWithout') {
  const { minutes } = example
  const times = which !== 'silent' ? [minutes] : Array.from({ length: minutes + 1 }, (_, minute) => minute)
  return {
    name: `${name} ${which}`,
    interval: '1m',
    input_series: which === 'firesWithout' ? [] : inputs(example[which]),
    promql_expr_test: times.map(minute => ({
      expr: `count(ALERTS{alertname="${name}",alertstate="firing"}) > 0`,
      eval_time: `${minute}m`,
      exp_samples: which !== 'silent' ? [{ labels: '{}', value: 1 }] : [],
    })),
  }
}

/** Each alert by itself: one that needs a day would have all others evaluated for a day. */
async function play(of: readonly Alert[], which: 'fires' | 'silent' | 'firesWithout') {
  const files = of.map(async alert => {
    const [rules, tests] = [`${alert.name}-rules.yaml`, join(folder, `${alert.name}-tests.yaml`)]
    await writeFile(join(folder, rules), stringify({ groups: ruleGroups([alert]) }))
    // An alert is seen for five minutes after each evaluation.
    const every = alert.example.minutes > 120 ? '5m' : '1m'
    await writeFile(tests, stringify({ rule_files: [rules], evaluation_interval: every, tests: [played(alert, which)] }))
    return tests
  })
  return run('test', 'rules', ...(await Promise.all(files)))
}

test('an alert about something that must be reported fires when nobody reports it', async () => {
  const of = alerts.filter(({ example }) => example.firesWithout)
  const { code, output } = await play(of, 'firesWithout')
  expect(of.map(({ name }) => name)).toContain('SekishoWallsNotProbed')
  expect([code, output]).toEqual([0, expect.stringContaining('SUCCESS')])
})

test.each(['fires', 'silent'] as const)('every alert: %s as its example says', async which => {
  const { code, output } = await play(alerts, which)
  expect(output.match(/SUCCESS/g)).toHaveLength(alerts.length)
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

type Rendered = {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace: string; readonly labels?: Readonly<Record<string, string>> }
  readonly data?: Readonly<Record<string, string>>
  readonly spec: Record<string, unknown>
}

async function rendered(of: string): Promise<readonly Rendered[]> {
  const kubectl = (await ensureBinary(catalog.kubernetes, { settings, progress: silentProgress })).path('kubectl')
  const text = await runCommand(kubectl, ['kustomize', join(settings.repository, 'deploy', of)])
  return parseAllDocuments(text).map(document => document.toJS() as Rendered)
}

test('deploy/monitoring has what the operator of Prometheus and the sidecar of Grafana look for', async () => {
  const objects = await rendered('monitoring')
  expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`).toSorted()).toEqual([
    'ConfigMap sekisho-system/sekisho-dashboard',
    'PodMonitor sekisho-system/sekisho',
    'PrometheusRule sekisho-system/sekisho',
  ])
  const config = objects.find(({ kind }) => kind === 'ConfigMap')
  expect(config?.metadata.labels).toMatchObject({ grafana_dashboard: '1' })
  expect(JSON.parse(config?.data?.['dashboard.json'] ?? '')).toMatchObject({ uid: 'sekisho', title: 'Sekisho' })
})

test.each([
  ['standalone', 1, 'sekisho-metrics'],
  ['production', 4, 'sekisho-metrics'],
  ['authorizer', 1, 'sekisho-authorizer-metrics'],
] as const)('Prometheus finds every process of deploy/%s, and the network lets it in', async (form, processes, policyName) => {
  const [monitor] = (await rendered('monitoring')).filter(({ kind }) => kind === 'PodMonitor')
  const objects = await rendered(form)
  const isWithin = (wanted: object, labels: object) => expect(labels).toMatchObject(wanted)
  const { selector, podMetricsEndpoints } = (monitor?.spec ?? {}) as {
    readonly selector: { readonly matchExpressions: readonly Requirement[] }
    readonly podMetricsEndpoints: readonly { readonly port: string }[]
  }
  const deployments = objects.filter(({ kind, metadata }) => kind === 'Deployment' && !metadata.name.includes('probe'))
  const pods = deployments.map(({ spec }) => spec['template'] as Pod)
  expect(pods).toHaveLength(processes)
  const policy = objects.find(({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === policyName)
  const { podSelector, ingress } = (policy?.spec ?? {}) as {
    readonly podSelector: { readonly matchLabels: object }
    readonly ingress: readonly [{ readonly ports: readonly [{ readonly port: number }] }]
  }
  for (const { metadata, spec } of pods) {
    for (const { key, operator, values } of selector.matchExpressions)
      expect([operator, values]).toEqual(['In', expect.arrayContaining([metadata.labels[key]])])
    isWithin(podSelector.matchLabels, metadata.labels)
    const ports = spec.containers.flatMap(container => container.ports ?? [])
    const scraped = ports.filter(({ name }) => name === podMetricsEndpoints[0]?.port)
    expect(scraped.map(({ containerPort }) => containerPort)).toEqual([ingress[0].ports[0].port])
  }
})

type Requirement = { readonly key: string; readonly operator: string; readonly values: readonly string[] }

type Pod = {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> }
  readonly spec: {
    readonly containers: readonly { readonly ports?: readonly { readonly name: string; readonly containerPort: number }[] }[]
  }
}
