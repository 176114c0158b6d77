// How each answer is read: refused, allowed, or neither. And that nothing is sent that could leave anything.
import { expect, test } from 'vitest'
import { reservedSecretPrefixes } from '../../api/reserved-secrets.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import { KubeError } from '../../kube/client/errors.ts'
import { attemptsIn, clusterAttempts } from './attempts.ts'
import { answerToControllers, answerToNobody, type Clients, tryWalls } from './try-walls.ts'
import { walls } from './walls.ts'

const error = (status: number, message = 'x'): KubeError => new KubeError(message, { status, reason: 'x' })
const rbac = 'create Pod x: pods is forbidden: User "u" cannot create resource "pods" in API group "" in the namespace "n"'
const byPolicy = (rule: string): string =>
  `create Pod x: pods "x" is forbidden: ValidatingAdmissionPolicy 'sekisho-${rule}' with binding 'b' denied request: no`
const byPodSecurity = 'pods "x" is forbidden: violates PodSecurity "restricted:latest": host namespaces'
const byWebhook = 'admission webhook "kinds.admission.sekisho.dev" denied the request: no'

test.each([
  [403, 'refused'],
  [404, 'allowed'],
  [409, 'allowed'],
  [422, 'allowed'],
  [400, 'allowed'],
  [401, 'unknown'],
  [429, 'unknown'],
  [500, 'unknown'],
  [503, 'unknown'],
  [0, 'unknown'],
] as const)('%d to whom has no right: %s', (status, expected) => {
  expect(answerToNobody(error(status, rbac))).toBe(expected)
})

test.each([byPolicy('account-tokens'), byWebhook, byPodSecurity, 'exceeded quota: tenant'])(
  '403 by what stands behind RBAC says that RBAC let it through: %s',
  message => expect(answerToNobody(error(403, message))).toBe('allowed'),
)

const attemptOf = (wall: string, buildsDockerfiles = false) =>
  [...clusterAttempts, ...attemptsIn({ spec: { namespace: 'acme' } } as unknown as Tenant, buildsDockerfiles)].find(
    one => one.wall === wall && one.as === 'controllers',
  ) ?? expect.fail(wall)

test.each([
  ['own-writes', 403, byPolicy('own-writes'), 'refused'],
  // Another rule says nothing of this one.
  ['own-writes', 403, byPolicy('own-role-bindings'), 'unknown'],
  ['own-writes', 403, byWebhook, 'unknown'],
  ['secret-references', 403, byPolicy('secret-references'), 'refused'],
  ['secret-references', 403, byWebhook, 'refused'],
  ['secret-references', 403, byPolicy('pod-placement'), 'unknown'],
  ['pod-security', 403, byPodSecurity, 'refused'],
  ['pod-security', 403, byPolicy('build-pods'), 'allowed'],
  ['pod-security', 403, byWebhook, 'allowed'],
  ['own-writes', 403, rbac, 'unknown'],
  ['own-writes', 403, 'exceeded quota: tenant', 'unknown'],
  ['own-writes', 403, `ValidatingAdmissionPolicy 'somebody-elses' denied request`, 'unknown'],
  ['own-writes', 404, 'namespaces "n" not found', 'unknown'],
  ['own-writes', 503, 'x', 'unknown'],
] as const)('%s: %d %s to the controllers: %s', (wall, status, message, expected) => {
  expect(answerToControllers(error(status, message), attemptOf(wall))).toBe(expected)
})

test('where Dockerfiles are built, the policy about pods of builds takes the place of Pod Security', () => {
  expect(answerToControllers(error(403, byPolicy('build-pods')), attemptOf('pod-security', true))).toBe('refused')
})

const tenant = { spec: { namespace: 'acme' } } as unknown as Tenant
const all = [...clusterAttempts, ...attemptsIn(tenant, false)]

type Sent = { readonly verb: string; readonly options?: unknown; readonly name?: string | undefined; readonly plural: string }

/** Refuses as RBAC does, unless told otherwise. */
function recordingClients(answer: (who: 'nobody' | 'controllers', sent: Sent) => unknown) {
  const sent: (Sent & { readonly who: string })[] = []
  const client = (who: 'nobody' | 'controllers'): Clients['client'] => {
    const say = async (one: Sent): Promise<never> => {
      sent.push({ who, ...one })
      return answer(who, one) as never
    }
    return {
      get: (type, { name }) => say({ verb: 'get', name, plural: type.plural }),
      list: (type, options) => say({ verb: 'list', options, plural: type.plural }),
      create: (type, object, options) => say({ verb: 'create', options, name: object.metadata.name, plural: type.plural }),
    }
  }
  let closed = 0
  const clients: Clients = {
    client: client('controllers'),
    clientWith: () => ({ ...client('nobody'), close: async () => void closed++ }),
  }
  return { clients, sent, closed: () => closed }
}

const refusing = (who: 'nobody' | 'controllers', { plural }: Sent): unknown => {
  if (plural.endsWith('sekisho-wall-probe/token')) return { status: { token: 'x' } }
  const byWall =
    plural === 'deployments' ? byPolicy('secret-references') : plural === 'pods' ? byPodSecurity : byPolicy('own-writes')
  throw error(403, who === 'nobody' ? rbac : byWall)
}

test('every write is a dry run, every read names what does not exist', async () => {
  const { clients, sent, closed } = recordingClients(refusing)
  const { findings, looked } = await tryWalls(clients, all, new AbortController().signal)
  expect(findings).toEqual([])
  expect(closed()).toBe(1)
  const tried = sent.filter(({ plural }) => !plural.endsWith('sekisho-wall-probe/token'))
  expect(tried).toHaveLength(all.length)
  for (const one of tried) {
    if (one.verb === 'create') expect(one.options, one.plural).toMatchObject({ dryRun: true })
    if (one.verb === 'get') expect(one.name).toMatch(/wall-probe$/)
    if (one.verb === 'list') expect(one.options).toMatchObject({ labelSelector: 'sekisho.dev/wall-probe' })
    // Connections and tokens have no dry run.
    if (one.plural.includes('/')) expect(one.plural).toMatch(/^(pods|serviceaccounts)\/wall-probe\//)
  }
  expect([...new Set(looked.map(({ wall }) => wall))].toSorted()).toEqual(
    walls.flatMap(({ name, probes }) => (probes.some(probe => probe !== 'compared') ? [name] : [])).toSorted(),
  )
})

test('each probe of the list is one that is made, as the list says', () => {
  for (const { name, probes } of walls) {
    const as = new Set(
      all.filter(({ wall }) => wall === name).map(one => (one.as === 'nobody' ? 'without rights' : 'controllers')),
    )
    expect([...as].toSorted(), name).toEqual(probes.filter(probe => probe !== 'compared').toSorted())
  }
})

test('who is let through is said, with what was allowed', async () => {
  const { clients } = recordingClients((who, one) => {
    if (who === 'nobody' && one.verb === 'get') return undefined
    if (who === 'nobody' && one.plural.includes('/exec')) throw error(404)
    return refusing(who, one)
  })
  const { findings } = await tryWalls(clients, attemptsIn(tenant, false), new AbortController().signal)
  expect(findings.map(({ wall, verdict, where }) => `${wall} ${verdict} ${where}`)).toEqual(
    ['acme', 'acme-build'].flatMap(where => [
      ...Array(reservedSecretPrefixes.length).fill(`secrets Off ${where}`),
      `pod-connections Off ${where}`,
    ]),
  )
  expect(findings.at(-1)?.text).toContain('was allowed to exec to a pod (HTTP 404)')
})

test('without a token nothing is known of what it would try, and the rest is tried', async () => {
  const { clients, sent } = recordingClients((who, one) => {
    if (one.plural.endsWith('sekisho-wall-probe/token')) throw error(404, 'serviceaccounts "sekisho-wall-probe" not found')
    return refusing(who, one)
  })
  const { findings, looked } = await tryWalls(clients, all, new AbortController().signal)
  expect(new Set(findings.map(({ verdict }) => verdict))).toEqual(new Set(['Unknown']))
  // What was not tried is not said to hold.
  expect(looked.filter(({ wall }) => wall === 'secrets')).toEqual([])
  expect(findings.map(({ wall }) => wall)).toContain('secrets')
  expect(sent.filter(({ who }) => who === 'nobody')).toEqual([])
})

test('what a slow API server left no time for is not known, and is not said to hold', async () => {
  const slow = new AbortController()
  let answered = 0
  const { clients } = recordingClients((who, one) => {
    if (who === 'nobody' && answered++ === 3) slow.abort(new Error('too long'))
    return refusing(who, one)
  })
  const { findings, looked } = await tryWalls(clients, all, slow.signal)
  expect(new Set(findings.map(({ verdict }) => verdict))).toEqual(new Set(['Unknown']))
  expect(findings.at(-1)).toMatchObject({ text: expect.stringContaining('the round took too long') })
  const places = (list: readonly { readonly wall: string; readonly where?: string }[]) =>
    new Set(list.map(({ wall, where = '' }) => `${wall} ${where}`))
  expect(places(looked).has('account-tokens acme')).toBe(false)
  expect(places(findings).has('account-tokens acme')).toBe(true)
})

test('a request that never ends does not keep the round', async () => {
  const slow = new AbortController()
  const { clients } = recordingClients((who, one) => {
    if (who === 'controllers' || one.verb !== 'get') return refusing(who, one)
    slow.abort(new Error('too long'))
    return new Promise(() => undefined)
  })
  const { findings } = await tryWalls(clients, all, slow.signal)
  expect(findings.length).toBeGreaterThan(0)
})
