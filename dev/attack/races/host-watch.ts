// Looks again and again at who has a host name while others race for it: its DomainClaim, the Ingresses that serve it, and what
// answers under it.
import { setTimeout as pause } from 'node:timers/promises'
import { neighbourNamespace } from '../../demo/context.ts'
import type { World } from '../world/world.ts'

/** What one look found. */
export type Look = {
  /** The tenant of the DomainClaim; undefined while there is none. */
  readonly owner: string | undefined
  /** Namespaces with an Ingress for the host. */
  readonly servedBy: readonly string[]
  /** The answer under the host; undefined when nothing was asked. */
  readonly answer: string | undefined
}

type Ingress = {
  readonly metadata: { readonly namespace: string }
  readonly spec: { readonly rules?: readonly { readonly host?: string }[] }
}

/** What the Applications of globex answer in this attack. */
export const mark = 'attack-race-globex-answers'

export const claimsPath = '/apis/tenancy.sekisho.dev/v1alpha1/domainclaims'

/** Namespaces with an Ingress for the host. */
export async function servingNamespaces({ admin }: Pick<World, 'admin'>, host: string): Promise<readonly string[]> {
  const { items } = (await admin.call('GET', '/apis/networking.k8s.io/v1/ingresses')) as { readonly items: readonly Ingress[] }
  const serving = items.filter(({ spec }) => spec.rules?.some(rule => rule.host === host))
  return [...new Set(serving.map(({ metadata }) => metadata.namespace))]
}

async function look(world: World, host: string): Promise<Look> {
  const [claim, servedBy, answer] = await Promise.all([
    world.admin.request('GET', `${claimsPath}/${host}`),
    servingNamespaces(world, host),
    world.http.send(`http://${world.settings.nodeAddress}:${world.settings.ingressPort}/`, { headers: { host } }),
  ])
  const { spec } = claim.body as { readonly spec?: { readonly tenant: { readonly name: string } } }
  return { owner: claim.status === 200 ? spec?.tenant.name : undefined, servedBy, answer: answer.text }
}

/** What is wrong with the looks, in order, when the host may belong to `owner` only; undefined when nothing is. */
export function harmIn(looks: readonly Look[], owner: string): string | undefined {
  for (const [index, { owner: found, servedBy, answer }] of looks.entries()) {
    const at = `look ${index + 1} of ${looks.length}`
    if (found !== undefined && found !== owner) return `${at}: the claim is of ${found}`
    const others = servedBy.filter(namespace => namespace !== owner)
    if (others.length > 0) return `${at}: an Ingress of ${others.join(', ')} serves the host`
    if (owner !== neighbourNamespace && answer?.includes(mark)) return `${at}: an Application of globex answered`
  }
  return undefined
}

/** Looks without a pause worth mentioning until `stop` is called, which resolves to all looks. Rejects when a look failed. */
export function watchHost(world: World, host: string): { readonly stop: () => Promise<readonly Look[]> } {
  let isStopped = false
  const looks: Look[] = []
  const looking = (async () => {
    while (!isStopped) {
      looks.push(await look(world, host))
      await pause(50)
    }
  })()
  looking.catch(() => {}) // whoever stops it sees the failure
  return {
    async stop() {
      isStopped = true
      await looking
      return looks
    },
  }
}
