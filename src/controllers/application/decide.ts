// Whether an Application can be rendered, and with which input: checks in order, each with its reason and the cure. Pure.
import { applicationReasons as reasons } from '../../api/apps/application.ts'
import { dnsLabel } from '../../api/schema/fields.ts'
import type { ChartInput, ChartSource } from '../../charts/chart-input.ts'
import { AppError } from '../../lib/errors.ts'
import { type Check, firstRefusal, type Refusal } from '../../policy/check.ts'
import { placeOfImage } from '../../registry/image-place.ts'
import type { Facts } from './gather.ts'
import { domainProblem, hostsOf, missingProof } from './hosts.ts'

/** What to render, or why nothing can be rendered. */
export type Decision =
  | { readonly kind: 'render'; readonly source: ChartSource; readonly input: ChartInput; readonly timeoutMilliseconds: number }
  | ({ readonly kind: 'refused' } & Refusal)

/** Stops a name that cannot become the name of a Service and a part of host names. */
const nameIsLabel: Check<Facts> = ({ application }) => {
  const { name } = application.metadata
  if (name.length <= 63 && new RegExp(dnsLabel).test(name)) return undefined
  const message = 'metadata.name must be a DNS label of at most 63 characters: create the Application under such a name'
  return { reason: reasons.invalidName, message }
}

/** Stops an Application that has nothing to run yet. */
const hasImage: Check<Facts> = ({ application }) =>
  application.spec.image === undefined
    ? { reason: reasons.waitingForImage, message: 'spec.image is not set: create a RemoteSync that builds it, or set it' }
    : undefined

/** Stops an image of another tenant, which may hold private sources. The registry refuses it as well: this says so at once, and in words. */
const imageIsOwn: Check<Facts> = ({ application: { spec, metadata }, registry }) => {
  if (spec.image === undefined) return undefined
  const place = placeOfImage(spec.image, registry.place)
  if (place.kind === 'elsewhere' || (place.kind === 'tenant' && place.namespace === metadata.namespace)) return undefined
  const own = `${registry.place.registry}/${metadata.namespace}/`
  const message = `spec.image is in the platform's registry, but not below ${own}: use an image of your own`
  return { reason: reasons.foreignImage, message }
}

/** Stops an Application whose chart does not exist or has no code. Whether the code loads is found out by rendering. */
const chartExists: Check<Facts> = ({ application: { spec }, chart }) => {
  if (chart?.lookup.kind === 'found') return undefined
  const message = chart
    ? `ApplicationChart ${spec.chart}: ${chart.lookup.message}`
    : `there is no ApplicationChart ${spec.chart}: set spec.chart to one that \`kubectl get applicationcharts\` shows`
  return { reason: reasons.chartNotFound, message }
}

/**
 * In this order: an Application without an image already learns what is wrong with its hosts only later, but it claims none either; a host that
 * belongs to another tenant is refused before a proof for another one is requested (`missingProof`).
 */
const checks: readonly Check<Facts>[] = [nameIsLabel, hasImage, imageIsOwn, chartExists, domainProblem, missingProof]

function inputOf({ application, ingress, registry }: Facts, image: string): ChartInput {
  const { spec, metadata } = application
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? '',
    image,
    ...(spec.commit === undefined ? {} : { commit: spec.commit }),
    processes: spec.processes,
    env: spec.env ?? [],
    attributes: spec.attributes ?? {},
    hosts: hostsOf(application, ingress),
    ingressClassName: ingress.className,
    tls: ingress.publicUrl.protocol === 'https:',
    ...(registry.pullSecret === undefined ? {} : { imagePullSecrets: [registry.pullSecret] }),
  }
}

/** The first refusal, or what to render. */
export function decide(facts: Facts): Decision {
  const refusal = firstRefusal(checks, facts)
  if (refusal) return { kind: 'refused', ...refusal }
  const { application, chart } = facts
  const { image } = application.spec
  // The checks exclude this; the compiler does not know it.
  if (chart?.lookup.kind !== 'found' || image === undefined)
    throw new AppError('internal', 'the checks passed without a chart and an image')
  const { source } = chart.lookup
  return { kind: 'render', source, input: inputOf(facts, image), timeoutMilliseconds: chart.timeoutSeconds * 1000 }
}
