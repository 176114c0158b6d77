// A pod that requests tokens from the token desk under grants that are created and deleted. Records every token and whether it
// may be active.
import { Agent, request } from 'undici'
import { authorityConfigMap } from '../../src/api/application-account.ts'
import { tokenDeskAudience } from '../../src/api/names.ts'
import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import type { Reply } from '../attack/impersonation.ts'
import type { PlatformInUse } from '../platform/open-platform.ts'
import { accepted, developer, namespace, paths } from './tenant.ts'

export type Tokens = {
  readonly tick: () => Promise<void>
  readonly delivered: () => number
  /** Number of answers of the token desk other than 200, by status, and of requests whose connection broke. */
  readonly refusals: ReadonlyMap<number | 'nothing', number>
  /** Writes of grants that were repeated because the API server could not ask the webhook. */
  readonly repeated: () => number
  /** Deletes every grant and waits until all are gone; afterwards no token may be active. */
  readonly end: () => Promise<void>
  /** Number of tokens of deleted grants that GitHub still accepts. */
  readonly alive: () => Promise<number>
  readonly close: () => Promise<void>
}

const grants = 4
const repository = 'acme/shop'

/** `replicasAreKilled`: what they were asked may stay without an answer, and is asked again; otherwise that is an error. */
export async function createTokens(fixture: PlatformInUse, replicasAreKilled = false): Promise<Tokens> {
  const workload = await openWorkload(fixture)
  const held = new Map<string, Set<string>>()
  const forbidden = new Set<string>()
  const refusals = new Map<number | 'nothing', number>()
  let repeated = 0
  let delivered = 0
  let ticks = 0

  /**
   * As people do, whom the API server tells that no webhook answers (docs/guide/admission.md): only the webhook can complete a
   * grant.
   */
  async function makeGrant(name: string): Promise<void> {
    const grant = grantOf(name)
    const write = async (): Promise<Reply | undefined> => {
      const reply = await fixture.people.as(developer, 'POST', paths.grants, grant)
      if (!replicasAreKilled || reply.status !== 500 || !reply.message.includes('failed calling webhook')) return reply
      repeated += 1
      return undefined
    }
    const reply = await waitUntil(`an answer about RepositoryGrant ${name}`, write)
    accepted(reply, `RepositoryGrant ${name}`)
    held.set(name, new Set())
  }

  async function dropGrant(name: string): Promise<void> {
    accepted(await fixture.people.as(developer, 'DELETE', `${paths.grants}/${name}`), `delete RepositoryGrant ${name}`)
    for (const token of held.get(name) ?? []) forbidden.add(token)
    held.delete(name)
  }

  async function requestToken(name: string): Promise<void> {
    const { status, token } = await ask(await workload.bearer(), name)
    if (status !== 200 || token === undefined) {
      refusals.set(status, (refusals.get(status) ?? 0) + 1)
      return
    }
    delivered += 1
    held.get(name)?.add(token)
    // As clients do: GitHub may refuse a new token for a short time (octokit/auth-app.js#65).
    await waitUntil('GitHub to take a delivered token', async () => (await repositoryStatus(token)) === 200 || undefined, {
      timeoutMilliseconds: limits.rollout,
    })
  }

  async function ask(
    bearer: string,
    grant: string,
  ): Promise<Answer | { readonly status: 'nothing'; readonly token?: undefined }> {
    try {
      return await workload.ask(bearer, grant)
    } catch (error) {
      if (replicasAreKilled && isBroken(error)) return { status: 'nothing' }
      throw error
    }
  }

  const repositoryStatus = async (token: string): Promise<number> => {
    const answer = await fetch(`${fixture.github.apiUrl}/repos/${repository}`, { headers: { authorization: `Bearer ${token}` } })
    await answer.body?.cancel()
    return answer.status
  }

  const untilGone = (name: string): Promise<true> =>
    waitUntil(
      `RepositoryGrant ${name} to be gone`,
      async () => (await fixture.admin.request('GET', `${paths.grants}/${name}`)).status === 404 || undefined,
      { timeoutMilliseconds: limits.build },
    )

  for (let index = 0; index < grants; index++) await makeGrant(`grant-${index}`)
  return {
    refusals,
    repeated: () => repeated,
    delivered: () => delivered,
    async tick() {
      const name = `grant-${ticks % grants}`
      if (ticks % 12 === 11) {
        await dropGrant(name)
        await untilGone(name)
        await makeGrant(name)
      } else await requestToken(name)
      ticks += 1
    },
    async end() {
      const names = [...held.keys()]
      for (const name of names) await dropGrant(name)
      await Promise.all(names.map(untilGone))
    },
    async alive() {
      const statuses = await Promise.all([...forbidden].map(repositoryStatus))
      return statuses.filter(status => status === 200).length
    },
    close: workload.close,
  }
}

export type Answer = { readonly status: number; readonly token?: string }

/** A pod of the ServiceAccount `runner` that asks for tokens. */
export type Workload = {
  /** The token of its ServiceAccount, from the API server. */
  readonly bearer: () => Promise<string>
  readonly ask: (bearer: string, grant: string) => Promise<Answer>
  readonly close: () => Promise<void>
}

export async function openWorkload(fixture: PlatformInUse): Promise<Workload> {
  const pod = await makePod(fixture)
  const agent = await deskAgent(fixture)
  return {
    bearer: () => podToken(fixture, pod),
    async ask(bearer, grant) {
      const answer = await request(new URL('/v1/token', fixture.tokenDeskUrl), {
        method: 'POST',
        dispatcher: agent,
        headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
        body: JSON.stringify({ grant }),
        headersTimeout: 60_000,
      })
      return { ...((await answer.body.json()) as { readonly token?: string }), status: answer.statusCode }
    },
    close: () => agent.close(),
  }
}

/** A grant of the workload on acme/shop. */
export function grantOf(name: string) {
  return {
    apiVersion: 'github.sekisho.dev/v1alpha1',
    kind: 'RepositoryGrant',
    metadata: { name, namespace },
    spec: {
      installation: 'github',
      repositories: [repository],
      permissions: { contents: 'read' },
      subjects: [{ kind: 'ServiceAccount', name: 'runner' }],
      reason: 'a long run reads the shop',
    },
  }
}

/** Whether the connection ended without an answer, as when the replica is killed. */
function isBroken(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(String(error.code))
  )
}

type Pod = { readonly name: string; readonly uid: string }

async function makePod({ admin }: PlatformInUse): Promise<Pod> {
  const core = `/api/v1/namespaces/${namespace}`
  await admin.call('POST', `${core}/serviceaccounts`, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'runner' } })
  const securityContext = {
    allowPrivilegeEscalation: false,
    runAsNonRoot: true,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  }
  const limits = { cpu: '10m', memory: '16Mi' }
  const container = { name: 'main', image: 'none', securityContext, resources: { limits, requests: limits } }
  const spec = { serviceAccountName: 'runner', containers: [container] }
  const made = (await admin.call('POST', `${core}/pods`, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'runner' },
    spec,
  })) as {
    readonly metadata: Pod
  }
  return { name: made.metadata.name, uid: made.metadata.uid }
}

async function podToken({ admin }: PlatformInUse, pod: Pod): Promise<string> {
  const answer = (await admin.call('POST', `/api/v1/namespaces/${namespace}/serviceaccounts/runner/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { audiences: [tokenDeskAudience], expirationSeconds: 600, boundObjectRef: { kind: 'Pod', apiVersion: 'v1', ...pod } },
  })) as { readonly status: { readonly token: string } }
  return answer.status.token
}

/** Trusts the same authority as a tenant's workloads: that in the ConfigMap of their namespace. */
async function deskAgent({ admin }: PlatformInUse): Promise<Agent> {
  const path = `/api/v1/namespaces/${namespace}/configmaps/${authorityConfigMap}`
  const { data } = (await admin.call('GET', path)) as { readonly data: Readonly<Record<string, string>> }
  return new Agent({ connect: { ca: data['ca.crt'] ?? '', servername: 'localhost' } })
}
