// The token desk, from a pod of globex: tokens of GitHub for workloads that are not their subject.
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { neighbourNamespace, tenantNamespace } from '../../demo/context.ts'
import type { Attack, Attempt } from '../attack.ts'
import { corePath, groupPath } from '../cluster/api-attempts.ts'
import { podSpec } from '../cluster/mounts.ts'
import { judgeDesk } from '../judge.ts'
import { stopped, succeeded, unclear } from '../verdict.ts'
import { serviceAccountToken } from '../world/actors.ts'
import type { World } from '../world/world.ts'
import { requireControls } from './network.ts'

const desk = 'https://sekisho-token-desk.sekisho-system.svc'
const audience = 'sekisho'
/** The desk asks the API server about each credential. */
const patience = 10_000
const ownGrant = 'attack-desk'
const victimGrants = ['demo-reader', 'remotesync-shop']

type Ask = {
  readonly bearer?: string
  readonly body?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly method?: string
}

function attempt(world: World, name: string, { bearer, body, path = '/v1/token', headers = {}, method = 'POST' }: Ask): Attempt {
  return {
    name: `pod of globex: ${name}`,
    async run() {
      const result = await world.probe({
        kind: 'http',
        url: `${desk}${path}`,
        method,
        milliseconds: patience,
        headers: {
          'content-type': 'application/json',
          ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
          ...headers,
        },
        ...(method === 'GET' ? {} : { body: body ?? JSON.stringify({ grant: victimGrants[0] }) }),
      })
      return result.kind === 'answered' ? judgeDesk(result) : unclear(JSON.stringify(result))
    },
  }
}

type PodOf = { readonly name: string; readonly uid: string; readonly account: string }

/** A pod that waits for ever, under its ServiceAccount. */
export async function makePod(world: World, name: string, account: string): Promise<PodOf> {
  const pods = corePath(neighbourNamespace, 'pods')
  await world.journal.note({ kind: 'object', path: `${pods}/${name}` })
  const spec = podSpec(
    await world.ownImage(),
    { serviceAccountName: account, terminationGracePeriodSeconds: 0 },
    { command: ['/usr/local/bin/node', '-e', 'setInterval(() => {}, 60000)'] },
  )
  const made = await world.api('gary', 'POST', pods, { json: { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec } })
  // An attack that is played again because it was unclear has its pod already.
  const answer = made.status === 409 ? await world.api('gary', 'GET', `${pods}/${name}`) : made
  if (answer.status >= 300) throw new Error(`gary cannot run a pod of his own: ${answer.status} ${answer.text}`)
  const { metadata } = JSON.parse(answer.text) as { metadata: { uid: string } }
  return { name, uid: metadata.uid, account }
}

/** The ServiceAccount token that the pod has for these audiences. */
export function tokenFor(world: World, { name, uid, account }: PodOf, audiences: readonly string[]): Promise<string> {
  return serviceAccountToken(world.admin, { namespace: neighbourNamespace, name: account, audiences, pod: { name, uid } })
}

/** A ServiceAccount of gary's own, a grant on his own repository for another subject, and two pods. */
async function prepare(world: World) {
  await requireControls(world)
  const accounts = corePath(neighbourNamespace, 'serviceaccounts')
  const grants = groupPath('github.sekisho.dev/v1alpha1', neighbourNamespace, 'repositorygrants')
  await world.journal.note({ kind: 'object', path: `${accounts}/attack-subject` })
  await world.journal.note({ kind: 'object', path: `${grants}/${ownGrant}` })
  await world.api('gary', 'POST', accounts, {
    json: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'attack-subject' } },
  })
  const spec = {
    installation: 'github',
    repositories: ['globex/site'],
    permissions: { contents: 'read' },
    subjects: [{ kind: 'ServiceAccount', name: 'attack-subject' }],
    reason: 'attack',
  }
  await world.api('gary', 'POST', grants, {
    json: { apiVersion: 'github.sekisho.dev/v1alpha1', kind: 'RepositoryGrant', metadata: { name: ownGrant }, spec },
  })
  const [pod, gone] = await Promise.all([
    makePod(world, 'attack-desk', 'default'),
    makePod(world, 'attack-desk-gone', 'attack-subject'),
  ])
  await waitUntil('the grant of globex to be approved', async () => {
    const { status } = (await world.admin.call('GET', `${grants}/${ownGrant}`)) as { status?: { decision?: string } }
    return status?.decision === 'Approved'
  })
  return { pod, gone }
}

async function deskAttempts(world: World): Promise<readonly Attempt[]> {
  const { pod, gone } = await prepare(world)
  const good = await tokenFor(world, pod, [audience])
  const wrong = await tokenFor(world, pod, ['https://kubernetes.default.svc.cluster.local'])
  const subject = await tokenFor(world, gone, [audience])
  const unbound = await serviceAccountToken(world.admin, {
    namespace: neighbourNamespace,
    name: 'attack-subject',
    audiences: [audience],
  })
  const builder = await serviceAccountToken(world.admin, {
    namespace: `${neighbourNamespace}-build`,
    name: 'default',
    audiences: [audience],
  })
  await world.admin.call('DELETE', `${corePath(neighbourNamespace, 'pods')}/${gone.name}`)
  await waitUntil(
    'the pod to be gone',
    async () => (await world.admin.request('GET', `${corePath(neighbourNamespace, 'pods')}/${gone.name}`)).status === 404,
  )
  const of = (grant: string): string => JSON.stringify({ grant })
  const [header = '', payload = '', signature = ''] = good.split('.')
  const acme = { ...JSON.parse(Buffer.from(payload, 'base64url').toString()), sub: 'system:serviceaccount:acme:default' }
  const changed = [header, Buffer.from(JSON.stringify(acme)).toString('base64url'), signature].join('.')
  const unsigned = [
    Buffer.from('{"alg":"none"}').toString('base64url'),
    Buffer.from(JSON.stringify(acme)).toString('base64url'),
    '',
  ].join('.')
  const forgedHeaders = {
    'x-remote-user': 'system:serviceaccount:acme:default',
    'x-forwarded-user': 'system:serviceaccount:acme:default',
    'x-forwarded-for': world.targets.victim.pod.address,
    'impersonate-user': 'system:serviceaccount:acme:default',
  }
  return [
    attempt(world, 'without a credential', {}),
    attempt(world, 'with a token for the API server', { bearer: wrong }),
    attempt(world, 'with the token of a deleted pod', { bearer: subject, body: of(ownGrant) }),
    attempt(world, 'with a token that is bound to no pod', { bearer: unbound, body: of(ownGrant) }),
    attempt(world, 'with a token of the build namespace', { bearer: builder, body: of('remotesync-site') }),
    attempt(world, 'with a changed token', { bearer: changed }),
    attempt(world, 'with an unsigned token', { bearer: unsigned }),
    attempt(world, 'with a huge token', { bearer: 'a'.repeat(15_000) }),
    attempt(world, 'with gary’s own ID token', { bearer: (await world.credentials('gary')) ?? '', body: of(ownGrant) }),
    attempt(world, 'without being the subject', { bearer: good, body: of(ownGrant) }),
    attempt(world, 'for the grant of its own RemoteSync', { bearer: good, body: of('remotesync-site') }),
    ...victimGrants.map(grant => attempt(world, `for acme’s grant ${grant}`, { bearer: good, body: of(grant) })),
    ...[
      'acme/demo-reader',
      '../acme/demo-reader',
      'demo-reader.acme',
      'DEMO-READER',
      'demo-reader\u0000',
      '',
      '*',
      'a'.repeat(300),
    ].map(grant => attempt(world, `for the grant ${JSON.stringify(grant).slice(0, 40)}`, { bearer: good, body: of(grant) })),
    ...[
      { grant: 'demo-reader', namespace: tenantNamespace },
      { grant: ['demo-reader'] },
      { grant: { name: 'demo-reader' } },
      { grant: ownGrant, repositories: ['acme/shop'] },
      { grant: ownGrant, permissions: { contents: 'write' } },
      [],
      null,
    ].map(body => attempt(world, `with the body ${JSON.stringify(body)}`, { bearer: good, body: JSON.stringify(body) })),
    attempt(world, 'with forged headers of a proxy', { bearer: good, headers: forgedHeaders }),
    attempt(world, 'with another namespace in the query', { bearer: good, path: '/v1/token?namespace=acme' }),
    attempt(world, 'for a git credential of acme’s repository', {
      bearer: good,
      path: '/v1/git-credential?grant=demo-reader',
      headers: { 'content-type': 'text/plain' },
      body: 'protocol=https\nhost=github.localhost\npath=acme/shop\n\n',
    }),
    attempt(world, 'for a git credential with two hosts', {
      bearer: good,
      path: `/v1/git-credential?grant=${ownGrant}`,
      headers: { 'content-type': 'text/plain' },
      body: 'protocol=https\nhost=github.localhost\nhost=attacker.example\npath=acme/shop\n\n',
    }),
    attempt(world, 'by GET', { bearer: good, method: 'GET', path: `/v1/token?grant=${ownGrant}` }),
    attempt(world, 'with a body of 20 KB', { bearer: good, body: JSON.stringify({ grant: 'x', more: 'y'.repeat(20_000) }) }),
  ]
}

const requests = 300

/** A short flood: every answer is a refusal, and the desk answers afterwards. */
function burst(world: World, bearer: string): Attempt {
  return {
    name: `pod of globex: ${requests} refused requests at once`,
    async run() {
      const ask = () =>
        world.probe({
          kind: 'http',
          url: `${desk}/v1/token`,
          method: 'POST',
          milliseconds: patience,
          headers: { 'content-type': 'application/json', authorization: `Bearer ${bearer}` },
          body: JSON.stringify({ grant: 'demo-reader' }),
        })
      const counts = new Map<number, number>()
      for (let sent = 0; sent < requests; sent += 25)
        for (const result of await Promise.all(Array.from({ length: 25 }, ask))) {
          const status = result.kind === 'answered' ? result.status : 0
          counts.set(status, (counts.get(status) ?? 0) + 1)
        }
      const text = [...counts].map(([status, count]) => `${count} × ${status}`).join(', ')
      if (counts.has(200)) return succeeded(text)
      return [...counts.keys()].every(status => status === 403 || status === 429) ? stopped('token desk', text) : unclear(text)
    },
  }
}

async function burstAttempts(world: World): Promise<readonly Attempt[]> {
  await requireControls(world)
  const pod = await makePod(world, 'attack-desk-burst', 'default')
  return [burst(world, await tokenFor(world, pod, [audience]))]
}

export const deskAttacks: readonly Attack[] = [
  {
    name: 'desk/tokens',
    as: 'a pod of globex, with ServiceAccount tokens of several kinds',
    against: 'GitHub tokens of acme, and of other subjects of globex',
    tries:
      'Wrong audiences, deleted pods, other subjects, other spellings, forged headers, changed and unsigned tokens, malformed bodies.',
    expected: ['token desk'],
    attempts: deskAttempts,
  },
  {
    name: 'desk/burst',
    alone: true,
    as: 'a pod of globex, with its own ServiceAccount token',
    against: 'the token desk, which asks the API server and writes the audit log for each request',
    tries: 'Three hundred requests that must be refused, 25 at a time.',
    expected: ['token desk'],
    attempts: burstAttempts,
  },
]
