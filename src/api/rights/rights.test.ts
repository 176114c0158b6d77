// The lists of rights: what they must never contain, and that the files that they name need what they say.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { namespaceRoles, tenantRoles } from '../names.ts'
import { kinds } from '../registry.ts'
import { wallProbeAccount } from '../wall-names.ts'
import { platformAccounts, type Right, writingVerbs } from './index.ts'

const root = join(import.meta.dirname, '../../..')
const rights = platformAccounts.flatMap(({ name, rights: own }) => own.map((right): [string, Right] => [name, right]))

const clusterScoped = new Set([
  ...kinds.filter(({ namespaced }) => !namespaced).map(({ plural }) => plural),
  'namespaces',
  'clusterroles',
  'tokenreviews',
  'subjectaccessreviews',
])

describe('no ServiceAccount of ours', () => {
  test('has a wildcard, or a right on Secrets in the whole cluster, or without their names or the prefix that a policy holds it to', () => {
    const texts = rights.flatMap(([, { group, resources, verbs }]) => [group, ...resources, ...verbs])
    expect(texts.filter(text => text.includes('*'))).toEqual([])
    const open = rights.filter(
      ([, right]) =>
        right.resources.includes('secrets') &&
        (right.place === 'cluster' || (right.names === undefined && right.namePrefix === undefined)),
    )
    // A namespace that holds nothing else; the ServiceClasses name them.
    expect(open.map(([account, { place, verbs }]) => [account, place, verbs])).toEqual(
      ['sekisho', 'sekisho-data-services'].map(account => [account, 'data', ['get']]),
    )
    const byPrefix = rights.filter(([, { namePrefix }]) => namePrefix !== undefined)
    expect(new Set(byPrefix.map(([, { place, namePrefix }]) => `${place} ${namePrefix}`))).toEqual(
      new Set(['application appsecret-', 'application binding-', 'application ghtok-', 'build build-secrets-']),
    )
    expect(rights.filter(([, right]) => right.resources.includes('secrets') && right.verbs.includes('list'))).toEqual([])
  })

  test('writes objects of namespaces cluster-wide, but RoleBindings, which a policy holds to tenants', () => {
    const wide = rights
      .filter(([, { place, verbs }]) => place === 'cluster' && verbs.some(verb => writingVerbs.has(verb)))
      .flatMap(([, { resources, within }]) => resources.map(resource => ({ resource: resource.split('/')[0] ?? '', within })))
      .filter(({ resource }) => !clusterScoped.has(resource))
    expect(new Set(wide.map(({ resource }) => resource))).toEqual(new Set(['rolebindings']))
    expect(wide.map(({ within }) => within)).toEqual(wide.map(() => ['application', 'build']))
  })

  test('makes ServiceAccounts, tokens or pods where the platform’s own ServiceAccounts are, but tokens of the one without rights', () => {
    const identities = ['serviceaccounts', 'serviceaccounts/token', 'pods']
    const made = rights.filter(
      ([, { place, resources, verbs }]) =>
        ['cluster', 'platform', 'default'].includes(place) &&
        resources.some(resource => identities.includes(resource)) &&
        verbs.some(verb => writingVerbs.has(verb)),
    )
    expect(made.map(([account, { place, resources, names, verbs }]) => [account, place, resources, names, verbs])).toEqual(
      ['sekisho', 'sekisho-controllers'].map(account => [
        account,
        'platform',
        ['serviceaccounts/token'],
        [wallProbeAccount],
        ['create'],
      ]),
    )
  })

  test('binds anything but the closed roles', () => {
    const bound = rights.filter(([, { verbs }]) => verbs.includes('bind'))
    const closed = [...Object.values(tenantRoles), ...Object.values(namespaceRoles)]
    expect(bound.map(([account, { resources, names }]) => [account, resources, names])).toEqual([
      ['sekisho', ['clusterroles'], closed],
      ['sekisho-controllers', ['clusterroles'], closed],
    ])
  })
})

/** Its status writer records an Event when a condition changes (`src/controllers/kit/status-writer.ts`). */
const isController = (file: string): boolean => /^src\/(controllers|data-services)\//.test(file)

/** What a file calls a resource: its plural or kind, in any case. */
function mentions(text: string, resource: string): boolean {
  const plural = (resource.split('/')[0] ?? '').toLowerCase()
  const singular = plural.replace(/ies$/, 'y').replace(/s$/, '')
  return [plural, singular].some(name => text.toLowerCase().replaceAll('-', '').includes(name))
}

test('each file that needs a right exists and names the resource, itself or as one of a list that it imports', () => {
  const wrong = rights.flatMap(([account, { resources, usedBy }]) =>
    usedBy.flatMap(file => {
      const path = join(root, file)
      if (!existsSync(path)) return [`${account}: there is no ${file}`]
      const text = readFileSync(path, 'utf8')
      const isList = /renderableKind|appliedKind|EventRecorder|followerKinds|kinds\.map|AffectedObject/.test(text)
      return resources.some(resource => mentions(text, resource)) || isList
        ? []
        : [`${file} does not name ${resources.join(', ')}`]
    }),
  )
  expect(wrong).toEqual([])
})

test('whoever writes the status of objects may record Events where Kubernetes keeps those about them', () => {
  // Of objects without a namespace, in `default`.
  const eventsOf = {
    cluster: 'default',
    default: 'default',
    platform: 'platform',
    data: 'data',
    application: 'application',
    build: 'build',
  } as const
  const needed = rights
    .filter(([, { resources, usedBy }]) => resources.some(one => one.endsWith('/status')) && usedBy.some(isController))
    .map(([account, { place }]) => `${account} ${eventsOf[place]}`)
  const records = (verb: 'create' | 'patch') =>
    rights
      .filter(([, { resources, verbs }]) => resources.includes('events') && verbs.includes(verb))
      .map(([account, { place }]) => `${account} ${place}`)
  const wanted = [...new Set(needed)].sort()
  expect(wanted).toContain('sekisho-controllers platform')
  expect(wanted.filter(one => !records('create').includes(one))).toEqual([])
  expect(wanted.filter(one => !records('patch').includes(one))).toEqual([])
})
