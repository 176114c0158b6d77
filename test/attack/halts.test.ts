// The policies about Halts that the webhook has no twin of, on a real API server: where a Halt may be, and what a halted person
// may still do with an ID token of before.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Manifest, policyFiles } from '../../src/admission/policies.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { admissionPath } from '../fixtures/policies.ts'
import { type AttackCluster, startAttackCluster } from './attack-cluster.ts'
import { createFixtures } from './fixtures.ts'
import { dave, leaver } from './identities.ts'
import { haltPolicyRows } from './rows/halt-rows.ts'
import type { Row } from './rows/row.ts'

let cluster: AttackCluster
beforeAll(async () => {
  cluster = await startAttackCluster({ name: 'halts-cluster' })
  await createFixtures(cluster)
})
afterAll(() => cluster?.stop())

const names = ['halt-places', 'halted-persons', 'halted-persons-elsewhere', 'halted-answers']
const policies: readonly Manifest[] = [...policyFiles()].flatMap(([file, manifests]) =>
  names.includes(file.replace('.yaml', '')) ? manifests : [],
)

const attempt = async (row: Row) => {
  const { status, message } = await cluster.send(row.as, { ...row, path: `${row.path}?dryRun=All` })
  return { name: row.name, status, message, wanted: [row.expected, ...row.also].map(rule => `'sekisho-${rule}'`) }
}
const attemptAll = () => Promise.all(haltPolicyRows.map(attempt))
const refusals = haltPolicyRows.filter(({ expected }) => expected !== 'allowed')

test('Halts are where they hold for something, and whom they name changes nothing with a token of before', async () => {
  expect(policies.map(({ kind }) => kind.replace('ValidatingAdmission', '')).toSorted()).toEqual([
    ...Array(4).fill('Policy'),
    ...Array(6).fill('PolicyBinding'),
  ])
  // Without the policies nothing is refused.
  expect((await attemptAll()).filter(({ status }) => status >= 300)).toEqual([])
  for (const manifest of policies) await cluster.admin.apply(admissionPath(manifest), manifest)
  await waitUntil('the policies are in force', async () => {
    const replies = await Promise.all(refusals.map(attempt))
    return replies.every(({ status }) => status === 403) || undefined
  })
  const unexpected = (await attemptAll()).filter(({ status, message, wanted }) =>
    wanted.includes("'sekisho-allowed'")
      ? status >= 300
      : !(status === 403 && wanted.some(name => message.includes(name) || message.includes(name.replace(/'$/, "-by-platform'")))),
  )
  expect(unexpected).toEqual([])
  const exec = '/api/v1/namespaces/acme/pods/runner/exec?command=id&stdout=true'
  const halted = await cluster.as(leaver, 'POST', exec)
  expect([halted.status, halted.message]).toEqual([
    403,
    expect.stringContaining('you are halted by Halt sekisho-system/of-leaver'),
  ])
  // A person who is not halted gets as far as the kubelet, which is not there.
  expect((await cluster.as(dave, 'POST', exec)).message).not.toContain('halted')
})
