// Whether a delivery is of one of our Apps. One secret may sign for several Apps and webhooks, so the signature alone does not
// say it; GitHub names the App in headers and, in events about an installation, in the signed body. Pure. A delivery of another
// App affects nothing here: its `github_app_authorization` must not end sign-ins.
// Source: https://docs.github.com/en/webhooks/webhook-events-and-payloads#delivery-headers
import type { GitHubEndpoints } from '../../github/index.ts'
import type { GitHubEvent } from './github-event.ts'

/** What the headers say; they are not signed. */
export type DeliveryHeaders = {
  /** X-GitHub-Hook-Installation-Target-Type: `integration` for the webhook of an App. */
  readonly targetType: string | undefined
  /** X-GitHub-Hook-Installation-Target-ID: then the id of the App. */
  readonly targetId: string | undefined
  /** X-GitHub-Enterprise-Host: only from a GitHub Enterprise Server. */
  readonly enterpriseHost: string | undefined
}

export type OurApps = {
  readonly endpoints: GitHubEndpoints
  /** The App with which people sign in. */
  readonly signInAppId: number
  /** The ids of every ClusterGitHubApp on the host. */
  readonly appIds: ReadonlySet<number>
}

/** Why a delivery is not ours: the values of a metric's label. */
export const foreignReasons = ['another_host', 'not_an_app', 'another_app'] as const
export type ForeignReason = (typeof foreignReasons)[number]

/** Undefined for a delivery of one of our Apps. */
export function foreignReason(headers: DeliveryHeaders, event: GitHubEvent, ours: OurApps): ForeignReason | undefined {
  const { targetType, targetId, enterpriseHost } = headers
  if (enterpriseHost !== undefined && !isHostOf(enterpriseHost, ours.endpoints)) return 'another_host'
  if (targetType !== undefined && targetType !== 'integration') return 'not_an_app'
  const named = [...(targetId === undefined ? [] : [Number(targetId)]), ...(event.appId === undefined ? [] : [event.appId])]
  if (named.some(id => !ours.appIds.has(id)) || new Set(named).size > 1) return 'another_app'
  // People sign in with one App only; a delivery that names none cannot end their sign-ins.
  if (event.event === 'github_app_authorization' && named[0] !== ours.signInAppId) return 'another_app'
  return undefined
}

/** A ClusterGitHubApp may reach its host under other addresses than its name. */
function isHostOf(host: string, endpoints: GitHubEndpoints): boolean {
  return [endpoints.host, new URL(endpoints.web).host, new URL(endpoints.api).host].includes(host.toLowerCase())
}
