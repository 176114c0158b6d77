// Who acts: people with ID tokens of the issuer, signed in like all people; a ServiceAccount of globex; and a client without a
// credential.

import { messageOf } from '../../../src/lib/errors.ts'
import { defined } from '../../../src/lib/json/defined.ts'
import type { AdminClient } from '../../cluster/control-plane/admin-client.ts'
import { type DemoContext, neighbourNamespace, tenantNamespace } from '../../demo/context.ts'
import { commandLineLogin } from '../../demo/scenario/sign-in.ts'
import { run } from '../../demo/tools.ts'

export const actors = [
  'olivia',
  'dave',
  'mia',
  'gary',
  'noah',
  'ada',
  'workload',
  'stranger',
  'viewer',
  'editor',
  'administrator',
] as const

/**
 * `workload` is the ServiceAccount `default` of globex; `stranger` has no credential; `ada`, a platform admin, only measures
 * and reads the audit log; `viewer`, `editor` and `administrator` hold built-in roles in the namespaces of globex.
 */
export type Actor = (typeof actors)[number]

export type HolderActor = Extract<Actor, 'viewer' | 'editor' | 'administrator'>
export type PersonActor = Exclude<Actor, 'workload' | 'stranger' | HolderActor>

/** ServiceAccounts outside of every tenant, with the ClusterRole that each holds. */
export const holderAccounts: Readonly<Record<HolderActor, { readonly name: string; readonly role: string }>> = {
  viewer: { name: 'attack-view', role: 'view' },
  editor: { name: 'attack-edit', role: 'edit' },
  administrator: { name: 'attack-admin', role: 'admin' },
}
export const holderNamespace = 'default'

function isHolder(actor: Actor): actor is HolderActor {
  return actor in holderAccounts
}

/** The bearer token of each actor; undefined for the stranger. Tokens are renewed before they expire. */
export type Credentials = (actor: Actor) => Promise<string | undefined>

/** The issuer refuses this person an ID token: that is a defence, and not a failure of the program. */
export class NoIdToken extends Error {
  override readonly name = 'NoIdToken'
}

const keepMilliseconds = 4 * 60_000
const marginMilliseconds = 20_000

/** When the token says that it ends; `sekisho token` may give one that has already lived for a while. */
function expiryOf(token: string): number {
  const [, payload = ''] = token.split('.')
  const { exp } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { exp: number }
  return exp * 1000
}

export function createCredentials(demo: DemoContext, admin: AdminClient): Credentials {
  const kept = new Map<Actor, { readonly token: Promise<string>; readonly until: Promise<number> }>()
  return async actor => {
    if (actor === 'stranger') return undefined
    const known = kept.get(actor)
    if (known !== undefined && (await known.until) > Date.now()) return known.token
    const token = newToken(demo, admin, actor)
    const until = token.then(expiryOf).then(expiry => Math.min(expiry - marginMilliseconds, Date.now() + keepMilliseconds))
    kept.set(actor, { token, until: until.catch(() => Date.now() + keepMilliseconds) })
    // A refusal is kept like a token: each attempt would sign in again.
    token.catch((error: unknown) => (error instanceof NoIdToken ? undefined : kept.delete(actor)))
    return token
  }
}

function newToken(demo: DemoContext, admin: AdminClient, actor: Exclude<Actor, 'stranger'>): Promise<string> {
  if (actor === 'workload') return workloadToken(admin)
  if (isHolder(actor)) return serviceAccountToken(admin, { namespace: holderNamespace, name: holderAccounts[actor].name })
  return idToken(demo, actor)
}

/** As kubectl gets it: from `sekisho token`; signs in first when no login is left. */
async function idToken(demo: DemoContext, login: PersonActor): Promise<string> {
  const person = demo.people[login]
  const first = await run(person, demo.tools.sekisho, ['token'])
  if (first.code !== 0) await signIn(demo, login)
  const answer = first.code === 0 ? first : await run(person, demo.tools.sekisho, ['token'])
  if (answer.code !== 0) throw new Error(`${login} has no ID token: ${answer.errors.trim()}`)
  return (JSON.parse(answer.output) as { status: { token: string } }).status.token
}

async function signIn(demo: DemoContext, login: PersonActor): Promise<void> {
  try {
    await commandLineLogin(demo, demo.people[login], login === 'gary' ? neighbourNamespace : tenantNamespace)
  } catch (error) {
    const message = messageOf(error)
    throw message.includes('no role in any tenant') ? new NoIdToken(`${login} gets no ID token: ${message}`) : error
  }
}

/**
 * What a pod of globex that mounts its ServiceAccount has. Nobody of globex may ask for it (that is tried elsewhere), so the
 * admin does.
 */
async function workloadToken(admin: AdminClient): Promise<string> {
  return serviceAccountToken(admin, { namespace: neighbourNamespace, name: 'default' })
}

type TokenWish = {
  readonly namespace: string
  readonly name: string
  readonly audiences?: readonly string[]
  readonly pod?: { readonly name: string; readonly uid: string }
}

/** A ServiceAccount token for ten minutes, for these audiences (default: the API server), bound to a pod when one is named. */
export async function serviceAccountToken(admin: AdminClient, { namespace, name, audiences, pod }: TokenWish): Promise<string> {
  const answer = (await admin.call('POST', `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {
      expirationSeconds: 600,
      ...defined({ audiences }),
      ...(pod === undefined ? {} : { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: pod.name, uid: pod.uid } }),
    },
  })) as { status: { token: string } }
  return answer.status.token
}
