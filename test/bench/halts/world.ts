// The surroundings of the bench of Halts: a platform in the production form, acme with its installation, live tokens of it, and
// a pod that asks for more.
import { randomUUID } from 'node:crypto'
import { createAppClient, pemSigner } from '../../../src/github/index.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { SecretString } from '../../../src/lib/secret-string.ts'
import { silentLog } from '../../../src/lib/testing/silent-log.ts'
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { openClosing } from '../../fixtures/open-closing.ts'
import { gitHubHost } from '../../platform/ground.ts'
import { openSoakPlatform, type SoakPlatform } from '../../soak/platform.ts'
import { accepted, developer, namespace, openTenant, paths, untilReady } from '../../soak/tenant.ts'
import { grantOf, openWorkload } from '../../soak/tokens.ts'

const repositoryId = 4001
const permissions = { contents: 'read' } as const
/** As many as the token desk sends at a time. */
const concurrency = 8
const grantName = 'bench'

export type World = {
  readonly platform: SoakPlatform
  readonly host: string
  readonly installationId: number
  readonly grant: { readonly namespace: string; readonly name: string }
  /** Resolves when the pod, which asks four times a second, got an answer with this status. */
  readonly untilAnswered: (status: number, signal: AbortSignal) => Promise<void>
  readonly mint: () => Promise<{ readonly token: SecretString; readonly expiresAt: Date }>
  readonly close: () => Promise<void>
}

/** GitHub's limits of an hour and of a minute would end the bench after five rounds. */
const rateLimit = { authenticated: 1_000_000, anonymous: 60, enforced: true, secondary: { points: 1_000_000 } } as const

export async function openWorld(note: (message: string) => void): Promise<World> {
  return openClosing(async onClose => {
    const platform = await openSoakPlatform({ form: 'production', github: { rateLimit } })
    onClose(platform.close)
    await openTenant(platform)
    const workload = await openWorkload(platform)
    onClose(workload.close)
    accepted(await platform.people.as(developer, 'POST', paths.grants, grantOf(grantName)), 'the grant')
    await untilReady(platform, `${paths.grants}/${grantName}`)
    const { spec } = (await platform.admin.call('GET', `${paths.installations}/github`)) as {
      readonly spec: { readonly installationId: number }
    }
    const { app, url: web, apiUrl: api } = platform.github
    // A client of its own for each token: one would pace itself by GitHub's secondary limits, which count for nobody here.
    const newClient = () =>
      createAppClient({
        ...{ endpoints: { host: gitHubHost, web, api }, appId: app.id, clientId: app.clientId },
        ...{ log: silentLog, clock: systemClock },
        signers: [pemSigner(new SecretString(app.privateKeyPem))],
      })
    const { installationId } = spec
    note('acme has an installation, and a pod gets tokens')
    return {
      ...{ platform, host: gitHubHost, installationId, grant: { namespace, name: grantName } },
      async untilAnswered(status, signal) {
        await waitUntil(
          `an answer ${status} of the token desk`,
          async () => (await workload.ask(await workload.bearer(), grantName)).status === status,
          {
            timeoutMilliseconds: limits.build,
            everyMilliseconds: 250,
            hopeless: async () => platform.ended() ?? (signal.aborted ? 'the time is over' : undefined),
          },
        )
      },
      mint: () => newClient().mint({ installationId, repositoryIds: [repositoryId], permissions }),
    }
  })
}

async function inParallel(count: number, signal: AbortSignal, work: () => Promise<unknown>): Promise<void> {
  let left = count
  const lane = async (): Promise<void> => {
    while (left > 0) {
      signal.throwIfAborted()
      left -= 1
      await work()
    }
  }
  await Promise.all(Array.from({ length: concurrency }, lane))
}

/** Live tokens as the token desk records those that it delivered, each of a pod of its own; their ids. */
export async function fill(world: World, count: number, signal: AbortSignal): Promise<readonly string[]> {
  const { platform, installationId } = world
  const ids: string[] = []
  const installation = { host: gitHubHost, appId: platform.github.app.id, installationId }
  await inParallel(count, signal, async () => {
    const { token, expiresAt } = await world.mint()
    const id = await platform.store.tokens.intend({
      ...{ cacheKey: randomUUID(), installation, api: platform.github.apiUrl, grantUid: randomUUID(), grantName: 'filled' },
      subject: { kind: 'ServiceAccount', namespace, name: 'runner', uid: randomUUID() },
      ...{ repositoryIds: [repositoryId], permissions },
    })
    await platform.store.tokens.recordMinted(id, { token, expiresAt, repositoryIds: [repositoryId], permissions })
    await platform.store.tokens.recordDelivered(id)
    ids.push(id)
  })
  return ids
}

/** The same number of tokens, and a program that revokes them and records nothing. */
export async function bareRevocations(world: World, count: number, signal: AbortSignal) {
  const tokens: SecretString[] = []
  await inParallel(count, signal, async () => void tokens.push((await world.mint()).token))
  const revoke = async (): Promise<void> => {
    const token = tokens.pop()
    if (token === undefined) return
    const headers = { authorization: `Bearer ${token.reveal()}` }
    const { status } = await fetch(`${world.platform.github.apiUrl}/installation/token`, { method: 'DELETE', headers, signal })
    if (status !== 204) throw new Error(`GitHub answered ${status} to a revocation`)
  }
  return { revokeAll: () => inParallel(count, signal, revoke) }
}
