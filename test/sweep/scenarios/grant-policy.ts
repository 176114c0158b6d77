// An admin of a tenant denies what is approved, with an active token, and takes it back; a platform admin caps it meanwhile.
import { clusterGrantPolicy, grantPolicy } from '../../../src/api/github/grant-policy.ts'
import { repositoryGrant } from '../../../src/api/github/repository-grant.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import type { Environment } from '../environment/environment.ts'
import type { Scenario } from '../scenario.ts'
import { sweptMilliseconds } from './bindings.ts'
import { gone, patience, ready } from './waits.ts'
import { withActiveToken } from './workload.ts'

const deny = { name: 'never', effect: 'Deny', repositories: ['*/shop'], permissions: { '*': 'read' } }

/** Cluster-wide kinds are seen by their prefix. */
const capOf = ({ prefix }: Environment): string => `${prefix}-cap`

export const grantPolicyScenario: Scenario = {
  name: 'grant policies: deny with an active token, cap, delete',
  controllers: ['grant-policy', 'cluster-grant-policy', 'repository-grant'],
  environment: { component: 'controllers', namespace: 'made', github: 'repository' },
  awayMilliseconds: sweptMilliseconds,
  prepare: withActiveToken,
  async act(environment) {
    const { fixture, namespace } = environment
    await environment.apply(grantPolicy, 'rules', { spec: { rules: [deny] } })
    const { metadata } = await ready(environment, repositoryGrant, 'read-shop', 'DeniedByGrantPolicy')
    // Else it may be approved again before its token is revoked, which then lives on.
    await waitUntil(
      'the token is revoked',
      async () => ((await environment.store.tokens.hasLive({ grantUid: metadata.uid ?? '' })) ? undefined : true),
      patience,
    )
    await environment.apply(clusterGrantPolicy, capOf(environment), { spec: { mode: 'Audit', rules: [deny] } })
    await ready(environment, clusterGrantPolicy, capOf(environment), 'Audited')
    await fixture.kube.delete(grantPolicy, { namespace, name: 'rules' })
    await gone(environment, grantPolicy, 'rules')
    await ready(environment, repositoryGrant, 'read-shop', 'Approved')
    await fixture.kube.delete(clusterGrantPolicy, { name: capOf(environment) })
    await gone(environment, clusterGrantPolicy, capOf(environment))
    await waitUntil(
      'the grant is decided without policies',
      async () => {
        const grant = await fixture.kube.get(repositoryGrant, { namespace, name: 'read-shop' })
        return grant?.status?.observedPolicies === undefined ? true : undefined
      },
      patience,
    )
  },
  shortPoints: /^after kubernetes: patch (clustergrantpolicies|grantpolicies|repositorygrants)\/status /,
  compares: [repositoryGrant],
}
