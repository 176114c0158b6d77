// What a running platform exposes, judged by promtool: the standalone form as its container starts it, on a control plane of its
// own, because its ports of health and metrics are what is tested. The names and help texts of all metrics are in it.
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { catalog } from '../../dev/cluster/binaries/catalog.ts'
import { ensureBinary } from '../../dev/cluster/binaries/ensure-binary.ts'
import { readKubeconfig } from '../../dev/cluster/control-plane/kubeconfig.ts'
import { silentProgress } from '../../dev/cluster/progress.ts'
import { tryCommand } from '../../dev/cluster/run-command.ts'
import { readClusterSettings, toolEnvironment } from '../../dev/cluster/settings.ts'
import { metricRegistries } from '../../dev/generate/reference/metrics.ts'
import { reservePort } from '../../src/lib/testing/reserved-port.ts'
import { timeLimit } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { trustingFetches } from '../fixtures/broker-replica.ts'
import { tokenOf } from '../fixtures/platform-rights.ts'
import { tokenKubeconfig } from '../fixtures/token-kubeconfig.ts'
import { type Ground, openPlatform, type Platform } from '../platform/open-platform.ts'
import { type PlatformProcess, startPlatformProcess } from '../platform/platform-process.ts'
import { listenVariables, type ProcessPlan } from '../platform/process-plans.ts'

let platform: Platform<PlatformProcess>
let broker: string

async function start({ name, program, account, variables }: ProcessPlan, ground: Ground): Promise<PlatformProcess> {
  const { controlPlane, folder, logs, repository, onClose } = ground
  const { server, certificateAuthority } = await readKubeconfig(controlPlane.kubeconfig)
  const kubeconfig = join(folder, 'kubeconfig')
  const token = await tokenOf(controlPlane.admin, account)
  await writeFile(kubeconfig, tokenKubeconfig({ server, certificateAuthority, token }), { mode: 0o600 })
  const [ofBroker, tokenDesk, admission, source, gitProxy, health] = await Promise.all(
    Array.from({ length: 6 }, () => reservePort()),
  )
  broker = `https://127.0.0.1:${ofBroker}`
  const ports = {
    broker: ofBroker ?? 0,
    tokenDesk: tokenDesk ?? 0,
    gitProxy: gitProxy ?? 0,
    admission: admission ?? 0,
    source: source ?? 0,
  }
  const logFile = join(logs, `${name}.log`)
  await rm(logFile, { force: true })
  const started = await startPlatformProcess({
    name,
    command: [process.execPath, ...program],
    folder: repository,
    environment: {
      PATH: toolEnvironment()['PATH'] ?? '',
      HOME: folder,
      KUBECONFIG: kubeconfig,
      SEKISHO_DATA_FOLDER: join(folder, 'data'),
      ...variables,
      ...listenVariables(ports, health ?? 0),
    },
    healthPort: health ?? 0,
    logFile,
  })
  onClose(started.stop)
  return started
}

beforeAll(async () => {
  platform = await openPlatform({
    form: 'standalone',
    cluster: { name: 'metrics-cluster' },
    database: 'embedded',
    start: (plans, ground) => Promise.all(plans.map(plan => start(plan, ground))),
  })
}, timeLimit(60_000))

afterAll(() => platform?.close())

async function exposition(): Promise<string> {
  const [only] = platform.processes
  const answer = await fetch(`${only?.healthUrl}/metrics`)
  expect(answer.status).toBe(200)
  return answer.text()
}

/** The series of a text, with their values. */
function seriesIn(text: string): readonly (readonly [series: string, value: string])[] {
  const lines = text.split('\n').filter(line => line !== '' && !line.startsWith('#'))
  return lines.map(line => [line.slice(0, line.lastIndexOf(' ')), line.slice(line.lastIndexOf(' ') + 1)])
}

test('promtool finds nothing wrong with what the running platform exposes, and every metric that is documented is there', async () => {
  const settings = readClusterSettings()
  const promtool = (await ensureBinary(catalog.promtool, { settings, progress: silentProgress })).path('promtool')
  const text = await waitUntil('the leader to have compared the audit log', async () => {
    const now = await exposition()
    return /^sekisho_audit_log_problem\{.*\} 0$/m.test(now) ? now : undefined
  })
  const { code, output, errorOutput } = await tryCommand(promtool, ['check', 'metrics'], { input: text })
  const found = `${output}${errorOutput}`.split('\n').filter(line => line !== '')
  // Those of prom-client are its own: nobody could look for them under other names.
  expect(found.filter(line => !line.startsWith('nodejs_'))).toEqual([])
  expect([0, 3]).toContain(code)
  const exposed = new Set([...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name))
  // Of what this platform does not run: a token server of the registry, pods that know their node, a certificate that it renews,
  // the authorizer, a bucket for checkpoints.
  const ofOthers = new Set([
    'sekisho_registry_token_requests_total',
    'sekisho_node_limits_low',
    'sekisho_admission_certificate_expiry_timestamp_seconds',
    'sekisho_authorizer_reviews_total',
    'sekisho_authorizer_certificate_expiry_timestamp_seconds',
    'sekisho_audit_bucket_missing_checkpoints',
    'sekisho_audit_bucket_changed_checkpoints',
  ])
  const documented = metricRegistries().flatMap(registry => registry.getMetricsAsArray().map(({ name }) => name))
  expect(documented.filter(name => !exposed.has(name) && !ofOthers.has(name))).toEqual([])
})

test('what is asked of the broker is counted by route, and a refused request is one line of the log with its id', async () => {
  const { trusting, close } = trustingFetches(await readFile(platform.authorityFile, 'utf8'))
  const ids: string[] = []
  for (const path of ['/', '/nobody/knows/this', '/api/v1/audit', '/api/v1/audit?aftr=1']) {
    const answer = await trusting(`${broker}${path}`)
    if (answer.status >= 400) ids.push(answer.headers.get('x-request-id') ?? '')
    await answer.text()
  }
  await close()
  expect(ids).toHaveLength(3)
  const series = seriesIn(await exposition()).map(([name]) => name)
  const routes = series.flatMap(name => /^sekisho_http_request_duration_seconds_count\{.*route="([^"]*)"/.exec(name)?.[1] ?? [])
  expect(new Set(routes)).toEqual(new Set(['/', 'none', '/api/v1/audit']))
  // The buckets of one histogram alone were 1,862 once.
  expect(series.length).toBeLessThan(1500)
  const lines = (await readFile(platform.processes[0]?.logFile ?? '', 'utf8')).split('\n')
  for (const id of ids) expect(lines.filter(line => line.includes(id))).toHaveLength(1)
})
