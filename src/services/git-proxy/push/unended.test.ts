// Pushes whose process died: which get an end, when, and that none gets two.
import { expect, test } from 'vitest'
import type { AuditRecord } from '../../../api/audit/audit-event.ts'
import type { AuditEntry } from '../../../store/audit/audit-chain.ts'
import { endUnended } from './unended.ts'

const minute = 60_000

function world() {
  let now = 0
  const entries: AuditEntry[] = []
  const append = async (record: AuditRecord): Promise<void> => {
    const at = new Date(now).toISOString()
    entries.push({ ...record, sequence: entries.length + 1, at, previousHash: '', hash: '' })
  }
  const audit = {
    append,
    head: async () => ({ sequence: entries.length, hash: '' }),
    list: async ({
      after = 0,
      through = Infinity,
      actions = [],
      limit,
    }: Parameters<typeof endUnended>[0]['audit']['list'] extends (query: infer Q) => unknown ? Q : never) =>
      entries
        .filter(({ sequence, action }) => sequence > after && sequence <= through && actions.includes(action))
        .slice(0, limit),
  } as unknown as Parameters<typeof endUnended>[0]['audit']
  const record = (action: 'git.push-intended' | 'git.pushed', push: string, ref: string) =>
    append({
      ...{ action, actor: 'system:serviceaccount:acme:runner', namespace: 'acme', object: 'RepositoryGrant/acme/write-shop' },
      ...{ outcome: 'allowed', reason: 'x', details: { push, ref, grantUid: 'g', from: '0', to: '1' } },
    })
  let leads = true
  const clock = { now: () => new Date(now) } as Parameters<typeof endUnended>[0]['clock']
  return {
    entries,
    record,
    pass(minutes: number) {
      now += minutes * minute
    },
    lose() {
      leads = false
    },
    regain() {
      leads = true
    },
    round: (settled?: number) => endUnended({ audit, clock, mayGoOn: () => leads }, settled),
    ends: () => entries.filter(({ actor }) => actor === 'sekisho:git-proxy'),
  }
}

test('a push whose process died gets an end that says it is not known, once, also from a new leader', async () => {
  const { record, pass, round, ends, entries } = world()
  await record('git.push-intended', 'p1', 'refs/heads/a')
  await record('git.push-intended', 'p1', 'refs/heads/b')
  await record('git.pushed', 'p1', 'refs/heads/b')
  pass(76)
  const settled = await round()
  expect(ends()).toMatchObject([
    {
      ...{ action: 'git.pushed', outcome: 'failed', namespace: 'acme', object: 'RepositoryGrant/acme/write-shop' },
      ...{ reason: expect.stringContaining('is not known'), details: { push: 'p1', ref: 'refs/heads/a', grantUid: 'g' } },
    },
  ])
  await round(settled)
  await round()
  expect([ends().length, entries.length]).toEqual([1, 4])
})

test('a push that goes on is left alone until it cannot go on any more, and what came before it is not read again', async () => {
  const { record, pass, round, ends } = world()
  await record('git.push-intended', 'p0', 'refs/heads/a')
  await record('git.pushed', 'p0', 'refs/heads/a')
  await record('git.push-intended', 'p1', 'refs/heads/a')
  pass(60)
  const settled = await round()
  expect([settled, ends()]).toEqual([2, []])
  await record('git.push-intended', 'p2', 'refs/heads/a')
  pass(20)
  expect(await round(settled)).toBe(3)
  expect(ends()).toMatchObject([{ details: { push: 'p1' } }])
})

test('more refs than one page, and an end on another page than its intent', async () => {
  const { record, pass, round, ends } = world()
  for (let at = 0; at < 1500; at++) await record('git.push-intended', 'p', `refs/heads/${at}`)
  for (let at = 0; at < 1499; at++) await record('git.pushed', 'p', `refs/heads/${at}`)
  pass(76)
  await round()
  expect(ends()).toMatchObject([{ details: { ref: 'refs/heads/1499' } }])
})

test('who leads no more records nothing, and begins anew when it leads again', async () => {
  const { record, pass, round, ends, lose, regain } = world()
  await record('git.push-intended', 'p1', 'refs/heads/a')
  pass(76)
  lose()
  expect([await round(), ends()]).toEqual([undefined, []])
  regain()
  await round()
  expect(ends()).toHaveLength(1)
})
