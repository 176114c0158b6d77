// What the command says of grants that exist and of those that only the log has.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { ResourceType } from '../../../api/resource.ts'
import { KubeError } from '../../../kube/client/errors.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { policyTest } from './policy-test.ts'

const dave = 'github|github.test|1002'
let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'policy-test-'))
})
afterAll(() => rm(folder, { recursive: true }))

const access = {
  permissions: { contents: 'read' },
  subjects: [{ kind: 'ServiceAccount', name: 'ci' }],
  delivery: 'TokenEndpoint',
  requestedBy: dave,
}
const grant = (name: string, repository: string) => ({
  kind: 'RepositoryGrant',
  metadata: { name, namespace: 'acme', uid: `uid-${name}` },
  spec: { ...access, installation: 'github', repositories: [repository], reason: 'to read' },
  status: { decision: 'Approved', repositories: [{ id: 1, name: repository }] },
})

/** An entry of the log as the platform sends it. */
function entry(sequence: number, name: string, { repository = 'acme/handbook', decision = 'Approved', ...details } = {}) {
  const { requestedBy: person, ...rest } = access
  const about = { grantUid: `uid-${name}`, host: 'github.test', repositories: [{ id: 2, fullName: repository }] }
  return {
    ...{ sequence, at: `2026-01-0${sequence}T10:00:00.000Z`, hash: 'a'.repeat(64), previousHash: 'b'.repeat(64) },
    ...{ action: 'grant.decided', object: `RepositoryGrant/acme/${name}`, outcome: 'allowed', reason: 'to read' },
    details: { ...rest, person, decision, ...about, ...details },
  }
}

const policy = `apiVersion: github.sekisho.dev/v1alpha1
kind: GrantPolicy
metadata: {name: releases, namespace: acme}
spec:
  mode: Enforce
  builtInRules: Keep
  rules:
  - {name: handbook, effect: Deny, repositories: [acme/handbook], permissions: {'*': read}}
`

async function tested(
  {
    text: written = policy,
    more = [],
    own = [],
    ...options
  }: {
    readonly since?: string
    readonly deleted?: boolean
    readonly text?: string
    readonly more?: readonly object[]
    readonly own?: readonly object[]
  },
  pages: readonly (readonly object[])[] = [[]],
) {
  const file = join(folder, 'new.yaml')
  await writeFile(file, written)
  const asked: string[] = []
  const left = [...pages]
  const client = {
    async list({ kind }: ResourceType) {
      if (kind === 'RepositoryGrant') return [grant('read-shop', 'acme/shop'), grant('read-docs', 'acme/handbook'), ...more]
      if (kind === 'GrantPolicy') return own
      if (kind === 'ClusterGrantPolicy' && more.length > 0) throw new KubeError('forbidden', { status: 403, reason: 'Forbidden' })
      return []
    },
    async apply(_: ResourceType, object: unknown) {
      return object
    },
  }
  const api = async () => ({
    async lines(_: string, query: URLSearchParams) {
      asked.push(query.toString())
      return left.shift() ?? []
    },
  })
  let output = ''
  const terminal = { say: () => {}, result: (text: string) => (output += text) }
  const clock = { now: () => new Date('2026-01-20T00:00:00Z') }
  const context = { cluster: { client, namespace: 'acme' }, terminal, clock, api } as unknown as ClusterContext
  await policyTest(context, { output: 'json', filename: file, ...options })
  const rows = JSON.parse(output) as readonly { grant: string; effect: string; rule: string; recorded?: string }[]
  return { rows: rows.map(({ grant: name, effect, recorded }) => [name, effect, recorded ?? '']), asked, text: output }
}

test('grants that exist are asked about, and the log is left alone', async () => {
  const { rows, asked } = await tested({})
  expect(rows).toEqual([
    ['acme/read-shop', 'as before', ''],
    ['acme/read-docs', 'ends', ''],
  ])
  expect(asked).toEqual([])
})

test('as if it were deleted: what it denies goes on, and a file of another namespace changes nothing', async () => {
  const own = [parse(policy)]
  expect((await tested({ own })).rows.map(([, effect]) => effect)).toEqual(['as before', 'ends'])
  const gone = await tested({ own, deleted: true })
  // The grant is approved in its status: without the policy it stays so.
  expect(gone.rows.map(([, effect]) => effect)).toEqual(['as before', 'as before'])
  const elsewhere = policy.replace('namespace: acme', 'namespace: globex')
  const kept = await tested({ own, deleted: true, text: elsewhere })
  expect(kept.rows.map(([, effect]) => effect)).toEqual(['as before', 'ends'])
  // Without one of its own the file is about the namespace of the command.
  const here = await tested({ own, deleted: true, text: policy.replace(', namespace: acme', '') })
  expect(here.rows).toEqual(gone.rows)
})

test('for who may not read ClusterGrantPolicies, nothing ends because one is not seen', async () => {
  const [inSecret, pushes] = [grant('in-secret', 'acme/shop'), grant('pushes', 'acme/handbook')]
  const spec = { ...inSecret.spec, delivery: 'Secret' }
  const writing = { ...pushes.spec, permissions: { contents: 'write' }, subjects: [{ kind: 'ServiceAccount', name: 'release' }] }
  const rule = '{name: push, effect: Allow, permissions: {contents: write}, subjects: [{kind: ServiceAccount, name: release}]}'
  const text = policy.replace(/ {2}- .*\n$/, `  - ${rule}\n`)
  const { rows } = await tested({
    text,
    more: [
      { ...inSecret, spec },
      { ...pushes, spec: writing },
    ],
  })
  expect(rows).toEqual([
    ['acme/read-shop', 'as before', ''],
    ['acme/read-docs', 'as before', ''],
    ['acme/in-secret', 'as before', ''],
    ['acme/pushes', 'depends', ''],
  ])
})

test('of the log come the grants that are gone, each with its newest decision', async () => {
  const entries = [
    entry(5, 'gone'),
    entry(4, 'gone', { decision: 'Denied', repository: 'acme/shop' }),
    entry(3, 'read-docs'),
    entry(2, 'denied-before', { decision: 'Denied' }),
  ]
  const { rows, asked } = await tested({ since: '30d' }, [entries])
  expect(rows.slice(2)).toEqual([
    ['acme/gone', 'ends', '2026-01-05T10:00:00.000Z'],
    ['acme/denied-before', 'as before', '2026-01-02T10:00:00.000Z'],
  ])
  expect(asked).toHaveLength(1)
  expect(new URLSearchParams(asked[0]).get('namespace')).toBe('acme')
  expect(new URLSearchParams(asked[0]).get('since')).toBe('2025-12-21T00:00:00.000Z')
})

test('the log is read page by page, and an entry of another shape is left out', async () => {
  const full = Array.from({ length: 1000 }, (_, index) => ({ ...entry(5, 'gone'), sequence: 2000 - index }))
  const odd = { ...entry(1, 'odd'), details: { grantUid: 7 } }
  const { rows, asked } = await tested({ since: '30d' }, [full, [entry(2, 'older'), odd]])
  expect(rows.slice(2).map(([name]) => name)).toEqual(['acme/gone', 'acme/older'])
  expect(new URLSearchParams(asked[1]).get('before')).toBe('1001')
})

test('a time that nobody understands is refused before anything is asked', async () => {
  await expect(tested({ since: 'some day' })).rejects.toThrow('is no time')
})

test('of a grant of the log the refs that it named are asked about, and all where it named none', async () => {
  const pushing = (name: string, refs?: readonly string[]) => {
    const one = entry(5, name)
    const details = { ...one.details, delivery: 'GitProxy', permissions: { contents: 'write' }, ...(refs && { refs }) }
    return { ...one, details }
  }
  const main = '{name: main, effect: Deny, permissions: {contents: write}, refs: [refs/heads/main]}'
  const text = policy.replace(
    /- {name: handbook.*}/,
    `- ${main}\n  - {name: rest, effect: Allow, permissions: {contents: write}}`,
  )
  const cluster = text.replace('kind: GrantPolicy', 'kind: ClusterGrantPolicy').replace(', namespace: acme', '')
  const entries = [pushing('tags', ['refs/tags/v*']), pushing('all')]
  const { rows } = await tested({ since: '30d', text: `${text}---\n${cluster}` }, [entries])
  expect(rows.slice(2).map(([name, effect]) => [name, effect])).toEqual([
    ['acme/tags', 'as before'],
    ['acme/all', 'ends'],
  ])
})
