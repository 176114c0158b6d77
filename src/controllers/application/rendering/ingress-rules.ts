// What the Ingresses of a chart may not do: serve another host than those of the Application, use another ingress class, or
// look like an Ingress that redirects, whose annotations admission does not look at. A chart is code of the platform, but the
// hosts were checked before it ran, so it must not add any. Pure; reads unchecked JSON that a chart rendered.
import { labels } from '../../../api/names.ts'
import { type JsonObject, listAt, objectAt, objectsAt, textAt } from '../../../lib/json/json-value.ts'
import type { ChartInput } from '../../../services/charts/chart-input.ts'

/** What the decision allowed. */
export type AllowedHosts = Pick<ChartInput, 'hosts' | 'ingressClassName'>

/** Which rule the Ingress breaks; undefined for none, and for another kind of object. */
export function brokenIngressRule(object: JsonObject, allowed: AllowedHosts): string | undefined {
  if (object['kind'] !== 'Ingress') return undefined
  if (objectAt(object, 'metadata', 'labels')?.[labels.redirect] !== undefined)
    return `the label ${labels.redirect} must not be set: the platform itself makes the Ingresses that redirect (spec.redirects)`
  const spec = objectAt(object, 'spec')
  if (textAt(spec, 'ingressClassName') !== allowed.ingressClassName)
    return `spec.ingressClassName must be ${allowed.ingressClassName}: use input.ingressClassName`
  if (spec?.['defaultBackend'] !== undefined) return 'spec.defaultBackend must not be set: it would serve every host'
  const hosts = [
    ...objectsAt(spec, 'rules').map(rule => rule['host']),
    ...objectsAt(spec, 'tls').flatMap(item => listAt(item, 'hosts')),
  ]
  const isAllowed = (host: unknown): boolean => typeof host === 'string' && allowed.hosts.includes(host)
  return hosts.length > 0 && hosts.every(isAllowed)
    ? undefined
    : `every rule must have one of input.hosts (${allowed.hosts.join(', ')}) as its host, not ${String(hosts.find(host => !isAllowed(host)) ?? 'none')}`
}
