// Secrets of the platform that an operator of the cluster would read for an object of somebody: it has the right to, and the
// object says where the content goes, such as the URL of a GitRepository or the variables of a Kustomization. Built-in roles may
// contain these kinds: Flux adds its own to `edit` and `admin`.
// Source: https://fluxcd.io/flux/components/ (the fields that name Secrets), https://external-secrets.io/latest/api/pushsecret/
import { isReservedSecretName, reservedSecretPrefixes } from '../../../api/reserved-secrets.ts'
import { objectAt, objectsAt, textAt } from '../../../lib/json/json-value.ts'
import { sameJson } from '../../../lib/json/same-json.ts'
import { celList, type Match, type Rule } from '../../rule.ts'

const operations = ['CREATE', 'UPDATE'] as const
const matches: readonly Match[] = [
  {
    group: 'source.toolkit.fluxcd.io',
    resources: ['gitrepositories', 'ocirepositories', 'helmrepositories', 'buckets'],
    operations,
  },
  { group: 'kustomize.toolkit.fluxcd.io', resources: ['kustomizations'], operations },
  { group: 'helm.toolkit.fluxcd.io', resources: ['helmreleases'], operations },
  { group: 'notification.toolkit.fluxcd.io', resources: ['providers', 'receivers'], operations },
  { group: 'image.toolkit.fluxcd.io', resources: ['imagerepositories', 'imageupdateautomations'], operations },
  { group: 'external-secrets.io', resources: ['pushsecrets'], operations },
]

/** Paths below `spec` to the name of one Secret. */
const paths: readonly (readonly [string, ...string[]])[] = [
  ['secretRef', 'name'],
  ['certSecretRef', 'name'],
  ['proxySecretRef', 'name'],
  ['verify', 'secretRef', 'name'],
  ['decryption', 'secretRef', 'name'],
  ['kubeConfig', 'secretRef', 'name'],
  ['git', 'commit', 'signingKey', 'secretRef', 'name'],
  ['selector', 'secret', 'name'],
]
/** Lists below `spec` of what has a `name`. */
const lists: readonly (readonly [string, ...string[]])[] = [['postBuild', 'substituteFrom'], ['valuesFrom']]

const message = `names a Secret of the platform (${reservedSecretPrefixes.map(prefix => `${prefix}…`).join(', ')}), which its operator would send where the object says: ask a platform admin to write it`

/** For everybody but platform admins; operators go on with what is there. */
export const operatorReferences: Rule = {
  name: 'operator-references',
  stops: 'having Flux or External Secrets send a token of GitHub, or another Secret of the platform, to a place of one’s own',
  scope: 'tenant-namespaces',
  administratorsMay: true,
  matches,
  check({ object, oldObject }) {
    const spec = objectAt(object, 'spec')
    if (oldObject !== undefined && sameJson(spec, oldObject['spec'])) return undefined
    const names = [
      ...paths.map(path => textAt(objectAt(spec, ...path.slice(0, -1)), path.at(-1) ?? '')),
      ...lists.flatMap(path =>
        objectsAt(objectAt(spec, ...path.slice(0, -1)), path.at(-1) ?? '').map(one => textAt(one, 'name')),
      ),
    ]
    return names.some(name => name !== undefined && isReservedSecretName(name)) ? message : undefined
  },
  policy: () => ({
    variables: [
      { name: 'spec', expression: 'dyn(object).?spec.orValue({})' },
      {
        name: 'names',
        expression: [
          `[${paths.map(path => `variables.spec.${path.map(field => `?${field}`).join('.')}.orValue('')`).join(', ')}]`,
          ...lists.map(
            path => `variables.spec.${path.map(field => `?${field}`).join('.')}.orValue([]).map(o, o.?name.orValue(''))`,
          ),
        ].join(' + '),
      },
    ],
    validation: {
      expression: [
        '(oldObject != null && dyn(object).?spec == dyn(oldObject).?spec)',
        `!variables.names.exists(name, ${celList(reservedSecretPrefixes)}.exists(prefix, name.startsWith(prefix)))`,
      ].join(' || '),
      message,
    },
  }),
}
