// Secrets of the platform that an operator of the cluster would read for an object of somebody: it has the right to, and the
// object says where the content goes, such as the URL of a GitRepository or the variables of a Kustomization. Built-in roles may
// contain these kinds: Flux adds its own to `edit` and `admin`.
// Source: https://fluxcd.io/flux/components/ (the fields that name Secrets), https://external-secrets.io/latest/api/pushsecret/,
// https://cert-manager.io/docs/reference/api-docs/#cert-manager.io/v1.IssuerConfig
import { isReservedSecretName, reservedSecretNames, reservedSecretPrefixes } from '../../../api/reserved-secrets.ts'
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
  { group: 'external-secrets.io', resources: ['pushsecrets', 'secretstores'], operations },
  { group: 'cert-manager.io', resources: ['issuers'], operations },
]

/** These name a server beside a credential for it, in too many places to list. */
const whole = ['secretstores', 'issuers']

/** Paths below `spec` to the name of one Secret. */
const paths: readonly (readonly [string, ...string[]])[] = [
  ['secretRef', 'name'],
  ['certSecretRef', 'name'],
  ['proxySecretRef', 'name'],
  ['sts', 'secretRef', 'name'],
  ['sts', 'certSecretRef', 'name'],
  ['verify', 'secretRef', 'name'],
  ['decryption', 'secretRef', 'name'],
  ['kubeConfig', 'secretRef', 'name'],
  ['git', 'commit', 'signingKey', 'secretRef', 'name'],
  ['selector', 'secret', 'name'],
]
type List = { readonly path: readonly [string, ...string[]]; readonly name: readonly [string, ...string[]] }
/** Lists below `spec`, and where each item has the name. */
const lists: readonly List[] = [
  { path: ['postBuild', 'substituteFrom'], name: ['name'] },
  { path: ['valuesFrom'], name: ['name'] },
  { path: ['template', 'templateFrom'], name: ['secret', 'name'] },
]
/** A selector by labels may mean any Secret. */
const selector = ['selector', 'secret', 'selector'] as const

const message = `its operator reads Secrets and sends them where the object says: it may not name one of the platform (${reservedSecretNames}) or select by labels, and an Issuer or SecretStore is written by platform admins; ask one`

const optionalPath = (path: readonly string[]): string => path.map(field => `?${field}`).join('.')

/** For everybody but platform admins; operators go on with what is there. */
export const operatorReferences: Rule = {
  name: 'operator-references',
  stops:
    'having Flux, External Secrets or cert-manager send a token of GitHub, or another Secret of the platform, to a place of one’s own',
  scope: 'tenant-namespaces',
  administratorsMay: true,
  matches,
  check({ object, oldObject, resource }) {
    const spec = objectAt(object, 'spec')
    if (oldObject !== undefined && sameJson(spec, oldObject['spec'])) return undefined
    if (whole.includes(resource) || objectAt(spec, ...selector) !== undefined) return message
    const names = [
      ...paths.map(path => textAt(objectAt(spec, ...path.slice(0, -1)), path.at(-1) ?? '')),
      ...lists.flatMap(({ path, name }) =>
        objectsAt(objectAt(spec, ...path.slice(0, -1)), path.at(-1) ?? '').map(one =>
          textAt(objectAt(one, ...name.slice(0, -1)), name.at(-1) ?? ''),
        ),
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
          `[${paths.map(path => `variables.spec.${optionalPath(path)}.orValue('')`).join(', ')}]`,
          ...lists.map(
            ({ path, name }) => `variables.spec.${optionalPath(path)}.orValue([]).map(o, o.${optionalPath(name)}.orValue(''))`,
          ),
        ].join(' + '),
      },
    ],
    validation: {
      expression: [
        '(oldObject != null && dyn(object).?spec == dyn(oldObject).?spec)',
        `!(request.resource.resource in ${celList(whole)}) && !variables.spec.${optionalPath(selector)}.hasValue() && !variables.names.exists(name, ${celList(reservedSecretPrefixes)}.exists(prefix, name.startsWith(prefix)))`,
      ].join(' || '),
      message,
    },
  }),
}
