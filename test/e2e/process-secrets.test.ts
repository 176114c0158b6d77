// What the running processes of the production form hold: each container is searched for the values of every Secret of the
// platform. The column “never holds” of ARCHITECTURE.md, asked of the pods themselves and not of their manifests.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { runningMode } from '../../dev/up/mode.ts'
import { platformPods } from '../../dev/up/platform-pods.ts'
import { platformNamespace } from '../../src/api/names.ts'
import { openPlatform, type Platform } from './platform.ts'
import { searchProgram } from './process-secrets.ts'

type Found = { readonly place: string; readonly text: string }
type Secret = { readonly metadata: { readonly name: string }; readonly data?: Readonly<Record<string, string>> }

const owner = 'sekisho-database-owner'
/**
 * What each container may hold: its own Secrets, and `shared`: values that are in another Secret as well. Both processes append
 * to the audit log by one role of the database, and the owner of the database gave each its password.
 */
const containers = [
  {
    component: 'broker',
    name: 'broker',
    holds: ['sekisho-broker-secrets', 'sekisho-broker-tls'],
    shared: ['sekisho-controllers-secrets/audit-database-url', `${owner}/audit-password`, `${owner}/broker-password`],
    account: 'sekisho-broker',
  },
  {
    component: 'controllers',
    name: 'controllers',
    holds: ['sekisho-controllers-secrets', 'sekisho-registry-tokens-tls', 'sekisho-admission-tls'],
    shared: ['sekisho-broker-secrets/audit-database-url', `${owner}/audit-password`, `${owner}/desk-password`],
    account: 'sekisho-controllers',
  },
  { component: 'controllers', name: 'sources', holds: [], shared: [], account: undefined },
  { component: 'admission', name: 'admission', holds: ['sekisho-admission-tls'], shared: [], account: undefined },
] as const

let platform: Platform
let secrets: readonly Secret[]
let isProduction = false

beforeAll(async () => {
  platform = await openPlatform([])
  isProduction = (await runningMode(platform.admin)) === 'production'
  const path = `/api/v1/namespaces/${platformNamespace}/secrets`
  secrets = ((await platform.admin.call('GET', path)) as { readonly items: readonly Secret[] }).items
})
afterAll(() => platform?.admin.close())
beforeEach(({ skip }) => skip(!isProduction, 'the platform runs in the standalone form, which is one process'))

/**
 * The part by which each secret value of a Secret is recognized. Certificates are public; of a PEM file the last line of its
 * content is its own.
 */
function marksOf({ data = {} }: Secret): ReadonlyMap<string, string> {
  const marks = Object.entries(data).flatMap(([key, value]) => {
    const text = Buffer.from(value, 'base64').toString('latin1').trim()
    const lines = text.split('\n').filter(line => !line.startsWith('-----') && line.length >= 16)
    const mark = lines.at(-1)
    return key.endsWith('.crt') || mark === undefined ? [] : [[key, mark] as const]
  })
  return new Map(marks)
}

async function searched(pod: string, container: string): Promise<readonly Found[]> {
  const answer = await platform.asAdministrator([
    ...['exec', '-n', platformNamespace, pod, '-c', container],
    ...['--', 'node', '-e', searchProgram()],
  ])
  expect(answer.code, `the search of ${pod}/${container}: ${answer.output.slice(-500)}`).toBe(0)
  return JSON.parse(answer.output) as readonly Found[]
}

/** `<Secret>/<key>` of all values that are in one of the places. */
function heldIn(found: readonly Found[]): readonly string[] {
  return secrets
    .flatMap(secret => [...marksOf(secret)].map(([key, mark]) => ({ name: `${secret.metadata.name}/${key}`, mark })))
    .filter(({ mark }) => found.some(({ text }) => text.includes(mark)))
    .map(({ name }) => name)
    .sort()
}

/** Whose ServiceAccount tokens for the API server are there. */
function accountsIn(found: readonly Found[]): readonly string[] {
  const tokens = found.filter(({ place }) => place.startsWith('/var/run/secrets/kubernetes.io/') && place.endsWith('/token'))
  const claims = tokens.map(({ text }) => JSON.parse(Buffer.from(text.split('.')[1] ?? '', 'base64url').toString('utf8')))
  return [...new Set(claims.map(({ sub }) => String(sub)))]
}

test('the Secrets of the platform are those that the search knows, App keys among them', () => {
  const names = secrets.filter(secret => marksOf(secret).size > 0).map(({ metadata }) => metadata.name)
  for (const { holds } of containers) for (const name of holds) expect(names).toContain(name)
  // Which nothing mounts: the controllers read App keys by name from the API server.
  expect(names).toContain('github-app-key')
})

test.each(containers)('every $name container holds its own Secrets, and nothing of another process', async container => {
  const pods = await platformPods(platform.admin, container.component)
  expect(pods).not.toEqual([])
  const own = secrets.filter(({ metadata }) => container.holds.some(name => name === metadata.name))
  const ownValues = own.flatMap(secret => [...marksOf(secret).keys()].map(key => `${secret.metadata.name}/${key}`))
  const expected = [...ownValues, ...container.shared].sort()
  for (const { name } of pods) {
    const found = await searched(name, container.name)
    expect(heldIn(found), name).toEqual(expected)
    const account = container.account === undefined ? [] : [`system:serviceaccount:${platformNamespace}:${container.account}`]
    expect(accountsIn(found), name).toEqual(account)
  }
})
