// Values of AppSecrets: read back by every verb and trick that answers with an object, by another tenant and by acme's own
// people; moved to where they would open for somebody else; and the Secrets behind them planted or changed.
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { neighbourNamespace, tenantNamespace } from '../../demo/context.ts'
import type { Attack, Attempt } from '../attack.ts'
import { stopped, succeeded, unclear, type Verdict } from '../verdict.ts'
import type { Actor } from '../world/actors.ts'
import { appSecretCanary, type World } from '../world/world.ts'
import {
  type ApiAttempt,
  apiAttempt,
  apiAttempts,
  applyPatch,
  corePath,
  groupPath,
  jsonPatch,
  mergePatch,
} from './api-attempts.ts'

const { name, key } = appSecretCanary
const group = 'apps.sekisho.dev/v1alpha1'
const all = groupPath(group, tenantNamespace, 'appsecrets')
const one = `${all}/${name}`
const own = groupPath(group, neighbourNamespace, 'appsecrets')
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const empty = { apiVersion: group, kind: 'AppSecret', metadata: { name } }

const patch = (what: string, json: unknown, contentType: string, query = ''): Omit<ApiAttempt, 'as'> => ({
  method: 'PATCH',
  path: `${one}${query}`,
  json,
  contentType,
  name: `${what} of ${one}`,
  dry: true,
})
const copy = (from: string, path: string) => [{ op: 'copy', from, path }]

/** Everything that answers with the AppSecret or quotes it. */
function readsOf(as: Actor): readonly ApiAttempt[] {
  const get = (path: string, accept?: string): ApiAttempt => ({
    as,
    method: 'GET',
    path,
    ...(accept === undefined ? {} : { headers: { accept }, name: `GET ${path} as Table` }),
  })
  return [
    get(all),
    get(one),
    get(one, table),
    get(`${all}?watch=true&timeoutSeconds=1`),
    get(`${one}/status`),
    { as, ...patch('merge patch {}', {}, mergePatch) },
    { as, ...patch('apply', empty, applyPatch, '?fieldManager=x&force=true') },
    { as, ...patch('copy into annotations', copy(`/spec/sealed/${key}`, '/metadata/annotations'), jsonPatch) },
    { as, ...patch('copy into labels', copy('/spec/sealed', '/metadata/labels'), jsonPatch) },
    { as, ...patch('copy into values', copy('/spec/sealed', '/spec/values'), jsonPatch) },
    { as, ...patch('test', [{ op: 'test', path: `/spec/sealed/${key}`, value: 'x' }], jsonPatch) },
    { as, method: 'DELETE', path: `${one}?propagationPolicy=Foreground`, name: `dry delete of ${one}`, dry: true },
    { as, method: 'DELETE', path: all, name: `dry deletecollection of ${all}`, dry: true },
    { as, method: 'PUT', path: `${one}/status`, json: { ...empty, status: { version: 9 } }, name: `status of ${one}`, dry: true },
  ]
}

/** Any answer is fine in which the value is not: acme's own people may read the AppSecret, encrypted. */
function withoutValue(world: World, planned: ApiAttempt): Attempt {
  const { watcher } = world
  const before = new Set<string>()
  const attempt = apiAttempt(world, {
    ...planned,
    judge({ status, text }): Verdict {
      const seen = watcher.sightings().filter(({ place, what }) => what === 'canary' && !before.has(place))
      if (seen.length > 0) return succeeded('the answer contains the value')
      return stopped('absent', `${status}: not in ${text.length} characters`)
    },
  })
  return {
    ...attempt,
    run() {
      for (const { place } of watcher.sightings()) before.add(place)
      return attempt.run()
    },
  }
}

type Sealed = { readonly spec: { readonly sealed: Record<string, string> } }

/** An AppSecret of globex with these encrypted values; a value that opens elsewhere than where it was made has succeeded. */
async function judgedMove(world: World, target: string, sealed: Readonly<Record<string, string>>): Promise<Verdict> {
  const path = `${own}/${target}`
  await world.journal.note({ kind: 'object', path })
  const json = { ...empty, metadata: { name: target }, spec: { sealed } }
  const made = await world.api('gary', 'POST', own, { json })
  if (made.status !== 201) return unclear(`${made.status} ${made.text}`)
  return waitUntil(
    'the controller judges it',
    async () => {
      const { text } = await world.api('gary', 'GET', path)
      const { status } = JSON.parse(text) as {
        readonly status?: { readonly conditions?: readonly { readonly reason: string }[] }
      }
      const reason = status?.conditions?.[0]?.reason
      if (reason === undefined) return undefined
      return reason === 'Unreadable' ? stopped('controller', `AppSecret is ${reason}`) : succeeded(`AppSecret is ${reason}`)
    },
    { timeoutMilliseconds: limits.rollout },
  )
}

/** An encrypted value that somebody copied from a repository opens in its own namespace only, under its own name and key. */
async function moves(world: World): Promise<readonly Attempt[]> {
  const mine = 'attack-sealed'
  await world.journal.note({ kind: 'object', path: `${own}/${mine}` })
  const values = { ...empty, metadata: { name: mine }, spec: { values: { A: 'x' } } }
  const made = await world.api('gary', 'POST', own, { json: values })
  if (made.status !== 201) throw new Error(`gary cannot set a value of his own: ${made.status} ${made.text}`)
  const sealedAt = async (path: string) => ((await world.admin.call('GET', path)) as Sealed).spec.sealed
  const [theirs, [text = '']] = [await sealedAt(one), Object.values(await sealedAt(`${own}/${mine}`))]
  const foreign = Object.values(theirs)[0] ?? ''
  return [
    { what: 'the encrypted value of acme in an AppSecret of globex', target: name, sealed: theirs },
    { what: 'the encrypted value of acme under another name and key', target: 'attack-sealed-a', sealed: { A: foreign } },
    { what: 'his own encrypted value under another name', target: 'attack-sealed-b', sealed: { A: text } },
    { what: 'the encrypted value of acme beside one of his own', target: 'attack-sealed-c', sealed: { ...theirs, A: text } },
  ].map(({ what, target, sealed }) => ({ name: `gary: ${what}`, run: () => judgedMove(world, target, sealed) }))
}

/** The value under another key of the AppSecret in which it was made: added to it, then removed with it. */
function movedKey(world: World): Attempt {
  return {
    name: 'gary: his own encrypted value under another key of the same AppSecret',
    async run() {
      const path = `${own}/attack-sealed-key`
      await world.journal.note({ kind: 'object', path })
      const json = { ...empty, metadata: { name: 'attack-sealed-key' }, spec: { values: { A: 'x' } } }
      const made = await world.api('gary', 'POST', own, { json })
      const { A = '' } = made.status === 201 ? (JSON.parse(made.text) as Sealed).spec.sealed : {}
      const changed = await world.api('gary', 'PATCH', path, { json: { spec: { sealed: { B: A } } }, contentType: mergePatch })
      if (changed.status !== 200) return unclear(`${made.status} ${changed.status} ${changed.text}`)
      const { metadata } = JSON.parse(changed.text) as { readonly metadata: { readonly generation: number } }
      return waitUntil(
        'the controller judges it',
        async () => {
          const shown = (await world.admin.call('GET', path)) as {
            readonly status?: {
              readonly conditions?: readonly { readonly reason: string; readonly observedGeneration?: number }[]
            }
          }
          const found = shown.status?.conditions?.[0]
          if (found === undefined || found.observedGeneration !== metadata.generation) return undefined
          const text = `AppSecret is ${found.reason}`
          return found.reason === 'Unreadable' ? stopped('controller', text) : succeeded(text)
        },
        { timeoutMilliseconds: limits.rollout },
      )
    },
  }
}

const secretOf = (secret: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: secret }, stringData: { A: 'x' } })

export const appSecretAttacks: readonly Attack[] = [
  {
    name: 'secrets/app-secret-as-another-tenant',
    as: 'gary, admin of globex, and a ServiceAccount of globex',
    against: 'an AppSecret of acme',
    tries: 'Every verb and format that answers with the object, dry runs, JSON patches and status included.',
    expected: ['RBAC'],
    attempts: world => apiAttempts(world, [...readsOf('gary'), ...readsOf('workload')]),
  },
  {
    name: 'secrets/app-secret-as-own-tenant',
    as: 'dave, developer of acme, and mia, viewer of acme',
    against: 'the value in an AppSecret of acme',
    tries: 'The same requests, of which acme’s own people may make many: no answer and no error text may contain the value.',
    expected: ['absent'],
    attempts: world => [...readsOf('dave'), ...readsOf('mia')].map(planned => withoutValue(world, planned)),
  },
  {
    name: 'secrets/app-secret-moved',
    as: 'gary, admin of globex',
    against: 'the encrypted value of an AppSecret of acme',
    tries:
      'Puts encrypted texts into AppSecrets of globex, under the same name and key or under others, where pods would get the value.',
    expected: ['controller'],
    attempts: async world => [...(await moves(world)), movedKey(world)],
  },
  {
    name: 'secrets/app-secret-planted',
    as: 'gary, admin of globex, and dave, developer of acme',
    against: 'the Secrets behind AppSecrets',
    tries: 'Makes and replaces Secrets with the reserved name, and keeps a copy of values in an annotation.',
    expected: ['admission', 'RBAC'],
    attempts: world =>
      apiAttempts(world, [
        { as: 'gary', method: 'POST', path: corePath(neighbourNamespace, 'secrets'), json: secretOf('appsecret-planted') },
        { as: 'dave', method: 'POST', path: corePath(tenantNamespace, 'secrets'), json: secretOf('appsecret-planted') },
        {
          as: 'dave',
          method: 'PUT',
          path: `${corePath(tenantNamespace, 'secrets')}/appsecret-${name}`,
          json: secretOf(`appsecret-${name}`),
        },
        { as: 'dave', method: 'GET', path: `${corePath(tenantNamespace, 'secrets')}/appsecret-${name}` },
        {
          as: 'dave',
          ...patch('a copy in an annotation', { metadata: { annotations: { copy: '{"values":{"A":"x"}}' } } }, mergePatch),
        },
        {
          as: 'gary',
          method: 'POST',
          path: own,
          json: { ...empty, metadata: { generateName: 'x-' }, spec: { values: { A: 'x' } } },
        },
      ]),
  },
]
