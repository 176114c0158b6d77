// Which pods of tenants' applications our own identities delete: those that are being deleted already, when their namespace
// ends and they do not. In build namespaces they delete the pods of builds, which they made. A policy only, like all rules
// about ourselves.
import type { PolicyRule } from '../../rule.ts'

export const ownPodDeletions: PolicyRule = {
  name: 'own-pod-deletions',
  stops: 'a process of ours that was taken over: ending the running pods of tenants',
  scope: 'application-namespaces',
  users: ({ accounts }) => accounts.map(({ username }) => username),
  matches: [{ group: '', resources: ['pods'], operations: ['DELETE'] }],
  policy: () => ({
    variables: [],
    validation: {
      expression: 'oldObject.metadata.?deletionTimestamp.hasValue()',
      message: 'the platform deletes no pod of an application that is not being deleted already',
    },
  }),
}
