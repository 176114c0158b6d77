// Only the platform writes a tenant's namespace, and only platform admins its own: the labels on a namespace determine which
// rules apply (tenant, purpose) and how strict Pod Security is, its owner deletes it, and its finalizer keeps it until its
// contents are gone. `namespaces/status` and `namespaces/finalize` can change labels too, so all three are guarded.
import { labels, platformNamespaces } from '../../../api/names.ts'
import { type JsonObject, objectAt, textAt } from '../../../lib/json/json-value.ts'
import { sameJson } from '../../../lib/json/same-json.ts'
import type { AdmissionRequest } from '../../review.ts'
import { celList, celText, type Rule } from '../../rule.ts'
import { reaping } from '../kinds/writers.ts'

/** Prefixes of the keys of labels and annotations that are guarded. */
const guardedPrefixes = [`${labels.tenant.split('/')[0]}/`, 'pod-security.kubernetes.io/']
const guardedFields = ['ownerReferences', 'finalizers'] as const
/** What admission reads of a namespace. */
const markFields = ['labels', 'annotations'] as const

const message = `namespaces of tenants and of the platform belong to the platform: change or delete the Tenant instead of the namespace, its owners, finalizers, status, labels or annotations (${guardedPrefixes.map(prefix => `${prefix}…`).join(', ')})`

function labelsOf(object: JsonObject | undefined): JsonObject {
  return objectAt(object, 'metadata', 'labels') ?? {}
}

function guarded(entries: JsonObject | undefined): JsonObject {
  return Object.fromEntries(
    Object.entries(entries ?? {}).filter(([key]) => guardedPrefixes.some(prefix => key.startsWith(prefix))),
  )
}

function isGuarded({ object, oldObject }: AdmissionRequest): boolean {
  return [object, oldObject].some(
    one => labels.tenant in labelsOf(one) || platformNamespaces.includes(textAt(objectAt(one, 'metadata'), 'name') ?? ''),
  )
}

function hasSameMarks({ operation, object, oldObject }: AdmissionRequest): boolean {
  const marks = (one: JsonObject | undefined) => markFields.map(field => guarded(objectAt(one, 'metadata', field)))
  return operation === 'UPDATE' && sameJson(marks(object), marks(oldObject))
}

function isSameNamespace(request: AdmissionRequest): boolean {
  const [after, before] = [request.object, request.oldObject].map(one => objectAt(one, 'metadata'))
  return (
    request.subResource === undefined &&
    hasSameMarks(request) &&
    guardedFields.every(field => sameJson(after?.[field] ?? [], before?.[field] ?? []))
  )
}

const tenantText = celText(labels.tenant)
const isGuardedKey = `${celList(guardedPrefixes)}.exists(prefix, key.startsWith(prefix))`

function sameMarksExpression(field: (typeof markFields)[number]): string {
  const [after, before] = ['object', 'oldObject'].map(object => `dyn(${object}).metadata.?${field}.orValue({})`)
  return [
    `${before}.all(key, !${isGuardedKey} || (key in ${after} && ${after}[key] == ${before}[key]))`,
    `${after}.all(key, !${isGuardedKey} || key in ${before})`,
  ].join(' && ')
}

const isGuardedExpression = (object: string): string =>
  `(${object} != null && (${object}.metadata.name in ${celList(platformNamespaces)} || ${tenantText} in ${object}.metadata.?labels.orValue({})))`

/** The platform and its admins write; Kubernetes' reapers finish a deletion; others may change what is not guarded. */
export const namespaceGuard: Rule = {
  name: 'namespace-guard',
  stops: 'loosening Pod Security, slipping out of the tenant rules by a label, or deleting an Installation with its namespace',
  scope: 'everywhere',
  administratorsMay: true,
  exempts: reaping,
  matches: [
    {
      group: '',
      resources: ['namespaces', 'namespaces/status', 'namespaces/finalize'],
      operations: ['CREATE', 'UPDATE', 'DELETE'],
    },
  ],
  webhookCondition: () => ({
    name: 'guarded-namespace',
    expression: `${isGuardedExpression('object')} || ${isGuardedExpression('oldObject')}`,
  }),
  check(request, identities) {
    if (!isGuarded(request) || identities.controllers.includes(request.username)) return undefined
    const byReaper = identities.reapers.includes(request.username)
    if (byReaper && (request.operation === 'DELETE' || hasSameMarks(request))) return undefined
    return isSameNamespace(request) ? undefined : message
  },
  policy: identities => ({
    variables: [
      {
        name: 'sameMarks',
        expression: ["request.operation == 'UPDATE'", ...markFields.map(sameMarksExpression)].join(' && '),
      },
      {
        name: 'sameNamespace',
        expression: [
          '!has(request.subResource) && variables.sameMarks',
          ...guardedFields.map(
            field => ` && dyn(object).metadata.?${field}.orValue([]) == dyn(oldObject).metadata.?${field}.orValue([])`,
          ),
        ].join(''),
      },
    ],
    validation: {
      expression: [
        `!(${isGuardedExpression('object')} || ${isGuardedExpression('oldObject')})`,
        ` || request.userInfo.username in ${celList(identities.controllers)}`,
        ` || (request.userInfo.username in ${celList(identities.reapers)} && (request.operation == 'DELETE' || variables.sameMarks))`,
        ' || variables.sameNamespace',
      ].join(''),
      message,
    },
  }),
}
