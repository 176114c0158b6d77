// A push is delivered to the broker, repeated until it is answered, and wakes the RemoteSync of the branch.
import { createHmac, randomUUID } from 'node:crypto'
import { remoteSync } from '../../../src/api/apps/remote-sync.ts'
import { wakeAnnotation } from '../../../src/api/names.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { people } from '../environment/account.ts'
import type { Environment } from '../environment/environment.ts'
import type { Scenario } from '../scenario.ts'
import { applyInstallation, dave } from './bindings.ts'
import { patience } from './waits.ts'

function pushBody({ account }: Environment): string {
  const { repository, organization, installed } = account
  return JSON.stringify({
    ref: 'refs/heads/main',
    before: '1'.repeat(40),
    after: '2'.repeat(40),
    repository: { id: repository?.id, full_name: `${organization.login}/shop` },
    organization: { id: organization.id },
    installation: { id: installed.id },
    sender: { id: people.dave },
  })
}

/** GitHub redelivers when it got no answer: the same body under the same id. */
async function deliver(environment: Environment, deliveryId: string): Promise<void> {
  const body = pushBody(environment)
  const signature = createHmac('sha256', environment.fixture.github.app.webhookSecret).update(body).digest('hex')
  const headers = {
    'content-type': 'application/json',
    'x-github-event': 'push',
    'x-github-delivery': deliveryId,
    'x-hub-signature-256': `sha256=${signature}`,
  }
  await waitUntil(
    'the broker accepted the delivery',
    async () => {
      const answer = await fetch(`http://127.0.0.1:${environment.ports.broker}/webhooks/github`, {
        method: 'POST',
        headers,
        body,
      })
      return answer.status === 202 || undefined
    },
    patience,
  )
}

/** Unhandled deliveries, and all deliveries. */
function countDeliveries(environment: Environment): Promise<string> {
  return environment.fixture.query(
    environment.prefix,
    'SELECT count(*) FILTER (WHERE handled_at IS NULL), count(*) FROM broker.deliveries',
  )
}

export const webhookInboxScenario: Scenario = {
  name: 'webhook inbox: delivery to wake',
  shortPoints: 'all',
  // The worker belongs to the broker; it is not a controller.
  controllers: [],
  environment: { component: 'broker', namespace: 'made', github: 'repository' },
  // Longer than the lease of a claimed delivery.
  awayMilliseconds: 2 * 60_000,
  async prepare(environment) {
    await applyInstallation(environment)
    const source = { branch: 'main' }
    const repository = `${environment.account.organization.login}/shop`
    await environment.apply(remoteSync, 'shop', {
      spec: { installation: 'github', repository, source, build: {}, application: 'shop', requestedBy: dave },
    })
  },
  async act(environment) {
    const deliveryId = randomUUID()
    await deliver(environment, deliveryId)
    await waitUntil(
      'the RemoteSync is woken',
      async () => {
        const found = await environment.fixture.kube.get(remoteSync, { namespace: environment.namespace, name: 'shop' })
        return found?.metadata.annotations?.[wakeAnnotation]?.endsWith(`/${deliveryId}`) || undefined
      },
      patience,
    )
    await waitUntil(
      'the delivery is handled',
      async () => (await countDeliveries(environment)).startsWith('0|') || undefined,
      patience,
    )
    await deliver(environment, deliveryId)
  },
  compares: [remoteSync],
  async more(environment) {
    const received = await environment.store.audit.list({ action: 'webhook.received', limit: 100 })
    return { deliveries: await countDeliveries(environment), recorded: received.length > 0 }
  },
}
