// What a Halt must keep apart, and what it must keep ended: gary's own reach nobody of acme; a program whose token was halted
// gets no other one; a person who was halted goes on with nothing of before.
import { createHash } from 'node:crypto'
import { neighbourNamespace, tenantNamespace } from '../../demo/context.ts'
import { run } from '../../demo/tools.ts'
import { type Attack, type Attempt, endingWith, inTurn } from '../attack.ts'
import { apiAttempt, corePath, groupPath, mergePatch } from '../cluster/api-attempts.ts'
import { makePod, tokenFor } from '../inside/desk.ts'
import { requireControls } from '../inside/network.ts'
import { judgeApi, judgeBroker } from '../judge.ts'
import { ask as askBroker } from '../outside/broker.ts'
import { newBrowser, signedIn } from '../outside/visitor.ts'
import { ask, grantOf, grants, works } from '../races/token-requests.ts'
import { stopped, succeeded, unclear, type Verdict } from '../verdict.ts'
import type { World } from '../world/world.ts'
import { approvedGrant, carriedOut, ended, group, haltOf, haltsIn, host, ofPlatform, own, stand, type Target } from './halted.ts'

type Grants = {
  readonly items: readonly {
    readonly metadata: { readonly name: string }
    readonly status?: { readonly conditions?: readonly { readonly type: string; readonly reason: string }[] }
  }[]
}

/** Those of acme that a Halt keeps from giving tokens. */
async function haltedOfAcme({ admin }: World): Promise<readonly string[]> {
  const { items } = (await admin.call('GET', groupPath(group, tenantNamespace, 'repositorygrants'))) as Grants
  return items.flatMap(({ metadata, status }) =>
    status?.conditions?.some(({ reason }) => reason === 'Halted') ? [metadata.name] : [],
  )
}

/** It stands in globex, and is about nothing but globex. */
function reachesNobody(world: World, name: string, target: Target, dryRun = false): Attempt {
  return {
    name: `gary: halts ${target.type} of acme in globex`,
    async run() {
      const path = `${own}/${name}`
      const { status } = await stand(world, own, haltOf(name, target, dryRun ? { dryRun } : {}))
      const foreign = status?.grants?.names.filter(one => !one.startsWith(`${neighbourNamespace}/`)) ?? []
      const halted = await haltedOfAcme(world)
      await ended(world, path)
      const { count = 0 } = status?.grants ?? {}
      const { revoked = 0, left = 0 } = status?.tokens ?? {}
      const text = `${count} grants of globex, ${revoked} tokens revoked, ${left} left; none of acme`
      if (foreign.length > 0 || halted.length > 0) return succeeded(`halted of acme: ${[...foreign, ...halted].join(', ')}`)
      return revoked === 0 && (dryRun || left === 0) ? stopped('controller', text) : succeeded(text)
    },
  }
}

/** Whom gary halts in globex works on in acme. */
function goesOn(world: World): Attempt {
  return {
    name: 'gary: halts olivia in globex, and olivia works on in acme',
    async run() {
      const name = 'attack-olivia'
      await stand(world, own, haltOf(name, { type: 'Person', person: { host, id: 1001 } }))
      const json = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'attack-olivia' } }
      const written = await world.api('olivia', 'POST', `${corePath(tenantNamespace, 'configmaps')}?dryRun=All`, { json })
      const token = (await world.credentials('olivia')) ?? ''
      const log = await world.http.send(`${world.targets.issuer}/api/v1/audit?limit=1&namespace=${tenantNamespace}`, {
        headers: { authorization: `Bearer ${token}` },
      })
      await ended(world, `${own}/${name}`)
      const text = `a write in acme: ${written.status}, the log of acme: ${log.status}`
      return written.status === 201 && log.status === 200 ? stopped('absent', text) : succeeded(text)
    },
  }
}

async function apart(world: World): Promise<readonly Attempt[]> {
  const { items } = (await world.admin.call('GET', groupPath(group, tenantNamespace, 'installations'))) as {
    readonly items: readonly { readonly spec: { readonly installationId: number } }[]
  }
  const id = items[0]?.spec.installationId
  return inTurn([
    reachesNobody(world, 'attack-repository', { type: 'Repository', repository: { host, id: 4001 } }),
    reachesNobody(world, 'attack-installation', { type: 'Installation', installation: { host, id } }),
    reachesNobody(world, 'attack-person', { type: 'Person', person: { host, id: 1002 } }),
    reachesNobody(world, 'attack-everything', { type: 'Everything' }, true),
    goesOn(world),
  ])
}

async function refusedByDesk(asked: Promise<{ readonly status: number }>): Promise<Verdict> {
  const { status } = await asked
  if (status === 200) return succeeded('200: a token was given')
  return status === 403 ? stopped('token desk', '403') : unclear(String(status))
}

async function deadAtGitHub({ demo, http }: World, token: string): Promise<Verdict> {
  return (await works(demo, http, token)) ? succeeded('GitHub takes it') : stopped('controller', 'revoked: GitHub answers 401')
}

/** A ServiceAccount of globex with pods; each has an identity for the desk. */
async function identities(world: World, account: string, pods: number): Promise<readonly string[]> {
  await requireControls(world)
  const path = corePath(neighbourNamespace, 'serviceaccounts')
  await world.journal.note({ kind: 'object', path: `${path}/${account}` })
  await world.api('gary', 'POST', path, { json: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account } } })
  const made = Array.from({ length: pods }, (_, number) => makePod(world, `${account}-${number}`, account))
  return Promise.all((await Promise.all(made)).map(pod => tokenFor(world, pod, ['sekisho'])))
}

async function tokenOf(world: World, identity: string, grant: string): Promise<string> {
  const { status, token } = await ask(world, identity, grant)
  if (token === undefined || !(await works(world.demo, world.http, token)))
    throw new Error(`control: ${grant} gives no token that works (${status})`)
  return token
}

/** The program from which a token leaked, after that token was halted by its hash. */
async function haltedToken(world: World): Promise<readonly Attempt[]> {
  const [name, other] = ['attack-halted', 'attack-halted-other']
  const [first = '', second = ''] = await identities(world, name, 2)
  const repository = await approvedGrant(world, grantOf(name, name, 3600))
  await approvedGrant(world, grantOf(other, name, 3600))
  const token = await tokenOf(world, first, name)
  const hash = createHash('sha256').update(token).digest('base64')
  await stand(world, own, haltOf('attack-token', { type: 'Token', token: { hash } }))
  const again = async (): Promise<Verdict> => {
    await world.api('gary', 'DELETE', `${grants}/${name}`)
    await approvedGrant(world, grantOf(name, name, 3600), 'again')
    return refusedByDesk(ask(world, first, name))
  }
  const inRepository = async (): Promise<Verdict> => {
    await stand(world, own, haltOf('attack-site', { type: 'Repository', repository: { host, id: repository } }))
    const verdict = await refusedByDesk(ask(world, first, other))
    await ended(world, `${own}/attack-site`)
    return verdict
  }
  const attempts: readonly Attempt[] = [
    { name: 'somebody: uses the halted token at GitHub', run: () => deadAtGitHub(world, token) },
    { name: 'pod of globex: asks again', run: () => refusedByDesk(ask(world, first, name)) },
    { name: 'another pod of the same ServiceAccount asks', run: () => refusedByDesk(ask(world, second, name)) },
    { name: 'pod of globex: asks when the grant was made again', run: again },
    apiAttempt(world, {
      as: 'workload',
      method: 'POST',
      path: grants,
      json: grantOf('attack-of-itself', 'default', 3600),
      name: 'makes itself another grant',
    }),
    { name: 'pod of globex: asks under another grant of a repository that is halted', run: inRepository },
  ]
  return endingWith(inTurn(attempts), () => ended(world, `${own}/attack-token`))
}

/** gary, whom the platform halts for a moment: only globex notices. */
async function haltedPerson(world: World): Promise<readonly Attempt[]> {
  const name = 'attack-person-goes-on'
  const [identity = ''] = await identities(world, name, 1)
  await approvedGrant(world, grantOf(name, name, 3600))
  const token = await tokenOf(world, identity, name)
  const browser = await signedIn(world, 'gary')
  const bearer = (await world.credentials('gary')) ?? ''
  const { sub } = JSON.parse(Buffer.from(bearer.split('.')[1] ?? '', 'base64url').toString()) as { readonly sub: string }
  const path = `${ofPlatform}/${name}`
  await stand(world, ofPlatform, haltOf(name, { type: 'Person', person: { host, id: Number(sub.split('|')[2]) } }))
  const { login, page } = {
    login: async (): Promise<Verdict> => {
      const opened = await newBrowser(world, 'gary').catch((error: unknown) => String(error))
      if (typeof opened !== 'string') return succeeded('signed in')
      return /halted/.test(opened) ? stopped('broker', opened) : unclear(opened)
    },
    page: async (): Promise<Verdict> => {
      const { status, html } = await browser.open(`${world.targets.issuer}/tenants/${neighbourNamespace}`)
      return status === 200 && html.includes('site') ? succeeded(html) : judgeBroker({ status, text: html })
    },
  }
  const idToken = async (): Promise<Verdict> => {
    const { code, output, errors } = await run(world.demo.people.gary, world.demo.tools.sekisho, ['token'])
    const expiry = code === 0 ? (JSON.parse(output) as { status: { token: string } }).status.token : undefined
    // The one of before is on his disk until it expires; a new one would be another.
    if (expiry !== undefined && expiry !== bearer) return succeeded('a new ID token')
    return stopped('broker', expiry === undefined ? errors : 'only the ID token of before')
  }
  const write = (json: { readonly kind: string }, collection: string) =>
    apiAttempt(world, {
      as: 'gary',
      method: 'POST',
      path: collection,
      json,
      name: `with an ID token of before: makes a ${json.kind}`,
    })
  const inOwn = (resource: string): string => corePath(neighbourNamespace, resource)
  const attempts: readonly Attempt[] = [
    write({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'attack-after' } } as { kind: string }, inOwn('configmaps')),
    write(grantOf('attack-after', name, 3600), grants),
    write(haltOf('attack-after', { type: 'Everything' }), own),
    ...[
      { method: 'DELETE', path: `${grants}/${name}`, dry: true as const },
      { method: 'POST', path: `${inOwn('pods')}/${name}-0/exec?command=id&stdout=true` },
      {
        method: 'POST',
        path: `${inOwn('pods')}/${name}-0/eviction`,
        json: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: `${name}-0` } },
      },
      { method: 'PATCH', path, json: { spec: { lifted: { by: sub, reason: 'an attack' } } }, contentType: mergePatch },
      { method: 'DELETE', path },
    ].map(planned => apiAttempt(world, { as: 'gary', ...planned, judge: judgeApi })),
    askBroker(world, { name: 'reads the log of globex', as: 'gary', path: '/api/v1/audit', statuses: [401, 403, 404] }),
    askBroker(world, { name: 'lists the builds of globex', as: 'gary', path: '/api/v1/builds', statuses: [401, 403, 404] }),
    { name: 'gary: opens a page with his session of before', run: page },
    { name: 'gary: asks for an ID token with his sign-in of before', run: idToken },
    { name: 'gary: signs in anew', run: login },
    { name: 'pod of globex: uses the token of before at GitHub', run: () => deadAtGitHub(world, token) },
    { name: 'pod of globex: asks under the grant that gary requested', run: () => refusedByDesk(ask(world, identity, name)) },
  ]
  await carriedOut(world, path)
  return endingWith(attempts, () => ended(world, path))
}

export const haltEffectAttacks: readonly Attack[] = [
  {
    name: 'halts/reach-of-a-tenant',
    alone: true,
    as: 'gary, admin of globex',
    against: 'tokens, people and grants of acme',
    tries: `Halts a repository, an installation and people of acme, and everything, in ${haltsIn(neighbourNamespace)}.`,
    expected: ['controller', 'absent'],
    attempts: apart,
  },
  {
    name: 'halts/token-again',
    alone: true,
    as: 'pods of globex, under the ServiceAccount whose token was halted',
    against: 'the end of a leaked token',
    tries: 'Uses it, asks again, from another pod, under the grant made again, and under another grant of a halted repository.',
    expected: ['token desk', 'controller', 'RBAC'],
    attempts: haltedToken,
  },
]

/** gary signs in anew afterwards: it comes when nobody else needs his sessions. */
export const haltedPersonAttacks: readonly Attack[] = [
  {
    name: 'halts/person-goes-on',
    alone: true,
    as: 'gary, whom a platform admin has halted',
    against: 'globex, with everything that he had before',
    tries: 'Writes, deletes, runs commands, lifts the Halt, reads the log, signs in, and lets his pod ask for tokens.',
    expected: ['admission', 'RBAC', 'authentication', 'broker', 'controller', 'token desk'],
    attempts: haltedPerson,
  },
]
