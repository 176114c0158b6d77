// Only the platform writes a tenant's namespace and the labels on it: they determine which rules apply (tenant, purpose) and how strict Pod
// Security is. `namespaces/status` and `namespaces/finalize` can change labels too, so all three are guarded.
import { labels } from '../../api/names.ts'
import { type JsonObject, objectAt } from '../../lib/json/json-value.ts'
import type { AdmissionRequest } from '../review.ts'
import { celList, celText, type Rule } from '../rule.ts'
import { isInGroup, isInGroupExpression } from './writers.ts'

/** Prefixes of the label keys that are guarded on a tenant's namespace. */
const guardedPrefixes = [`${labels.tenant.split('/')[0]}/`, 'pod-security.kubernetes.io/']

const message = `namespaces of tenants belong to the platform: change or delete the Tenant instead of the namespace or its labels (${guardedPrefixes.map(prefix => `${prefix}…`).join(', ')})`

function labelsOf(object: JsonObject | undefined): JsonObject {
  return objectAt(object, 'metadata', 'labels') ?? {}
}

function guarded(of: JsonObject): string {
  const entries = Object.entries(of).filter(([key]) => guardedPrefixes.some(prefix => key.startsWith(prefix)))
  return JSON.stringify(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function isOfTenant({ object, oldObject }: AdmissionRequest): boolean {
  return labels.tenant in labelsOf(object) || labels.tenant in labelsOf(oldObject)
}

const tenantText = celText(labels.tenant)
const labelsExpression = (object: string): string => `(${object} == null ? {} : dyn(${object}).metadata.?labels.orValue({}))`

/** Controllers and platform administrators write; others may change labels that are not guarded. */
export const namespaceGuard: Rule = {
  name: 'namespace-guard',
  stops: 'loosening Pod Security, slipping out of the tenant rules by a label, or deleting an Installation with its namespace',
  scope: 'everywhere',
  matches: [
    {
      group: '',
      resources: ['namespaces', 'namespaces/status', 'namespaces/finalize'],
      operations: ['CREATE', 'UPDATE', 'DELETE'],
    },
  ],
  webhookCondition: () => ({
    name: 'tenant-namespace',
    expression: `(object != null && ${tenantText} in object.metadata.?labels.orValue({})) || (oldObject != null && ${tenantText} in oldObject.metadata.?labels.orValue({}))`,
  }),
  check(request, identities) {
    const { username, operation, object, oldObject } = request
    if (!isOfTenant(request)) return undefined
    if (identities.controllers.includes(username) || isInGroup(request, identities.platformAdminGroups)) return undefined
    if (operation === 'UPDATE' && guarded(labelsOf(object)) === guarded(labelsOf(oldObject))) return undefined
    if (operation === 'DELETE' && identities.reapers.includes(username)) return undefined
    return message
  },
  policy: identities => ({
    variables: [
      { name: 'after', expression: labelsExpression('object') },
      { name: 'before', expression: labelsExpression('oldObject') },
      {
        name: 'sameLabels',
        expression: [
          "request.operation == 'UPDATE'",
          ` && variables.before.all(key, !${celList(guardedPrefixes)}.exists(prefix, key.startsWith(prefix)) || (key in variables.after && variables.after[key] == variables.before[key]))`,
          ` && variables.after.all(key, !${celList(guardedPrefixes)}.exists(prefix, key.startsWith(prefix)) || key in variables.before)`,
        ].join(''),
      },
    ],
    validation: {
      expression: [
        `(!(${tenantText} in variables.after) && !(${tenantText} in variables.before))`,
        ` || request.userInfo.username in ${celList(identities.controllers)} || ${isInGroupExpression(identities.platformAdminGroups)}`,
        ` || variables.sameLabels || (request.operation == 'DELETE' && request.userInfo.username in ${celList(identities.reapers)})`,
      ].join(''),
      message,
    },
  }),
}
