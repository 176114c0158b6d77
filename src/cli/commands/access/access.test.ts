// The answers about access and tokens, from entries as the platform sends them.
import { beforeEach, describe, expect, test } from 'vitest'
import { movableClock } from '../../../../test/fixtures/databases.ts'
import type { Entry } from '../audit/entry.ts'
import type { CommandContext } from '../context.ts'
import { accessPerson, accessRepository, accessWorkload } from './access.ts'
import { tokensList, tokensShow } from './tokens.ts'

const clock = movableClock('2026-11-28T13:30:00Z')
const dave = 'github|github.com|1002'
const hashedToken = 'n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg='
const base = { person: dave, login: 'dave', grantUid: 'u1', rule: 'read-contents' }
const ofToken = {
  ...base,
  token: 't1',
  hashedToken,
  repositoryIds: [4001],
  repositories: [{ id: 4001, fullName: 'acme/shop' }],
  permissions: { contents: 'read' },
  subject: { kind: 'ServiceAccount', name: 'ci', uid: 's1' },
}

let sequence = 0
function entry(at: string, action: string, details: object, more: object = {}): Entry {
  sequence += 1
  return {
    ...{ sequence, at: `2026-11-28T${at}:00.000Z`, action, actor: 'sekisho:token-desk', namespace: 'acme' },
    ...{ object: 'RepositoryGrant/acme/read-shop', outcome: 'allowed', reason: 'r', details, previousHash: '', hash: 'h' },
    ...more,
  }
}

const ci = { actor: 'system:serviceaccount:acme:ci' }
const pod = { pod: { name: 'ci-7', uid: 'p' }, address: '10.0.0.7' }
const entries: readonly Entry[] = [
  entry('09:00', 'grant.decided', {
    ...base,
    repositoryIds: [4001],
    repositories: [{ id: 4001, fullName: 'acme/shop' }],
    subjects: [{ kind: 'ServiceAccount', name: 'ci' }],
    permissions: { contents: 'read' },
  }),
  entry('13:00', 'token.minted', { ...ofToken, expiresAt: '2026-11-28T14:00:00.000Z' }, ci),
  entry('13:00', 'token.delivered', { ...ofToken, ...pod }, ci),
  entry('13:05', 'token.delivered', { ...ofToken, ...pod, count: 4, until: '2026-11-28T13:15:00.000Z' }, ci),
  entry('13:20', 'grant.ended', { ...base, cause: 'Deleted', doer: dave, doerLogin: 'dave' }),
]
const revoked = entry('13:20', 'token.revoked', {
  ...ofToken,
  cause: 'the grant was deleted',
  causeAt: '2026-11-28T13:20:00.000Z',
})

let printed: string[]
let asked: string[]
beforeEach(() => {
  printed = []
  asked = []
})

function contextOf(log: readonly Entry[] = entries): CommandContext {
  const passes = (one: Entry, query: URLSearchParams) => {
    const details = one['details'] as { grantUid?: string; hashedToken?: string; repositoryIds?: readonly number[] }
    const action = String(one['action'])
    const what = query.get('what')
    return (
      (what !== 'decisions' || action.startsWith('grant.')) &&
      (what !== 'deliveries' || action === 'token.delivered') &&
      (what !== 'tokens' || action.startsWith('token.')) &&
      (query.get('uid') ?? details.grantUid) === details.grantUid &&
      (!query.has('hashedToken') || (action === 'token.minted' && query.get('hashedToken') === details.hashedToken)) &&
      (!query.has('repository') || details.repositoryIds?.includes(Number(query.get('repository'))) === true) &&
      (!query.has('action') || query.get('action') === action) &&
      (!query.has('actor') || query.get('actor') === one['actor']) &&
      String(one['at']) >= (query.get('since') ?? '') &&
      String(one['at']) < (query.get('until') ?? '9')
    )
  }
  const api = {
    lines: async (_path: string, query: URLSearchParams) => log.filter(one => passes(one, query)),
    json: async () => ({
      repository: { matches: [{ id: '4001' }], near: [] },
      person: { matches: [{ id: dave, name: 'dave' }], near: [] },
    }),
    async *follow(_path: string, query: URLSearchParams) {
      asked.push(query.toString())
      yield log.filter(one => passes(one, query) && one.sequence > Number(query.get('after')))
      yield [{ readThrough: 1000, end: true }]
    },
  }
  return {
    terminal: { result: (text: string) => void printed.push(text), say: () => {} },
    say: (text: string) => void printed.push(text),
    clock,
    api: async () => api,
  } as unknown as CommandContext
}

describe('access', () => {
  test('to a repository at a time: who could by which rule, who has a token of the hour before', async () => {
    await accessRepository(contextOf(), { argument: 'acme/shop', at: '2026-11-28T13:10:00Z', output: 'table' })
    const text = printed.join('\n')
    expect(text).toMatch(
      /acme\/read-shop\s+ServiceAccount\/ci\s+contents: read\s+dave \(1002\)\s+read-contents\s+2026-11-28 09:00:00/,
    )
    expect(text).toMatch(/until|UNTIL/)
    expect(text).toContain('2026-11-28 13:20:00 Deleted by dave')
    expect(text).toMatch(
      /acme\/ci\s+ci-7\s+10\.0\.0\.7\s+acme\/read-shop\s+dave \(1002\)\s+5\s+2026-11-28 13:00:00\s+2026-11-28 13:15:00/,
    )
    expect(asked.some(query => query.includes('uid=u1'))).toBe(true)
  })

  test('nobody could after the grant ended, and before it was approved', async () => {
    for (const at of ['2026-11-28T13:25:00Z', '2026-11-28T08:59:00Z']) {
      printed = []
      await accessRepository(contextOf(), { argument: '4001', at, output: 'table' })
      expect(printed.join('\n')).toContain('nobody: no grant was approved')
    }
  })

  test('of a person and of a workload, in a range', async () => {
    const range = { since: '2026-11-28T00:00:00Z', output: 'json' } as const
    await accessPerson(contextOf(), { argument: 'dave', ...range })
    await accessWorkload(contextOf(), { argument: 'acme/ci', ...range })
    const answers = printed.filter(text => text.startsWith('{')).map(text => JSON.parse(text))
    expect(answers).toHaveLength(2)
    for (const answer of answers) {
      expect(answer.could).toMatchObject([{ grant: 'acme/read-shop', until: '2026-11-28T13:20:00.000Z' }])
      expect(answer.did).toMatchObject([{ who: 'system:serviceaccount:acme:ci', pod: 'ci-7', times: 5 }])
    }
  })

  test.each([
    [{ argument: 'acme/shop', at: 'soon', output: 'table' } as const, '--at: soon is no time'],
    [{ argument: 'acme/shop', at: '13:00', since: '7d', output: 'table' } as const, 'give one of both'],
    [{ argument: 'acme/shop', at: '2027-01-01', output: 'table' } as const, 'in the future'],
  ])('%o is refused', async (options, message) => {
    await expect(accessRepository(contextOf(), options)).rejects.toThrow(message)
  })

  test('a workload is a namespace and a name', async () => {
    await expect(accessWorkload(contextOf(), { argument: 'ci', output: 'table' })).rejects.toThrow('NAMESPACE/SERVICEACCOUNT')
  })
})

describe('tokens', () => {
  test('that are live are listed, with who received them; revoked and expired ones are not', async () => {
    await tokensList(contextOf(), { output: 'table' })
    expect(printed.join('\n')).toMatch(/t1\s+30m\s+acme\/shop\s+ServiceAccount acme\/ci\s+dave \(1002\)\s+5\s+15m/)
    printed = []
    await tokensList(contextOf([...entries, revoked]), { output: 'table' })
    expect(printed).toEqual(['no token is live'])
  })

  test('of what the platform itself uses: live until it is revoked, also where its end names no repository', async () => {
    const probe = { actor: 'sekisho:probe', object: 'Installation/acme/a' }
    const used = entry('13:10', 'token.minted', { token: 'p1', repositoryIds: [4001] }, probe)
    const end = entry('13:20', 'token.revoked', { token: 'p1', repositoryIds: [] }, probe)
    await tokensList(contextOf([used]), { output: 'table', repository: 'acme/shop' })
    expect(printed.join('\n')).toMatch(/p1\s+20m\s+4001\s+sekisho:probe/)
    printed = []
    await tokensList(contextOf([used, end]), { output: 'table', repository: 'acme/shop' })
    expect(printed.at(-1)).toBe('no token is live')
    printed = []
    asked = []
    await tokensShow(contextOf([used]), { argument: 'p1', output: 'table' })
    expect(printed.join('\n')).toMatch(/expires\s+2026-11-28T14:10:00.000Z\nfor\s+sekisho:probe/)
    expect(asked.at(-1)).toContain('until=2026-11-28T14')
  })

  test('one is told by its hash: whose, which pod received it, and why it ended', async () => {
    await tokensShow(contextOf([...entries, revoked]), { hash: hashedToken, output: 'table' })
    const text = printed.join('\n')
    for (const part of ['revoked', 'acme/read-shop', 'dave (1002)', 'pod ci-7', 'from 10.0.0.7', 'the grant was deleted'])
      expect(text).toContain(part)
    await expect(tokensShow(contextOf(), { hash: `${'A'.repeat(43)}=`, output: 'table' })).rejects.toThrow(
      'no token of this platform',
    )
    printed = []
    await tokensShow(contextOf(), { argument: 't1', output: 'table' })
    expect(printed.join('\n')).toContain('live: sekisho halt token')
    await expect(tokensShow(contextOf(), { argument: 't2', output: 'table' })).rejects.toThrow('name an older one by --hash')
    await expect(tokensShow(contextOf(), { argument: 't1', hash: hashedToken, output: 'table' })).rejects.toThrow('never on')
    await expect(tokensShow(contextOf(), { output: 'table' })).rejects.toThrow('never on the command line')
  })
})
