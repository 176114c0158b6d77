// What the check reads of the node, what it says and records, and that it says a thing once.
import { expect, onTestFinished, test } from 'vitest'
import { createRecordingLog } from '../../kube/testing/recording-log.ts'
import { containerPtys, kernelLimits, type NodeReading, sysctlFile } from '../../lib/limits/node-limits.ts'
import { waitUntil } from '../../lib/waiting/wait-until.ts'
import { createNodeCheck, nodeStatusConfigMap } from './node-check.ts'
import { readNode } from './read-node.ts'

const sufficient: NodeReading = {
  sysctls: Object.fromEntries(kernelLimits.map(({ name, least }) => [name, least])),
  containerPtys,
}

test('what a container sees of the node is read; what it does not see is left out', async () => {
  const files = new Map([
    [sysctlFile('kernel.pty.max'), '4096\n'],
    ['/proc/self/mountinfo', '1217 1216 0:354 / /dev/pts rw,nosuid - devpts devpts rw,gid=5,max=64\n'],
  ])
  const read = async (file: string): Promise<string> => files.get(file) ?? Promise.reject(new Error('EACCES'))
  expect(await readNode(read)).toEqual({ sysctls: { 'kernel.pty.max': 4096 }, containerPtys: 64 })
  expect(await readNode(() => Promise.reject(new Error('ENOENT')))).toEqual({ sysctls: {}, containerPtys: undefined })
})

function startCheck({ reading, leads = true }: { readonly reading: NodeReading; readonly leads?: boolean }) {
  const log = createRecordingLog()
  const writes: object[] = []
  const observed: number[] = []
  let now = reading
  const check = createNodeCheck({
    client: { apply: async (_type, object) => void writes.push(object) as never },
    node: 'node-1',
    read: async () => now,
    isLeader: () => leads,
    observe: low => observed.push(low),
    // Time does not matter here: rounds follow each other at once.
    clock: { sleep: () => new Promise(resolve => setImmediate(resolve)) },
    log,
  })
  check.start()
  onTestFinished(() => check.stop())
  return { log, writes, observed, becomes: (next: NodeReading) => (now = next) }
}

test('a limit that is too low is an error with its command, recorded with the node, once, and so is the end of it', async () => {
  const { log, writes, observed, becomes } = startCheck({
    reading: { ...sufficient, sysctls: { ...sufficient.sysctls, 'kernel.pty.max': 4096 } },
  })
  await waitUntil('four observations', seen => seen(observed.length) > 3)
  expect(observed[0]).toBe(1)
  expect(log.lines).toMatchObject([
    { level: 'error', message: expect.stringMatching(/^one pod may use up limits of this node/), node: 'node-1' },
  ])
  expect(writes).toHaveLength(1)
  expect(writes[0]).toMatchObject({
    metadata: { namespace: 'sekisho-system', name: nodeStatusConfigMap },
    data: { node: 'node-1', limits: 'kernel.pty.max is 4096, must be at least 65536: sysctl -w kernel.pty.max=65536' },
  })
  becomes(sufficient)
  await waitUntil('a node with enough', seen => seen(observed.at(-1)) === 0)
  await waitUntil('the second record', () => {
    expect(writes[1]).toMatchObject({ data: { node: 'node-1', limits: 'sufficient' } })
    return true
  })
  expect(log.lines.map(({ level }) => level)).toEqual(['error', 'info'])
})

test('a replica that does not lead says what it finds on its node and records nothing', async () => {
  const { log, writes, observed } = startCheck({ reading: { sysctls: {}, containerPtys: 4096 }, leads: false })
  await waitUntil('four observations', seen => seen(observed.length) > 3)
  expect(observed[0]).toBe(1)
  expect(log.lines).toHaveLength(1)
  expect(writes).toEqual([])
})
