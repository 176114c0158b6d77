// Secrets and ConfigMaps in the platform's namespace: keys of the GitHub Apps, sealing keys, certificates, settings and the
// code of charts.
import { platformNamespace } from '../../../api/names.ts'
import type { PlatformIdentities } from '../../identities.ts'
import type { AdmissionRequest } from '../../review.ts'
import { celList, type Rule } from '../../rule.ts'
import { isKubernetes, isKubernetesExpression, isPlatform, isPlatformExpression } from '../kinds/writers.ts'

const message = `Secrets and ConfigMaps in ${platformNamespace} are written by the platform and its admins (who may “administer” platforms.sekisho.dev)`

function mayWrite(request: AdmissionRequest, identities: PlatformIdentities): boolean {
  return isPlatform(request, identities) || isKubernetes(request, identities) || identities.reapers.includes(request.username)
}

function mayWriteExpression(identities: PlatformIdentities): string {
  return `${isPlatformExpression(identities)} || ${isKubernetesExpression(identities)} || request.userInfo.username in ${celList(identities.reapers)}`
}

/** The platform, Kubernetes' own components and platform admins write. */
export const platformConfiguration: Rule = {
  name: 'platform-configuration',
  stops:
    'replacing a key of the platform or the code of a chart by a right to write Secrets or ConfigMaps that was granted too widely',
  scope: 'platform-namespace',
  administratorsMay: true,
  exempts: {
    kubernetesPrefixes: { does: 'publishes the certificate authority of the cluster in `kube-root-ca.crt`', follows: [] },
    reapers: { does: 'deletes objects with their owner, in a namespace in which tenants have no rights', follows: [] },
  },
  matches: [{ group: '', resources: ['secrets', 'configmaps'], operations: ['CREATE', 'UPDATE', 'DELETE'] }],
  // The platform writes its own certificate before the webhook can answer.
  webhookCondition: identities => ({ name: 'not-by-the-platform', expression: `!(${mayWriteExpression(identities)})` }),
  check: (request, identities) => (mayWrite(request, identities) ? undefined : message),
  policy: identities => ({ variables: [], validation: { expression: mayWriteExpression(identities), message } }),
}
