// Reads of Secrets by every verb that answers with data, by all identities that must not read them, with their own credentials.
import { neighbourNamespace, tenantNamespace } from '../../demo/context.ts'
import type { Attack } from '../attack.ts'
import type { Actor } from '../world/actors.ts'
import { platformNamespace } from '../world/targets.ts'
import type { World } from '../world/world.ts'
import { type ApiAttempt, apiAttempts, applyPatch, corePath, jsonPatch, mergePatch } from './api-attempts.ts'

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const metadataOnly = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'
const empty = (name: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name } })

/** What the API server gives who lists page by page, made by hand: the page from there on. */
const nextPage = (namespace: string): string =>
  Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: 1, start: `${namespace}/\u0000` })).toString('base64url')

/** Every request that answers with Secrets of a namespace: reads, and the writes that are reads. */
function requests(as: Actor, namespace: string, name: string): readonly ApiAttempt[] {
  const all = corePath(namespace, 'secrets')
  const one = `${all}/${name}`
  const get = (path: string, accept?: string): ApiAttempt => ({
    as,
    method: 'GET',
    path,
    ...(accept === undefined ? {} : { headers: { accept }, name: `GET ${path} as ${accept.split(';')[1]}` }),
  })
  return [
    get(all),
    get(one),
    get(`${all}?limit=1`),
    get(`${all}?limit=1&continue=${encodeURIComponent(nextPage(namespace))}`),
    get(`${all}?fieldSelector=${encodeURIComponent(`metadata.name=${name}`)}`),
    get(`${all}?fieldSelector=${encodeURIComponent('metadata.name!=x')}`),
    get(`${all}?labelSelector=${encodeURIComponent('!nothing')}`),
    get(`${all}?resourceVersion=0&resourceVersionMatch=NotOlderThan`),
    get(`${all}?watch=true&timeoutSeconds=1`),
    get(`${all}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1`),
    get(`/api/v1/watch/namespaces/${namespace}/secrets/${name}`),
    get(all, table),
    get(all, metadataOnly),
    get(one, 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'),
    { as, method: 'PATCH', path: one, json: {}, contentType: mergePatch, name: `merge patch {} of ${one}` },
    { as, method: 'PUT', path: one, json: empty(name), name: `dry update of ${one}`, dry: true },
    {
      as,
      method: 'PATCH',
      path: one,
      json: [{ op: 'copy', from: '/data', path: '/metadata/labels' }],
      contentType: jsonPatch,
      name: `JSON patch that copies the data of ${one} into an error`,
    },
    {
      as,
      method: 'PATCH',
      path: `${one}?fieldManager=x&force=true`,
      json: empty(name),
      contentType: applyPatch,
      name: `dry apply of ${one}`,
      dry: true,
    },
    {
      as,
      method: 'DELETE',
      path: `${one}?propagationPolicy=Foreground`,
      name: `dry delete of ${one} in the foreground`,
      dry: true,
    },
    { as, method: 'DELETE', path: all, name: `dry deletecollection of ${all}`, dry: true },
    {
      as,
      method: 'DELETE',
      path: `${all}?fieldSelector=${encodeURIComponent(`metadata.name=${name}`)}`,
      name: `dry deletecollection of ${one}`,
      dry: true,
    },
  ]
}

const everywhere = (as: Actor): readonly ApiAttempt[] => [
  { as, method: 'GET', path: '/api/v1/secrets' },
  { as, method: 'GET', path: '/api/v1/secrets?watch=true&timeoutSeconds=1' },
  { as, method: 'GET', path: `/api/v1/secrets?fieldSelector=${encodeURIComponent(`metadata.namespace=${platformNamespace}`)}` },
]

/** A Secret to ask for by its name: of acme there may be none that is known. */
const nameIn: Readonly<Record<string, string>> = {
  [platformNamespace]: 'sekisho-broker-tls',
  [tenantNamespace]: 'sekisho-registry-pull',
  [neighbourNamespace]: 'sekisho-registry-pull',
  [`${tenantNamespace}-build`]: 'sekisho-registry-build',
  [`${neighbourNamespace}-build`]: 'sekisho-registry-build',
}

function readsOf(world: World, as: Actor, namespaces: readonly string[]) {
  return apiAttempts(world, [
    ...namespaces.flatMap(namespace => requests(as, namespace, nameIn[namespace] ?? 'any')),
    ...everywhere(as),
  ])
}

/** Who belongs to no tenant gets no ID token in the first place. */
const outsider = ['RBAC', 'broker'] as const

function attack(as: Actor, who: string, namespaces: readonly string[]): Attack {
  return {
    name: `secrets/read-as-${as}`,
    as: who,
    against: `the Secrets of ${namespaces.join(', ')}`,
    tries: 'Every verb, format and selector that answers with a Secret’s data, dry runs and error texts included.',
    expected: as === 'stranger' ? ['RBAC', 'authentication'] : as === 'noah' ? outsider : ['RBAC'],
    attempts: world => readsOf(world, as, namespaces),
  }
}

export const secretReadAttacks: readonly Attack[] = [
  attack('gary', 'gary, admin of globex', [
    tenantNamespace,
    platformNamespace,
    neighbourNamespace,
    `${neighbourNamespace}-build`,
  ]),
  attack('dave', 'dave, developer of acme', [tenantNamespace, platformNamespace, `${tenantNamespace}-build`]),
  attack('mia', 'mia, viewer of acme', [tenantNamespace, platformNamespace]),
  attack('workload', 'a ServiceAccount of globex', [neighbourNamespace, tenantNamespace, platformNamespace]),
  attack('noah', 'noah, who belongs to no tenant', [platformNamespace]),
  attack('stranger', 'a client without a credential', [platformNamespace]),
]
