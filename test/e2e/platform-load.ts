// What people and GitHub do all the time while the platform is disturbed: a tenant writes objects, people sign in on the pages,
// commits are pushed. Each reports what it saw; a test decides what that means.
import { createAdminClient } from '../../dev/cluster/control-plane/admin-client.ts'
import { readKubeconfig } from '../../dev/cluster/control-plane/kubeconfig.ts'
import { adminKubeconfig, readClusterSettings } from '../../dev/cluster/settings.ts'
import { Browser } from '../../dev/demo/browser.ts'
import { tenantNamespace } from '../../dev/demo/context.ts'
import { passSignIn } from '../../dev/demo/scenario/sign-in.ts'
import { openBranch } from './branch.ts'
import type { Platform } from './platform.ts'

/** What one kind of traffic saw: how often it went well, and each failure with its time. */
export type Traffic = { readonly done: number; readonly failures: readonly Failure[] }
export type Failure = { readonly at: number; readonly startedAt: number; readonly text: string }

export type Load = {
  /** How often each of them has succeeded so far. */
  readonly soFar: () => { readonly writes: number; readonly signIns: number; readonly lastFailures: readonly string[] }
  /** Resolves when all that began has ended. */
  readonly end: () => Promise<{ readonly writes: Traffic; readonly signIns: Traffic; readonly pushes: Traffic }>
  readonly startedAt: Date
}

const writesEveryMilliseconds = 100
export const signInsEveryMilliseconds = 3000
const pushesEveryMilliseconds = 3000

/** dave writes a Service ten times a second, mia signs in and dave pushes every three seconds, until `end`. */
export async function startLoad(platform: Platform): Promise<Load> {
  const write = await serviceWriter(platform)
  const push = await pusher(platform)
  const startedAt = new Date()
  const running = {
    writes: repeatedly(writesEveryMilliseconds, write),
    signIns: repeatedly(signInsEveryMilliseconds, () => signIn(platform)),
    pushes: repeatedly(pushesEveryMilliseconds, push),
  }
  return {
    startedAt,
    soFar: () => ({
      writes: running.writes.done(),
      signIns: running.signIns.done(),
      lastFailures: [...running.writes.failures(), ...running.signIns.failures()].slice(-3).map(({ text }) => text),
    }),
    async end() {
      const [writes, signIns, pushes] = await Promise.all([running.writes.end(), running.signIns.end(), running.pushes.end()])
      await platform.admin.request('DELETE', servicePath)
      return { writes, signIns, pushes }
    },
  }
}

type Repeated = {
  readonly done: () => number
  readonly failures: () => readonly Failure[]
  readonly end: () => Promise<Traffic>
}

/**
 * More at once is not what a person does. All write one object, and the API server repeats the admission of each write that
 * another one overtook: with hundreds at once a pause of seconds would never be made up.
 */
const maxAtOnce = 10

/** Begins at a pace, whether or not what began before has ended, but not more than `maxAtOnce`. */
function repeatedly(everyMilliseconds: number, act: (count: number) => Promise<void>): Repeated {
  const failures: Failure[] = []
  const inProgress = new Set<Promise<void>>()
  let count = 0
  let done = 0
  const once = async (): Promise<void> => {
    const startedAt = Date.now()
    count += 1
    try {
      await act(count)
      done += 1
    } catch (error) {
      failures.push({ at: Date.now(), startedAt, text: String(error).slice(0, 400) })
    }
  }
  const timer = setInterval(() => {
    if (inProgress.size >= maxAtOnce) return
    const one = once().finally(() => inProgress.delete(one))
    inProgress.add(one)
  }, everyMilliseconds)
  return {
    done: () => done,
    failures: () => failures,
    async end() {
      clearInterval(timer)
      await Promise.all(inProgress)
      return { done, failures }
    },
  }
}

const servicePath = `/api/v1/namespaces/${tenantNamespace}/services/replicas-load`

/** A Service, because the policies judge it alone while no webhook answers. The person's token is renewed before it ends. */
async function serviceWriter(platform: Platform): Promise<(count: number) => Promise<void>> {
  const { server, certificateAuthority } = await readKubeconfig(adminKubeconfig(readClusterSettings()))
  const renew = async () => {
    const answer = await platform.sekisho('dave', ['token'])
    const { status } = JSON.parse(answer.output) as { readonly status: { readonly token: string } }
    return { client: createAdminClient({ server, certificateAuthority, token: status.token }), until: Date.now() + 240_000 }
  }
  let present = renew()
  return async count => {
    if ((await present).until < Date.now()) {
      // A renewal that fails while the broker is away is not a refused write: the old token is still good.
      const next = renew()
      const before = await present
      present = next.catch(() => ({ ...before, until: Date.now() + 5000 }))
    }
    const { client } = await present
    const service = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'replicas-load', namespace: tenantNamespace, annotations: { 'example.com/count': String(count) } },
      spec: { selector: { app: 'nothing' }, ports: [{ port: 80 }] },
    }
    await client.apply(servicePath, service)
  }
}

async function signIn({ world }: Platform): Promise<void> {
  const browser = new Browser({ certificateAuthority: world.certificateAuthority })
  try {
    const home = await passSignIn(browser, await browser.open(world.tools.issuer), 'mia')
    if (!home.root.text.includes('mia')) throw new Error(`mia is not signed in: ${home.root.text.slice(0, 200)}`)
  } finally {
    await browser.close()
  }
}

/** Each push makes GitHub send one webhook. One after the other: git refuses two at once. */
async function pusher({ world }: Platform): Promise<(count: number) => Promise<void>> {
  const branch = await openBranch(world, 'replicas-load')
  let last: Promise<unknown> = Promise.resolve()
  return count => {
    const mine = last.catch(() => undefined).then(() => branch.push(`load ${count}`, {}))
    last = mine
    return mine.then(() => undefined)
  }
}
