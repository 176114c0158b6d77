// The Ingresses of the hosts that are redirected. They are not the chart's: they carry the annotations of the administrator,
// which nothing that a chart renders may carry (admission rule `ingress-content`), so the platform makes them from what the
// decision allowed. Pure.
import { ingresses } from '../../../api/builtin/index.ts'
import { labels } from '../../../api/names.ts'
import { defined } from '../../../lib/json/defined.ts'
import { type JsonObject, objectAt, objectsAt, textAt } from '../../../lib/json/json-value.ts'
import type { ChartInput } from '../../../services/charts/chart-input.ts'
import { type RedirectGroup, redirectIngressName } from '../domains/redirects.ts'

/** What the decision allowed. */
export type AllowedRedirects = Pick<ChartInput, 'ingressClassName'> &
  Partial<Pick<ChartInput, 'tls' | 'certificate'>> & { readonly redirects?: readonly RedirectGroup[] }

/** Where the rendered Ingress leads for this host. */
function backendOf(host: string, rendered: readonly JsonObject[]): JsonObject | undefined {
  const rules = rendered
    .filter(object => object['kind'] === 'Ingress')
    .flatMap(object => objectsAt(objectAt(object, 'spec'), 'rules'))
    .filter(rule => textAt(rule, 'host') === host)
  const paths = rules.flatMap(rule => objectsAt(objectAt(rule, 'http'), 'paths'))
  return objectAt(paths.find(path => textAt(path, 'path') === '/') ?? paths[0], 'backend')
}

/** In the form of a rendered object that was checked. */
type RedirectIngress = {
  readonly type: typeof ingresses
  readonly name: string
  readonly metadata: JsonObject
  readonly object: JsonObject
}

type Certificate = { readonly annotations: Readonly<Record<string, string>>; readonly secretName?: string }

/** cert-manager fills one Secret for one Ingress; a Secret of the tenant's own covers all hosts. */
function certificateOf(name: string, { certificate }: AllowedRedirects): Certificate {
  if (certificate === undefined) return { annotations: {} }
  const { issuer, secretName } = certificate
  if (issuer === undefined) return { annotations: {}, secretName }
  const key = issuer.kind === 'Issuer' ? 'cert-manager.io/issuer' : 'cert-manager.io/cluster-issuer'
  return { annotations: { [key]: issuer.name }, secretName: `${name}-tls` }
}

/**
 * One for each target that a rendered Ingress serves. An Ingress needs a backend, and some ingress controllers ignore one
 * without endpoints: it is that of the target, so that whoever asks an ingress controller that does not know the annotations
 * gets the same Application and never another one.
 */
export function redirectIngresses(
  application: string,
  rendered: readonly JsonObject[],
  allowed: AllowedRedirects,
): readonly RedirectIngress[] {
  return (allowed.redirects ?? []).flatMap(({ to, from, annotations }) => {
    const backend = backendOf(to, rendered)
    if (backend === undefined) return []
    const name = redirectIngressName(application, to)
    const { secretName, annotations: issued } = certificateOf(name, allowed)
    const tls = { hosts: from, ...defined({ secretName }) }
    const metadata = { labels: { [labels.redirect]: 'true' }, annotations: { ...annotations, ...issued } }
    const spec = {
      ingressClassName: allowed.ingressClassName,
      rules: from.map(host => ({ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } })),
      ...(allowed.tls === true ? { tls: [tls] } : {}),
    }
    return [{ type: ingresses, name, metadata, object: { spec } }]
  })
}
