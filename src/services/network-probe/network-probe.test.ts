// What the probe concludes from real connections, what it records and says, and that it says a thing once.
import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import type { ConfigMap } from '../../api/builtin/index.ts'
import { createRecordingLog } from '../../kube/testing/recording-log.ts'
import { waitUntil } from '../../lib/waiting/wait-until.ts'
import { type Enforcement, enforcementConfigMap, enforcementOf, recordedEnforcement } from './enforcement.ts'
import { createNetworkProbe } from './network-probe.ts'

const silent = { allowed: false, ingress: false, egress: false }

test.each<readonly [string, Partial<typeof silent>, Enforcement]>([
  ['only what is allowed opens', { allowed: true }, { ingress: 'Enforced', egress: 'Enforced' }],
  ['everything opens', { allowed: true, ingress: true, egress: true }, { ingress: 'NotEnforced', egress: 'NotEnforced' }],
  ['egress alone is enforced', { allowed: true, ingress: true }, { ingress: 'NotEnforced', egress: 'Enforced' }],
  ['nothing opens: silence proves nothing', {}, { ingress: 'Unknown', egress: 'Unknown' }],
  ['a forbidden port opens although the allowed one does not', { egress: true }, { ingress: 'Unknown', egress: 'NotEnforced' }],
])('%s', (_what, reached, expected) => {
  expect(enforcementOf({ ...silent, ...reached })).toEqual(expected)
})

test.each([undefined, {}, { data: { ingress: 'yes', egress: '' } }])(
  'a record that is absent or strange is unknown: %j',
  record => {
    expect(recordedEnforcement(record as ConfigMap | undefined)).toEqual({ ingress: 'Unknown', egress: 'Unknown' })
  },
)

/** A port of this host that accepts connections until it is closed. */
async function openPort(): Promise<{ readonly port: number; readonly close: () => void }> {
  const server = createServer(socket => socket.destroy())
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('no address')
  return { port: address.port, close: () => server.close() }
}

async function startProbe() {
  const [allowed, ingress, egress] = await Promise.all([openPort(), openPort(), openPort()])
  const log = createRecordingLog()
  const observed: Enforcement[] = []
  const writes: object[] = []
  let recorded: ConfigMap | undefined
  const probe = createNetworkProbe({
    client: {
      apply: async (_type, object) => {
        writes.push(object)
        recorded = object as ConfigMap
        return object as never
      },
    },
    records: { get: ({ name }) => (name === enforcementConfigMap ? recorded : undefined) },
    host: '127.0.0.1',
    ports: { allowed: allowed.port, ingress: ingress.port, egress: egress.port },
    isLeader: () => true,
    observe: found => observed.push(found),
    // Time does not matter here: rounds follow each other at once.
    clock: { sleep: () => new Promise(resolve => setImmediate(resolve)) },
    log,
  })
  probe.start()
  onTestFinished(() => probe.stop())
  return { allowed, ingress, egress, log, observed, writes }
}

test('a network that is open is reported as an error and recorded, once, and so is the end of it', async () => {
  const { ingress, egress, log, observed, writes } = await startProbe()
  await waitUntil('four observations', seen => seen(observed.length) > 3)
  expect(observed[0]).toEqual({ ingress: 'NotEnforced', egress: 'NotEnforced' })
  expect(log.lines).toMatchObject([{ level: 'error', message: expect.stringMatching(/^NETWORK POLICIES ARE NOT ENFORCED/) }])
  expect(writes).toMatchObject([
    {
      metadata: { namespace: 'sekisho-system', name: enforcementConfigMap },
      data: { ingress: 'NotEnforced', egress: 'NotEnforced' },
    },
  ])
  ingress.close()
  egress.close()
  await waitUntil('the second record', seen => seen(writes).length === 2)
  expect(writes[1]).toMatchObject({ data: { ingress: 'Enforced', egress: 'Enforced' } })
  expect(log.lines.at(-1)).toMatchObject({ level: 'info', message: 'network policies are enforced' })
})

test('without a probe that answers nothing is recorded: it would look like a policy', async () => {
  const { allowed, ingress, egress, log, observed, writes } = await startProbe()
  for (const port of [allowed, ingress, egress]) port.close()
  await waitUntil('both directions to be unknown', () => {
    expect(observed.at(-1)).toEqual({ ingress: 'Unknown', egress: 'Unknown' })
    return true
  })
  await waitUntil('the log to say that nothing answers', seen =>
    /the probe does not answer/.test(seen(`${log.lines.at(-1)?.message}`)),
  )
  // What was found before the ports closed may have been recorded; then unknown replaces it.
  const before = writes.length
  expect(recordedEnforcement(writes.at(-1) as ConfigMap | undefined)).toEqual({ ingress: 'Unknown', egress: 'Unknown' })
  await waitUntil('six observations', seen => seen(observed.length) > 5)
  expect(writes).toHaveLength(before)
})
