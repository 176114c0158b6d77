// A grant that is delivered by a Secret: with the approval the Secret comes, with a token that is alive; with the grant both go.
import { type Secret, secrets, serviceAccounts } from '../../../src/api/builtin/index.ts'
import { clusterGrantPolicy } from '../../../src/api/github/grant-policy.ts'
import { repositoryGrant } from '../../../src/api/github/repository-grant.ts'
import { findCondition } from '../../../src/kube/object/conditions.ts'
import { SecretString } from '../../../src/lib/secret-string.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { hashedToken } from '../../../src/store/token-registry.ts'
import type { Environment } from '../environment/environment.ts'
import type { Scenario } from '../scenario.ts'
import { applyGrant, bind, sweptMilliseconds } from './bindings.ts'
import { gone, patience, ready } from './waits.ts'

const name = 'ghtok-runner.read-shop'
const allow = { name: 'tokens', effect: 'Allow', permissions: { contents: 'read' }, deliveries: ['Secret'] }

/** Cluster-wide kinds are seen by their prefix. */
const capOf = ({ prefix }: Environment): string => `${prefix}-secrets`

const secretIn = ({ fixture, namespace }: Environment): Promise<Secret | undefined> =>
  fixture.kube.get(secrets, { namespace, name })

/** The token in the Secret is one that the registry has as alive. */
async function delivered(environment: Environment): Promise<void> {
  const { fixture, namespace, store } = environment
  await waitUntil(
    'a token that is alive is in the Secret',
    async () => {
      const grant = await fixture.kube.get(repositoryGrant, { namespace, name: 'read-shop' })
      const condition = findCondition(grant?.status?.conditions, 'Delivered')
      if (condition?.status !== 'True') throw new Error(`${condition?.reason}: ${condition?.message}`)
      const text = Buffer.from((await secretIn(environment))?.data?.['token'] ?? '', 'base64').toString('utf8')
      return (await store.tokens.hasLive({ hashedToken: hashedToken(new SecretString(text)) })) ? true : undefined
    },
    patience,
  )
}

export const grantInSecret: Scenario = {
  name: 'repository-grant: in a Secret, create and delete',
  controllers: ['repository-grant', 'cluster-grant-policy'],
  environment: { component: 'controllers', namespace: 'made', github: 'repository' },
  awayMilliseconds: sweptMilliseconds,
  async prepare(environment) {
    await bind(environment)
    await environment.apply(serviceAccounts, 'runner', {})
    await environment.apply(clusterGrantPolicy, capOf(environment), { spec: { rules: [allow] } })
    await ready(environment, clusterGrantPolicy, capOf(environment), 'Enforced')
  },
  async act(environment) {
    await applyGrant(environment, undefined, { delivery: 'Secret' })
    await delivered(environment)
    await environment.fixture.kube.delete(repositoryGrant, { namespace: environment.namespace, name: 'read-shop' })
    await gone(environment, repositoryGrant, 'read-shop')
    await gone(environment, secrets, name)
    await environment.fixture.kube.delete(clusterGrantPolicy, { name: capOf(environment) })
    await gone(environment, clusterGrantPolicy, capOf(environment))
  },
  shortPoints: /secrets|repositorygrants/,
  compares: [repositoryGrant, secrets],
}
