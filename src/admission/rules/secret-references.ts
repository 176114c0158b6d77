// No object in a tenant's namespace may refer to a reserved Secret: mounting it or naming it in an environment variable is reading it.
// The rules do not consider the user: Kubernetes' controllers create pods, so a pod does not show who wrote its template. An object
// whose reference is older than the rule may be scaled, relabelled and deleted, but not edited.
// Source of the fields: Kubernetes' VisitPodSecretNames (pkg/api/v1/pod/util.go).
import { reservedSecretPrefix } from '../../api/names.ts'
import { type JsonObject, objectAt, objectsAt, textAt } from '../../lib/json/json-value.ts'
import { sameJson } from '../../lib/json/same-json.ts'
import type { AdmissionRequest } from '../review.ts'
import { celText, type Rule } from '../rule.ts'

const message = `refers to a Secret named ${reservedSecretPrefix}…, which belongs to the platform: request the token from the token desk instead`

/** The volume sources that name a Secret: the field of the source, and the path to the name in it. */
const volumeReferences: readonly (readonly [string, ...string[]])[] = [
  ['secret', 'secretName'],
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

function podSpecOf(resource: string, object: JsonObject | undefined): JsonObject | undefined {
  switch (resource) {
    case 'pods':
      return objectAt(object, 'spec')
    case 'podtemplates':
      return objectAt(object, 'template', 'spec')
    case 'cronjobs':
      return objectAt(object, 'spec', 'jobTemplate', 'spec', 'template', 'spec')
    default:
      return objectAt(object, 'spec', 'template', 'spec')
  }
}

function namesInContainer(container: JsonObject): readonly (string | undefined)[] {
  return [
    ...objectsAt(container, 'env').map(item => textAt(objectAt(item, 'valueFrom', 'secretKeyRef'), 'name')),
    ...objectsAt(container, 'envFrom').map(item => textAt(objectAt(item, 'secretRef'), 'name')),
  ]
}

function namesInVolume(volume: JsonObject): readonly (string | undefined)[] {
  const direct = volumeReferences
    .filter(([source]) => volume[source] !== undefined)
    .map(path => textAt(objectAt(volume, ...path.slice(0, -1)), path.at(-1) ?? ''))
  const projected = objectsAt(objectAt(volume, 'projected'), 'sources')
  return [...direct, ...projected.map(source => textAt(objectAt(source, 'secret'), 'name'))]
}

function secretNames(spec: JsonObject): readonly (string | undefined)[] {
  return [
    ...objectsAt(spec, 'imagePullSecrets').map(item => textAt(item, 'name')),
    ...containerLists.flatMap(list => objectsAt(spec, list)).flatMap(namesInContainer),
    ...objectsAt(spec, 'volumes').flatMap(namesInVolume),
  ]
}

function isReserved(name: string | undefined): boolean {
  return name?.startsWith(reservedSecretPrefix) === true
}

function checkPods({ resource, object, oldObject }: AdmissionRequest): string | undefined {
  const spec = podSpecOf(resource, object)
  if (spec === undefined) return undefined
  const before = podSpecOf(resource, oldObject)
  if (before !== undefined && sameJson(spec, before)) return undefined
  return secretNames(spec).some(isReserved) ? message : undefined
}

const reserved = (expression: string): string => `${expression}.startsWith(${celText(reservedSecretPrefix)})`

function podSpecExpression(object: string): string {
  return `variables.r == 'pods' ? dyn(${object}).?spec.orValue({}) : variables.r == 'podtemplates' ? dyn(${object}).?template.?spec.orValue({}) : variables.r == 'cronjobs' ? dyn(${object}).?spec.?jobTemplate.?spec.?template.?spec.orValue({}) : dyn(${object}).?spec.?template.?spec.orValue({})`
}

/** Pods, and every built-in kind with a pod template. */
export const secretReferences: Rule = {
  name: 'secret-references',
  stops: 'reading a token by mounting its Secret, by an environment variable, or by sending it to a registry as a pull secret',
  scope: 'tenant-namespaces',
  matches: [
    {
      group: '',
      resources: ['pods', 'pods/ephemeralcontainers', 'pods/resize', 'replicationcontrollers', 'podtemplates'],
      operations: ['CREATE', 'UPDATE'],
    },
    { group: 'apps', resources: ['deployments', 'replicasets', 'statefulsets', 'daemonsets'], operations: ['CREATE', 'UPDATE'] },
    { group: 'batch', resources: ['jobs', 'cronjobs'], operations: ['CREATE', 'UPDATE'] },
  ],
  check: checkPods,
  policy: () => ({
    variables: [
      { name: 'r', expression: 'request.resource.resource' },
      { name: 'spec', expression: podSpecExpression('object') },
      { name: 'oldSpec', expression: `oldObject == null ? null : ${podSpecExpression('oldObject')}` },
      {
        name: 'containers',
        expression: containerLists.map(list => `variables.spec.?${list}.orValue([])`).join(' + '),
      },
    ],
    validation: {
      expression: [
        '(variables.oldSpec != null && variables.spec == variables.oldSpec)',
        ` || (!variables.spec.?imagePullSecrets.orValue([]).exists(s, ${reserved("s.?name.orValue('')")})`,
        ` && !variables.containers.exists(c, c.?env.orValue([]).exists(e, ${reserved("e.?valueFrom.?secretKeyRef.?name.orValue('')")})`,
        ` || c.?envFrom.orValue([]).exists(e, ${reserved("e.?secretRef.?name.orValue('')")}))`,
        ` && !variables.spec.?volumes.orValue([]).exists(v, v.?projected.?sources.orValue([]).exists(p, ${reserved("p.?secret.?name.orValue('')")})`,
        ` || [${volumeReferences.map(path => `v.${path.map(field => `?${field}`).join('.')}.orValue('')`).join(', ')}].exists(x, ${reserved('x')})))`,
      ].join(''),
      message,
    },
  }),
}

/** ServiceAccounts and Ingresses, whose controllers read the Secrets that they name. */
export const secretReferencesElsewhere: Rule = {
  name: 'secret-references-elsewhere',
  stops: 'reaching a token through a ServiceAccount’s pull secrets or through an ingress controller',
  scope: 'tenant-namespaces',
  matches: [
    { group: '', resources: ['serviceaccounts'], operations: ['CREATE', 'UPDATE'] },
    { group: 'networking.k8s.io', resources: ['ingresses'], operations: ['CREATE', 'UPDATE'] },
  ],
  check({ object }) {
    const names = [
      ...objectsAt(object, 'secrets').map(item => textAt(item, 'name')),
      ...objectsAt(object, 'imagePullSecrets').map(item => textAt(item, 'name')),
      ...objectsAt(objectAt(object, 'spec'), 'tls').map(item => textAt(item, 'secretName')),
    ]
    return names.some(isReserved) ? message : undefined
  },
  policy: () => ({
    variables: [],
    validation: {
      expression: [
        `!dyn(object).?secrets.orValue([]).exists(s, ${reserved("s.?name.orValue('')")})`,
        ` && !dyn(object).?imagePullSecrets.orValue([]).exists(s, ${reserved("s.?name.orValue('')")})`,
        ` && !dyn(object).?spec.?tls.orValue([]).exists(t, ${reserved("t.?secretName.orValue('')")})`,
      ].join(''),
      message,
    },
  }),
}
