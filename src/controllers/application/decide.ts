// What must hold before an Application is rendered: a list of checks in order, each with its reason and the cure. Pure.
import { applicationReasons } from '../../api/apps/application.ts'
import { dnsLabel } from '../../api/schema/fields.ts'
import type { ChartInput, ChartSource } from '../../charts/chart-input.ts'
import { findChartSource } from '../../charts/chart-source.ts'
import type { Facts } from './gather.ts'
import { domainProblem, hostsOf, type IngressAddress } from './hosts.ts'

export type Refusal = { readonly reason: string; readonly message: string }

export type Decision =
  | { readonly kind: 'render'; readonly source: ChartSource; readonly input: ChartInput; readonly timeoutMilliseconds: number }
  | ({ readonly kind: 'refused' } & Refusal)

type Check = (facts: Facts, ingress: IngressAddress) => Refusal | undefined

/** The name becomes a Service and a part of host names. */
const nameIsLabel: Check = ({ application }) => {
  const { name } = application.metadata
  if (name.length <= 63 && new RegExp(dnsLabel).test(name)) return undefined
  return {
    reason: applicationReasons.invalidName,
    message: 'metadata.name must be a DNS label of at most 63 characters: create it under such a name',
  }
}

const hasImage: Check = ({ application }) =>
  application.spec.image === undefined
    ? {
        reason: applicationReasons.waitingForImage,
        message: 'spec.image is not set: create a RemoteSync that builds it, or set it',
      }
    : undefined

const chartExists: Check = ({ application, chart, configMap }) => {
  if (!chart) {
    const message = `there is no ApplicationChart ${application.spec.chart}: set spec.chart to one that \`kubectl get applicationcharts\` shows`
    return { reason: applicationReasons.chartNotFound, message }
  }
  const found = findChartSource(chart, configMap)
  if (found.kind === 'found') return undefined
  return { reason: applicationReasons.chartNotFound, message: `ApplicationChart ${chart.metadata.name}: ${found.message}` }
}

const domainsAreFree: Check = ({ application, usersOfDomain }, ingress) => {
  const message = domainProblem(application, ingress, usersOfDomain)
  return message === undefined ? undefined : { reason: applicationReasons.domainTaken, message }
}

const checks: readonly Check[] = [nameIsLabel, hasImage, chartExists, domainsAreFree]

function inputOf({ application }: Facts, image: string, ingress: IngressAddress): ChartInput {
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
  }
}

export function decide(facts: Facts, ingress: IngressAddress): Decision {
  for (const check of checks) {
    const refusal = check(facts, ingress)
    if (refusal) return { kind: 'refused', ...refusal }
  }
  const { chart, configMap, application } = facts
  const found = chart && findChartSource(chart, configMap)
  const { image } = application.spec
  if (!chart || image === undefined || found?.kind !== 'found')
    return { kind: 'refused', reason: applicationReasons.chartNotFound, message: 'the chart vanished' }
  return {
    kind: 'render',
    source: found.source,
    input: inputOf(facts, image, ingress),
    timeoutMilliseconds: chart.spec.timeoutSeconds * 1000,
  }
}
