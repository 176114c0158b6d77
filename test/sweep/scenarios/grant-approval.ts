// A policy requires approval of what is approved, with an active token; an admin approves, takes it back, and the grant is
// deleted with an answer that stands.
import { grantApproval } from '../../../src/api/github/grant-approval.ts'
import { grantPolicy } from '../../../src/api/github/grant-policy.ts'
import { repositoryGrant } from '../../../src/api/github/repository-grant.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import type { Environment } from '../environment/environment.ts'
import type { Scenario } from '../scenario.ts'
import { sweptMilliseconds } from './bindings.ts'
import { gone, patience, ready } from './waits.ts'
import { withActiveToken } from './workload.ts'

const rule = { name: 'ask', effect: 'RequireApproval', permissions: { contents: 'read' } }
/** An owner of acme on the emulator; dave requests. */
const olivia = 'github|github.localhost|1001'

async function approve(environment: Environment, name: string): Promise<void> {
  const { fixture, namespace } = environment
  const grant = await fixture.kube.get(repositoryGrant, { namespace, name: 'read-shop' })
  const about = { name: 'read-shop', uid: grant?.metadata.uid ?? '' }
  await environment.apply(grantApproval, name, {
    spec: { grant: about, answer: 'Approve', reason: 'the release needs it', requestedBy: olivia },
  })
}

export const grantApprovalScenario: Scenario = {
  name: 'grant approvals: wait with an active token, approve, withdraw, delete with the grant',
  controllers: ['grant-approval', 'repository-grant'],
  environment: { component: 'controllers', namespace: 'made', github: 'repository' },
  awayMilliseconds: sweptMilliseconds,
  prepare: withActiveToken,
  async act(environment) {
    const { fixture, namespace } = environment
    await environment.apply(grantPolicy, 'rules', { spec: { rules: [rule] } })
    const { metadata } = await ready(environment, repositoryGrant, 'read-shop', 'WaitingForApproval')
    // Else it may be approved before its token is revoked, which then lives on.
    await waitUntil(
      'the token is revoked',
      async () => ((await environment.store.tokens.hasLive({ grantUid: metadata.uid ?? '' })) ? undefined : true),
      patience,
    )
    await approve(environment, 'first')
    await ready(environment, repositoryGrant, 'read-shop', 'Approved')
    await ready(environment, grantApproval, 'first', 'Counted')
    await fixture.kube.delete(grantApproval, { namespace, name: 'first' })
    await ready(environment, repositoryGrant, 'read-shop', 'WaitingForApproval')
    await approve(environment, 'second')
    await ready(environment, repositoryGrant, 'read-shop', 'Approved')
    await fixture.kube.delete(repositoryGrant, { namespace, name: 'read-shop' })
    await gone(environment, repositoryGrant, 'read-shop')
    await gone(environment, grantApproval, 'second')
  },
  shortPoints: /^after kubernetes: (patch (grantapprovals|repositorygrants)\/status|delete grantapprovals) /,
  compares: [repositoryGrant, grantApproval],
}
