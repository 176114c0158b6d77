// Only the broker writes Installations: a user who could create one would reach the repositories of any account on the App. Of
// one that exists it changes the annotation that wakes the controllers, and who stands in.
import { installation } from '../../../api/github/installation.ts'
import { immutableFields } from '../../../api/schema/immutable-fields.ts'
import { objectAt } from '../../../lib/json/json-value.ts'
import { sameJson } from '../../../lib/json/same-json.ts'
import type { AdmissionRequest } from '../../review.ts'
import { celList, type Rule } from '../../rule.ts'
import { mayMaintain, mayMaintainExpression, metadataOnlyVariable, reaping } from './writers.ts'

const message =
  'only the platform writes Installations: an owner of the GitHub account signs in and onboards it; what was bound stays as it was'

const fixedMetadata = ['labels', 'ownerReferences', 'finalizers']
const fixedSpec = immutableFields(installation)

/** Leaves everything as it was but annotations and the stand-ins. */
function keepsBinding({ operation, object, oldObject }: AdmissionRequest): boolean {
  if (operation !== 'UPDATE') return true
  const keeps = (part: string, names: readonly string[]): boolean =>
    names.every(name => sameJson(objectAt(object, part)?.[name], objectAt(oldObject, part)?.[name]))
  return keeps('metadata', fixedMetadata) && keeps('spec', fixedSpec)
}

const kept = (part: string, names: readonly string[]): string =>
  names.map(name => `object.${part}.?${name} == oldObject.${part}.?${name}`).join(' && ')

/** The CEL twin of `keepsBinding`, as a variable of the policy. */
const keepsBindingVariable = {
  name: 'keepsBinding',
  expression: `request.operation != 'UPDATE' || (${kept('metadata', fixedMetadata)} && ${kept('spec', fixedSpec)})`,
}

/** The broker binds, ends and changes who stands in; controllers and Kubernetes' reapers maintain. */
export const installationWriters: Rule = {
  name: 'installation-writers',
  stops:
    'binding a namespace to an installation, or standing in for a binding, without proof of ownership, by a tenant or by a cluster administrator’s mistake',
  scope: 'everywhere',
  matches: [
    {
      group: installation.group,
      resources: [installation.plural],
      operations: ['CREATE', 'UPDATE', 'DELETE'],
    },
  ],
  exempts: reaping,
  check(request, identities) {
    const isBrokers = identities.brokers.includes(request.username) && keepsBinding(request)
    return isBrokers || mayMaintain(request, identities) ? undefined : message
  },
  policy: identities => ({
    variables: [metadataOnlyVariable, keepsBindingVariable],
    validation: {
      expression: `(request.userInfo.username in ${celList(identities.brokers)} && variables.keepsBinding) || ${mayMaintainExpression(identities)}`,
      message,
    },
  }),
}
