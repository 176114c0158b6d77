// Connections into build namespaces, and containers that are added to running builds: what a build holds (its source, the
// credential with which it pushes, values of AppSecrets) belongs to nobody of the tenant. RBAC gives these rights to nobody but
// cluster administrators; this holds also where an administrator bound a built-in role there.
// Source: https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#matching-requests-rules
import type { Rule } from '../../rule.ts'

const message =
  'nobody connects to pods of build namespaces or adds containers to them: the log of a build is in `sekisho builds logs` and on the page of the RemoteSync'

/** For everybody but platform admins. */
export const buildConnections: Rule = {
  name: 'build-connections',
  stops: 'taking the source, the credentials or the secrets of a build out of its pod, or changing what it builds',
  scope: 'build-namespaces',
  administratorsMay: true,
  matches: [
    {
      group: '',
      resources: ['pods/exec', 'pods/attach', 'pods/portforward', 'pods/proxy', 'services/proxy'],
      operations: ['CONNECT'],
    },
    { group: '', resources: ['pods/ephemeralcontainers'], operations: ['UPDATE'] },
  ],
  check: () => message,
  policy: () => ({ variables: [], validation: { expression: 'false', message } }),
}
