// Two tenants that race for a host name: both ask for it at once, two admins approve it for both, and globex asks again and
// again while the Application of acme that has it is deleted and created. One tenant has it at a time, by its number, and acme
// keeps what it has.
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { neighbourNamespace, tenantNamespace } from '../../demo/context.ts'
import type { Attack, Attempt } from '../attack.ts'
import { groupPath } from '../cluster/api-attempts.ts'
import { application } from '../deputies/manifests.ts'
import { objectAttempt, readyOf, type Shown } from '../deputies/object-attempts.ts'
import { judgeApi } from '../judge.ts'
import { stopped, succeeded, unclear, type Verdict } from '../verdict.ts'
import type { PersonActor } from '../world/actors.ts'
import { applicationsPath, type World } from '../world/world.ts'
import { claimsPath, harmIn, mark, servingNamespaces, watchHost } from './host-watch.ts'

const apps = 'apps.sekisho.dev/v1alpha1'
const acmeApplications = groupPath(apps, tenantNamespace, 'applications')
const seconds = 30
/** Applications of globex that want the same host. */
const rivals = 6
/** How often the Application of acme is deleted and created again. */
const rounds = 4

const hosts = { held: 'held.attack-race.example', doubled: 'doubled.attack-race.example' } as const

/** Answers with the mark, in the image of globex. */
const server = `require('http').createServer((_, r) => r.end('${mark}')).listen(3000)`
const rival = (name: string, image: string, host: string) =>
  application(name, image, {
    domains: [host],
    processes: [{ name: 'web', port: 3000, memory: '64Mi', command: ['/usr/local/bin/node', '-e', server] }],
  })

async function create(world: World, as: PersonActor, path: string, json: ReturnType<typeof application>): Promise<void> {
  await world.journal.note({ kind: 'object', path: `${path}/${json.metadata.name}` })
  const answer = await world.api(as, 'POST', path, { json })
  if (answer.status !== 201 && answer.status !== 409) throw new Error(`${as}: ${judgeApi(answer).evidence}`)
}

/** Deletes it, and waits until the name is free. */
async function remove(world: World, as: PersonActor, path: string): Promise<void> {
  await world.api(as, 'DELETE', path)
  await waitUntil(`${path} to be gone`, async () => (await world.admin.request('GET', path)).status === 404, {
    timeoutMilliseconds: seconds * 1000,
  })
}

/** As a platform admin approves it. Resolves to the status of the answer. */
async function approve(world: World, host: string, name: string): Promise<number> {
  const tenant = (await world.admin.call('GET', `/apis/tenancy.sekisho.dev/v1alpha1/tenants/${name}`)) as Shown
  await world.journal.note({ kind: 'object', path: `${claimsPath}/${host}` })
  const { status } = await world.admin.request('POST', claimsPath, {
    apiVersion: 'tenancy.sekisho.dev/v1alpha1',
    kind: 'DomainClaim',
    metadata: { name: host },
    spec: { host, tenant: { name, uid: tenant.metadata.uid }, proof: 'Approval' },
  })
  return status
}

function served(world: World, host: string, namespace: string): Promise<true> {
  return waitUntil(
    `an Ingress of ${namespace} for ${host}`,
    async () => (await servingNamespaces(world, host)).includes(namespace),
    { timeoutMilliseconds: seconds * 1000 },
  )
}

/** Every one of these says that the host is not its own. Resolves to the reasons. */
async function refusals(world: World, paths: readonly string[], reasons: RegExp): Promise<readonly string[]> {
  return Promise.all(
    paths.map(path =>
      waitUntil(
        `${path} to be refused`,
        async () => {
          const { body } = await world.admin.request('GET', path)
          const ready = (body as Shown).status && readyOf(body as Shown)
          return ready && reasons.test(ready.reason) ? ready.reason : undefined
        },
        { timeoutMilliseconds: seconds * 1000 },
      ),
    ),
  )
}

const names = Array.from({ length: rivals }, (_, index) => `attack-race-${index}`)

/** The Application of acme is deleted and created again, and so are those of globex, out of step. */
async function reapply(world: World, images: { readonly own: string; readonly acme: string }): Promise<void> {
  const again = names.map(async (name, index) => {
    for (let round = 0; round <= rounds; round++) {
      if (index % 2 === 0) await remove(world, 'gary', `${applicationsPath}/${name}`)
      await create(world, 'gary', applicationsPath, rival(name, images.own, hosts.held))
      const spec = { env: [{ name: 'ROUND', value: String(round) }] }
      await world.api('gary', 'PATCH', `${applicationsPath}/${name}`, {
        json: { spec },
        contentType: 'application/merge-patch+json',
      })
    }
  })
  for (let round = 0; round < rounds; round++) {
    await remove(world, 'dave', `${acmeApplications}/attack-race`)
    await create(world, 'dave', acmeApplications, application('attack-race', images.acme, { domains: [hosts.held] }))
    await served(world, hosts.held, tenantNamespace)
  }
  await Promise.all(again)
}

async function heldByAcme(world: World): Promise<Verdict> {
  const images = { own: await world.ownImage(), acme: world.targets.victim.image }
  const watch = watchHost(world, hosts.held)
  try {
    // Nobody has the host yet: all ask at once, and acme is approved while they wait.
    await Promise.all([
      create(world, 'dave', acmeApplications, application('attack-race', images.acme, { domains: [hosts.held] })),
      ...names.map(name => create(world, 'gary', applicationsPath, rival(name, images.own, hosts.held))),
    ])
    await approve(world, hosts.held, tenantNamespace)
    await served(world, hosts.held, tenantNamespace)
    await reapply(world, images)
    const reasons = await refusals(
      world,
      names.map(name => `${applicationsPath}/${name}`),
      /^DomainTaken$/,
    )
    const looks = await watch.stop()
    const harm = harmIn(looks, tenantNamespace)
    if (harm !== undefined) return succeeded(harm)
    if (looks.length < rounds * 2) return unclear(`only ${looks.length} looks`)
    return stopped('controller', `${looks.length} looks at claim, Ingresses and answers: acme’s only; ${reasons.join(', ')}`)
  } finally {
    await watch.stop().catch(() => {}) // the failure of the attempt itself is the one that counts
    await clear(world, ['attack-race'], names)
  }
}

/** One of two approvals at the same moment is first; the Application of the other tenant is not served. */
async function approvedTwice(world: World): Promise<Verdict> {
  const name = 'attack-race-twice'
  const path = { acme: `${acmeApplications}/${name}`, globex: `${applicationsPath}/${name}` } as const
  const watch = watchHost(world, hosts.doubled)
  try {
    await Promise.all([
      create(world, 'dave', acmeApplications, application(name, world.targets.victim.image, { domains: [hosts.doubled] })),
      create(world, 'gary', applicationsPath, rival(name, await world.ownImage(), hosts.doubled)),
    ])
    const statuses = await Promise.all([neighbourNamespace, tenantNamespace].map(tenant => approve(world, hosts.doubled, tenant)))
    const made = statuses.filter(status => status === 201).length
    if (made !== 1) return made === 0 ? unclear(statuses.join(', ')) : succeeded('two claims on one host')
    const [first, second] = statuses[0] === 201 ? (['globex', 'acme'] as const) : (['acme', 'globex'] as const)
    await served(world, hosts.doubled, first)
    const [reason] = await refusals(world, [path[second]], /^DomainTaken$/)
    const harm = harmIn(await watch.stop(), first)
    return harm === undefined
      ? stopped('controller', `${statuses.join(' and ')}: ${first} has it; ${second}: ${reason}`)
      : succeeded(harm)
  } finally {
    await watch.stop().catch(() => {}) // as above
    await clear(world, [name], [name])
  }
}

async function clear(world: World, ofAcme: readonly string[], own: readonly string[]): Promise<void> {
  const paths = [...ofAcme.map(name => `${acmeApplications}/${name}`), ...own.map(name => `${applicationsPath}/${name}`)]
  await Promise.all(paths.map(path => world.admin.request('DELETE', path)))
}

/** Names that some reader takes for acme’s host, or that lie beside, above or below it. */
const spellings = [
  hosts.held.toUpperCase(),
  `${hosts.held}.`,
  `*.${hosts.held}`,
  '*.attack-race.example',
  `${hosts.held}:8080`,
  hosts.held.replace('held', 'hеld'),
  hosts.held.replace('.', '。'),
  hosts.held.replace('held', 'ｈｅｌｄ'),
  hosts.held.replace('held', 'he\u00adld'),
  hosts.held.replace('held', '%68eld'),
  `sub.${hosts.held}`,
  'attack-race.example',
  'xn--hld-qdd.attack-race.example',
]

async function spelled(world: World): Promise<readonly Attempt[]> {
  const image = await world.ownImage()
  const domain = spellings.map(host => [host, { domains: [host] }] as const)
  return domain.map(([host, spec], index) =>
    objectAttempt(world, {
      name: `the host ${JSON.stringify(host)}`,
      path: applicationsPath,
      object: application(`attack-spelling-${index}`, image, spec),
      refusals: /^Domain/,
      harm: async () =>
        (await servingNamespaces(world, host)).includes(neighbourNamespace) ? `globex serves ${host}` : undefined,
    }),
  )
}

export const domainRaceAttacks: readonly Attack[] = [
  {
    name: 'races/domains',
    as: 'gary, admin of globex',
    against: 'a host name of acme, while acme asks for it, has it, and deletes and creates its Application',
    tries: 'Asks for the host by many Applications at once and again and again, and for its other spellings and neighbours.',
    expected: ['controller', 'schema'],
    peer: 'subdomain takeover: a name that is free for a moment',
    form: 'long',
    attempts: async world => [
      { name: 'gary: six Applications while acme’s is created, approved, deleted and created', run: () => heldByAcme(world) },
      { name: 'two admins: approvals for two tenants at the same moment', run: () => approvedTwice(world) },
      ...(await spelled(world)),
    ],
  },
]
