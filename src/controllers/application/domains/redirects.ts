// Which hosts of an Application lead people on to another one, whether the platform can redirect them, and what its status says
// about that. Pure. Ingress has no field for a redirect: the annotations that make an ingress controller redirect are
// configured by a platform admin.
import { type Application, applicationReasons as reasons } from '../../../api/apps/application.ts'
import type { WantedCondition } from '../../../kube/object/conditions.ts'
import { shortHash } from '../../../lib/text/bounded-name.ts'

/** Of every Ingress that redirects: keys and values, from SEKISHO_REDIRECT_ANNOTATIONS. Empty: the platform redirects nothing. */
export type RedirectAnnotations = readonly (readonly [key: string, value: string])[]

/** In the values: the host to which people are led. */
export const targetPlaceholder = '{to}'

type Redirect = NonNullable<Application['spec']['redirects']>[number]

/** What one Ingress redirects. The annotations hold for all hosts of an Ingress, so each target has one of its own. */
export type RedirectGroup = {
  readonly to: string
  readonly from: readonly string[]
  readonly annotations: Readonly<Record<string, string>>
}

const setting = 'SEKISHO_REDIRECT_ANNOTATIONS'
const guide = 'docs/guide/install.md, section 6'

/**
 * Annotations that are the same for every target can only make the ingress controller take `www.` off the host of the request.
 */
function isSupported({ from, to }: Redirect, annotations: RedirectAnnotations): boolean {
  if (annotations.length === 0) return false
  return from === `www.${to}` || annotations.some(([, value]) => value.includes(targetPlaceholder))
}

function wanted({ spec }: Application): readonly Redirect[] {
  return spec.redirects ?? []
}

/** The hosts that the platform can redirect for this Application: they have to be its own like those under which it answers. */
export function redirectedHosts(application: Application, annotations: RedirectAnnotations): readonly string[] {
  return wanted(application)
    .filter(redirect => isSupported(redirect, annotations))
    .map(({ from }) => from)
}

/** By target, in the order of the spec; without what the platform cannot redirect. */
export function redirectGroups(application: Application, annotations: RedirectAnnotations): readonly RedirectGroup[] {
  const supported = wanted(application).filter(redirect => isSupported(redirect, annotations))
  return [...Map.groupBy(supported, ({ to }) => to)].map(([to, redirects]) => ({
    to,
    from: redirects.map(({ from }) => from),
    annotations: Object.fromEntries(annotations.map(([key, value]) => [key, value.replaceAll(targetPlaceholder, to)])),
  }))
}

/** The Ingress that redirects to this host. A host name is too long for a part of it, so it stands there as a hash. */
export function redirectIngressName(application: string, to: string): string {
  return `${application}-redirect-${shortHash(to, 10)}`
}

/** Who can do what about the first redirect that the platform is not configured for. */
function unsupportedMessage({ from, to }: Redirect, annotations: RedirectAnnotations): string {
  const [why, cure] =
    annotations.length === 0
      ? ['this platform is not configured for redirects', `a platform admin sets ${setting}`]
      : [
          `the ingress of this platform redirects www.<host> to <host> only, and ${from} is not www.${to}`,
          `name such a host, or a platform admin sets ${setting} with ${targetPlaceholder}`,
        ]
  return `spec.redirects: ${from} is not redirected: ${why}: ${cure} (${guide}); everything else of the Application runs`
}

/**
 * Undefined without redirects. `applied`: the cluster has every object of this generation; `present`: the names of the
 * Ingresses that the Application has.
 */
export function redirectingCondition(
  application: Application,
  annotations: RedirectAnnotations,
  { applied, present }: { readonly applied: boolean; readonly present: readonly string[] },
): WantedCondition | undefined {
  const type = 'Redirecting'
  const redirects = wanted(application)
  if (redirects.length === 0) return undefined
  const unsupported = redirects.find(redirect => !isSupported(redirect, annotations))
  if (unsupported) {
    const message = unsupportedMessage(unsupported, annotations)
    return { type, status: 'False', reason: reasons.redirectNotSupported, message }
  }
  const missing = redirects.find(({ to }) => !present.includes(redirectIngressName(application.metadata.name, to)))
  if (missing === undefined) {
    const message = redirects.map(({ from, to }) => `${from} leads to ${to}`).join(', ')
    return { type, status: 'True', reason: reasons.redirecting, message }
  }
  const { from, to } = missing
  if (!applied) {
    const message = `spec.redirects: ${from} is not redirected yet: the condition Ready says what the Application waits for`
    return { type, status: 'Unknown', reason: reasons.redirectPending, message }
  }
  const message = `spec.redirects: ${from} is not redirected, because no Ingress leads to ${to}: give the Application a process web with a port`
  return { type, status: 'False', reason: reasons.redirectWithoutTarget, message }
}
