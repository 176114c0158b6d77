// Tokens of ServiceAccounts that nobody but a kubelet has to ask for: whoever gets one acts as the pods of that account, without
// any of them, and the token desk would know it by its grants. A policy says so of the accounts that grants name, because it
// reads the grants; which accounts the platform made, their names say.
// Source: https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-request-v1/
import { repositoryGrant } from '../../../api/github/repository-grant.ts'
import { platformNamespace } from '../../../api/names.ts'
import { wallProbeAccount } from '../../../api/wall-names.ts'
import type { PlatformIdentities } from '../../identities.ts'
import type { AdmissionRequest } from '../../review.ts'
import { celList, celText, type PolicyRule, type Rule } from '../../rule.ts'
import { isKubernetes, isKubernetesExpression } from '../kinds/writers.ts'
import { hasEnded } from '../pods/pod-exec.ts'
import { isPlatformAccount, isPlatformAccountExpression } from './platform-accounts.ts'

const matches: Rule['matches'] = [{ group: '', resources: ['serviceaccounts/token'], operations: ['CREATE'] }]
const name = "dyn(request).?name.orValue('')"

const kubelets: NonNullable<Rule['exempts']> = {
  kubernetesPrefixes: {
    does: 'asks for the token of a pod that runs on its node, bound to that pod',
    follows: [
      {
        template: '`spec.serviceAccountName` of a pod',
        harmless: 'the API server gives a kubelet tokens for its own pods only, and the token desk asks which pod it is',
      },
    ],
  },
}

const ofPlatform = `tokens of this ServiceAccount are for its pods only, which get them from their kubelet; make a ServiceAccount of your own (builder, default and sekisho-… are of the platform)`

/** Pods start whether the webhook answers or not, those of the platform first of all. */
const notByKubernetes: NonNullable<Rule['webhookCondition']> = identities => ({
  name: 'not-by-kubernetes',
  expression: `!${isKubernetesExpression(identities)}`,
})

/** For everybody but kubelets and platform admins. */
export const accountTokens: Rule = {
  name: 'account-tokens',
  stops: 'acting as the pods of the platform’s ServiceAccounts with a token of one’s own',
  scope: 'tenant-namespaces',
  administratorsMay: true,
  exempts: kubelets,
  matches,
  webhookCondition: notByKubernetes,
  check: (request, identities) =>
    !isPlatformAccount(request.name ?? '') || isKubernetes(request, identities) ? undefined : ofPlatform,
  policy: identities => ({
    variables: [],
    validation: {
      expression: `!${isPlatformAccountExpression(name)} || ${isKubernetesExpression(identities)}`,
      message: ofPlatform,
    },
  }),
}

/** The controllers try their walls as the one account that has no right. */
function isWallProbe({ name, username }: AdmissionRequest, { controllers }: PlatformIdentities): boolean {
  return name === wallProbeAccount && controllers.includes(username)
}

const ofProcesses = `tokens of ServiceAccounts in ${platformNamespace} are for the pods of the platform only`

export const platformAccountTokens: Rule = {
  name: 'platform-account-tokens',
  stops: 'acting as a process of the platform with a token of its ServiceAccount',
  scope: 'platform-namespace',
  administratorsMay: true,
  exempts: kubelets,
  matches,
  webhookCondition: notByKubernetes,
  check: (request, identities) =>
    isWallProbe(request, identities) || isKubernetes(request, identities) ? undefined : ofProcesses,
  policy: identities => ({
    variables: [],
    validation: {
      expression: `(${name} == ${celText(wallProbeAccount)} && request.userInfo.username in ${celList(identities.controllers)}) || ${isKubernetesExpression(identities)}`,
      message: ofProcesses,
    },
  }),
}

/** A grant that is not decided yet counts: it may be approved while the token lives. */
export const grantedAccountTokens: PolicyRule = {
  name: 'granted-account-tokens',
  stops: 'getting GitHub tokens by a token of a ServiceAccount that a RepositoryGrant names, without any of its pods',
  scope: 'application-namespaces',
  administratorsMay: true,
  exempts: kubelets,
  matches,
  param: repositoryGrant,
  policy: identities => ({
    variables: [],
    validation: {
      expression: `!params.spec.subjects.exists(subject, subject.kind == 'ServiceAccount' && subject.name == ${name}) || ${hasEnded} || ${isKubernetesExpression(identities)}`,
      messageExpression:
        "'tokens of this ServiceAccount are for its pods only, while RepositoryGrant ' + params.metadata.name + ' names it: delete the grant, or use another ServiceAccount'",
    },
  }),
}
