// PersistentVolumeClaims of tenants: the cluster chooses or makes the volume. A claim that names one, by its name, by labels or as a volume
// without a class, could be bound to a volume that an admin made for another tenant, or that another tenant left behind.
// Source: https://kubernetes.io/docs/concepts/storage/persistent-volumes/#reserving-a-persistentvolume
import { type JsonObject, objectAt, textAt } from '../../../lib/json/json-value.ts'
import type { Rule } from '../../rule.ts'
import { isKubernetes, isKubernetesExpression } from '../kinds/writers.ts'

const message =
  'a PersistentVolumeClaim in a tenant’s namespace must not set volumeName, selector, an empty storageClassName, or a dataSourceRef to another namespace: name a StorageClass, or omit it'

const specOf = (object: JsonObject | undefined): JsonObject | undefined => objectAt(object, 'spec')

function isNamed(object: JsonObject | undefined, oldObject: JsonObject | undefined): boolean {
  return (textAt(specOf(object), 'volumeName') ?? '') !== (textAt(specOf(oldObject), 'volumeName') ?? '')
}

function chooses(object: JsonObject | undefined): boolean {
  const spec = specOf(object)
  return (
    spec?.['selector'] !== undefined ||
    spec?.['storageClassName'] === '' ||
    (textAt(objectAt(spec, 'dataSourceRef'), 'namespace') ?? '') !== ''
  )
}

/** Kubernetes binds: it alone sets `volumeName`. The other fields cannot change once the claim exists. */
export const volumeClaims: Rule = {
  name: 'volume-claims',
  stops: 'binding a volume that belongs to another tenant or to the platform, and reading what is on it',
  scope: 'tenant-namespaces',
  administratorsMay: true,
  matches: [{ group: '', resources: ['persistentvolumeclaims'], operations: ['CREATE', 'UPDATE'] }],
  webhookCondition: identities => ({ name: 'not-by-kubernetes', expression: `!(${isKubernetesExpression(identities)})` }),
  check(request, identities) {
    const { operation, object, oldObject } = request
    if (isKubernetes(request, identities)) return undefined
    return isNamed(object, oldObject) || (operation === 'CREATE' && chooses(object)) ? message : undefined
  },
  policy: identities => ({
    variables: [
      { name: 'named', expression: "dyn(object).spec.?volumeName.orValue('')" },
      { name: 'namedBefore', expression: "oldObject == null ? '' : dyn(oldObject).spec.?volumeName.orValue('')" },
      {
        name: 'chooses',
        expression:
          "request.operation == 'CREATE' && (dyn(object).spec.?selector.hasValue() || dyn(object).spec.?storageClassName.orValue('default') == '' || dyn(object).spec.?dataSourceRef.?namespace.orValue('') != '')",
      },
    ],
    validation: {
      expression: `${isKubernetesExpression(identities)} || (variables.named == variables.namedBefore && !variables.chooses)`,
      message,
    },
  }),
}
