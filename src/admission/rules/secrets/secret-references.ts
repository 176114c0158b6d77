// No object in a tenant's namespace may refer to a reserved Secret: to mount it or to name it in a variable is to read it. One
// with a GitHub token is for pods under the ServiceAccount in its name (docs/adr/0093-a-token-in-a-secret.md). The user does not
// count: controllers of Kubernetes make pods. What is older than the rule may be scaled, relabelled and deleted, not edited.
// Source of the fields: Kubernetes' VisitPodSecretNames (pkg/api/v1/pod/util.go).
import { registrySecretPrefix, registrySecrets, reservedSecretPrefix } from '../../../api/names.ts'
import { isTokenSecretOf, isTokenSecretOfExpression, tokenSecretName } from '../../../api/reserved-secrets.ts'
import { type JsonObject, objectAt, objectsAt, textAt } from '../../../lib/json/json-value.ts'
import { sameJson } from '../../../lib/json/same-json.ts'
import { celText, type Rule, type Scope } from '../../rule.ts'
import { podMatches, podSpecOf, podSpecVariables, samePodSpec } from '../pods/pod-spec.ts'

/** Which Secrets may not be referred to, where, and what the refusal says. */
type Reserved = {
  readonly name: string
  readonly stops: string
  readonly scope: Scope
  readonly prefix: string
  /** The one Secret that pods and ServiceAccounts may name as their pull secret. */
  readonly mayPull?: string
  /** Pods under the ServiceAccount in the name of such a Secret may mount it and pull with it. */
  readonly ofAccounts?: true
  readonly message: string
}

const tokens = {
  scope: 'tenant-namespaces',
  prefix: reservedSecretPrefix,
  ofAccounts: true,
  message: `refers to a Secret named ${reservedSecretPrefix}…, which belongs to the platform: ${tokenSecretName('ACCOUNT', 'GRANT')} is only for volumes and imagePullSecrets of pods under the ServiceAccount ACCOUNT`,
} as const

/** In build namespaces the builder mounts them; tenants have no roles there. */
const registryCredentials = {
  scope: 'application-namespaces',
  prefix: registrySecretPrefix,
  mayPull: registrySecrets.pull,
  message: `refers to a Secret named ${registrySecretPrefix}…, which belongs to the platform: only imagePullSecrets may name ${registrySecrets.pull}`,
} as const

/** The volume source by which a pod gets a Secret as files, beside `projected`. */
const mounting = ['secret', 'secretName'] as const
/** Those whose drivers get a Secret: the field of the source, and the path to the name in it. */
const volumeReferences: readonly (readonly [string, ...string[]])[] = [
  ['azureFile', 'secretName'],
  ['csi', 'nodePublishSecretRef', 'name'],
  ['cephfs', 'secretRef', 'name'],
  ['cinder', 'secretRef', 'name'],
  ['flexVolume', 'secretRef', 'name'],
  ['rbd', 'secretRef', 'name'],
  ['scaleIO', 'secretRef', 'name'],
  ['iscsi', 'secretRef', 'name'],
  ['storageos', 'secretRef', 'name'],
]

const containerLists = ['containers', 'initContainers', 'ephemeralContainers']

function namesInContainer(container: JsonObject): readonly (string | undefined)[] {
  return [
    ...objectsAt(container, 'env').map(item => textAt(objectAt(item, 'valueFrom', 'secretKeyRef'), 'name')),
    ...objectsAt(container, 'envFrom').map(item => textAt(objectAt(item, 'secretRef'), 'name')),
  ]
}

function namesForDrivers(volume: JsonObject): readonly (string | undefined)[] {
  return volumeReferences
    .filter(([source]) => volume[source] !== undefined)
    .map(path => textAt(objectAt(volume, ...path.slice(0, -1)), path.at(-1) ?? ''))
}

function mountedNames(volume: JsonObject): readonly (string | undefined)[] {
  const [source, field] = mounting
  const projected = objectsAt(objectAt(volume, 'projected'), 'sources')
  return [textAt(objectAt(volume, source), field), ...projected.map(one => textAt(objectAt(one, 'secret'), 'name'))]
}

/** Whether the pod has a Secret where it may not have it. */
function refers(reserved: Reserved, spec: JsonObject): boolean {
  const account = reserved.ofAccounts ? (textAt(spec, 'serviceAccountName') ?? '') : ''
  const volumes = objectsAt(spec, 'volumes')
  const containers = containerLists.flatMap(list => objectsAt(spec, list))
  const isOther = (name: string | undefined): boolean => isReserved(reserved, name) && !isTokenSecretOf(account, name ?? '')
  return (
    [...containers.flatMap(namesInContainer), ...volumes.flatMap(namesForDrivers)].some(name => isReserved(reserved, name)) ||
    volumes.flatMap(mountedNames).some(isOther) ||
    pullSecretNames(spec).some(name => isReservedPull(reserved, name) && isOther(name))
  )
}

function pullSecretNames(object: JsonObject | undefined): readonly (string | undefined)[] {
  return objectsAt(object, 'imagePullSecrets').map(item => textAt(item, 'name'))
}

/** A name that may not stand where it does. */
function isReserved({ prefix }: Reserved, name: string | undefined): boolean {
  return name?.startsWith(prefix) === true
}

function isReservedPull(reserved: Reserved, name: string | undefined): boolean {
  return isReserved(reserved, name) && name !== reserved.mayPull
}

const named = ({ prefix }: Reserved, expression: string): string => `${expression}.startsWith(${celText(prefix)})`

/** Named, and not of the ServiceAccount, which is a CEL expression, too. */
function namedOfOthers(reserved: Reserved, account: string, expression: string): string {
  const isNamed = named(reserved, expression)
  return reserved.ofAccounts ? `(${isNamed} && !${isTokenSecretOfExpression(account, expression)})` : isNamed
}

function pullNamed(reserved: Reserved, account: string, expression: string): string {
  const isNamed = namedOfOthers(reserved, account, expression)
  return reserved.mayPull === undefined ? isNamed : `(${isNamed} && ${expression} != ${celText(reserved.mayPull)})`
}

/** In pods, and in every built-in kind with a pod template. */
function inPods(reserved: Reserved): Rule {
  const { name, stops, scope, message } = reserved
  return {
    name,
    stops,
    scope,
    matches: podMatches,
    check({ resource, object, oldObject }) {
      const spec = podSpecOf(resource, object)
      if (spec === undefined) return undefined
      const before = podSpecOf(resource, oldObject)
      if (before !== undefined && sameJson(spec, before)) return undefined
      return refers(reserved, spec) ? message : undefined
    },
    policy: () => ({
      variables: [
        ...podSpecVariables,
        ...(reserved.ofAccounts ? [{ name: 'account', expression: "variables.spec.?serviceAccountName.orValue('')" }] : []),
        { name: 'containers', expression: containerLists.map(list => `variables.spec.?${list}.orValue([])`).join(' + ') },
      ],
      validation: {
        expression: [
          samePodSpec,
          ` || (!variables.spec.?imagePullSecrets.orValue([]).exists(s, ${pullNamed(reserved, 'variables.account', "s.?name.orValue('')")})`,
          ` && !variables.containers.exists(c, c.?env.orValue([]).exists(e, ${named(reserved, "e.?valueFrom.?secretKeyRef.?name.orValue('')")})`,
          ` || c.?envFrom.orValue([]).exists(e, ${named(reserved, "e.?secretRef.?name.orValue('')")}))`,
          ` && !variables.spec.?volumes.orValue([]).exists(v, v.?projected.?sources.orValue([]).exists(p, ${namedOfOthers(reserved, 'variables.account', "p.?secret.?name.orValue('')")})`,
          ` || ${namedOfOthers(reserved, 'variables.account', `v.${mounting.map(field => `?${field}`).join('.')}.orValue('')`)}`,
          ` || [${volumeReferences.map(path => `v.${path.map(field => `?${field}`).join('.')}.orValue('')`).join(', ')}].exists(x, ${named(reserved, 'x')})))`,
        ].join(''),
        message,
      },
    }),
  }
}

/** CEL: the name of a ServiceAccount, whose pods get what it pulls with. */
const accountOfObject = "request.resource.resource == 'serviceaccounts' ? dyn(object).metadata.?name.orValue('') : ''"

/** In ServiceAccounts and Ingresses, whose controllers read the Secrets that they name. */
function elsewhere(reserved: Reserved): Rule {
  const { name, stops, scope, message, ofAccounts } = reserved
  return {
    name,
    stops,
    scope,
    matches: [
      { group: '', resources: ['serviceaccounts'], operations: ['CREATE', 'UPDATE'] },
      { group: 'networking.k8s.io', resources: ['ingresses'], operations: ['CREATE', 'UPDATE'] },
    ],
    check({ resource, object }) {
      // Its pods get what it pulls with.
      const account = ofAccounts && resource === 'serviceaccounts' ? (textAt(objectAt(object, 'metadata'), 'name') ?? '') : ''
      const names = [
        ...objectsAt(object, 'secrets').map(item => textAt(item, 'name')),
        ...objectsAt(objectAt(object, 'spec'), 'tls').map(item => textAt(item, 'secretName')),
      ]
      const found =
        names.some(one => isReserved(reserved, one)) ||
        pullSecretNames(object).some(one => isReservedPull(reserved, one) && !isTokenSecretOf(account, one ?? ''))
      return found ? message : undefined
    },
    policy: () => ({
      variables: ofAccounts ? [{ name: 'account', expression: accountOfObject }] : [],
      validation: {
        expression: [
          `!dyn(object).?secrets.orValue([]).exists(s, ${named(reserved, "s.?name.orValue('')")})`,
          ` && !dyn(object).?imagePullSecrets.orValue([]).exists(s, ${pullNamed(reserved, 'variables.account', "s.?name.orValue('')")})`,
          ` && !dyn(object).?spec.?tls.orValue([]).exists(t, ${named(reserved, "t.?secretName.orValue('')")})`,
        ].join(''),
        message,
      },
    }),
  }
}

/** References to Secrets with GitHub tokens. */
export const secretReferences = inPods({
  ...tokens,
  name: 'secret-references',
  stops: 'reading a token by mounting its Secret, by an environment variable, or by sending it to a registry as a pull secret',
})
export const secretReferencesElsewhere = elsewhere({
  ...tokens,
  name: 'secret-references-elsewhere',
  stops: 'reaching a token through a ServiceAccount’s pull secrets or through an ingress controller',
})

/** References to Secrets with credentials for the image registry. */
export const registryReferences = inPods({
  ...registryCredentials,
  name: 'registry-references',
  stops: 'reading a credential for the image registry by mounting its Secret or by an environment variable',
})
export const registryReferencesElsewhere = elsewhere({
  ...registryCredentials,
  name: 'registry-references-elsewhere',
  stops: 'reaching a credential for the image registry through a ServiceAccount’s list or through an ingress controller',
})
