// Whether an Application can be rendered, and with which input: checks in order, each with its reason and the cure. Pure.
import { applicationReasons as reasons } from '../../api/apps/application.ts'
import { restartedAnnotation, runtimeClassAnnotation } from '../../api/names.ts'
import { dnsLabel } from '../../api/schema/fields.ts'
import { AppError } from '../../lib/errors.ts'
import { defined } from '../../lib/json/defined.ts'
import { type Check, firstRefusal } from '../../policy/check.ts'
import type { ChartInput } from '../../services/charts/chart-input.ts'
import { placeOfImage } from '../../services/registry/image-place.ts'
import type { Refusal } from '../kit/refusal.ts'
import { hostChecks, hostsOf } from './domains/hosts.ts'
import { redirectGroups } from './domains/redirects.ts'
import type { Facts } from './facts.ts'
import { knownContents } from './image/contents.ts'
import { hasImage } from './image/missing-image.ts'
import { cronOf, environmentOf, maxProcesses, runningIn } from './image/processes.ts'
import { boundService } from './rendering/bound-pods.ts'
import { literalInput } from './rendering/literal-input.ts'
import type { Render } from './rendering/manifest-source.ts'
import { secretAnnotations, secretProblem } from './secrets/secret-checks.ts'
import { serviceProblem, serviceVersions } from './services/service-checks.ts'

/**
 * What to render, or why nothing can be rendered. `whenProven`: what to render once its hosts are proven, if nothing else is
 * missing.
 */
export type Decision =
  | ({ readonly kind: 'render' } & Render)
  | ({ readonly kind: 'refused'; readonly whenProven?: Render } & Refusal)

/** Stops a name that cannot become the name of a Service and a part of host names. */
const nameIsLabel: Check<Facts> = ({ application }) => {
  const { name } = application.metadata
  if (name.length <= 63 && new RegExp(dnsLabel).test(name)) return undefined
  const message = 'metadata.name must be a DNS label of at most 63 characters: create the Application under such a name'
  return { reason: reasons.invalidName, message }
}

/**
 * Stops an image of another tenant, which may hold private sources. The registry refuses it as well: this says so at once, and
 * in words.
 */
const imageIsOwn: Check<Facts> = ({ application: { spec, metadata }, registry }) => {
  if (spec.image === undefined) return undefined
  const place = placeOfImage(spec.image, registry.place)
  if (place.kind === 'elsewhere' || (place.kind === 'tenant' && place.namespace === metadata.namespace)) return undefined
  const own = `${registry.place.registry}/${metadata.namespace}/`
  const message = `spec.image is in the platform's registry, but not below ${own}: use an image of your own`
  return { reason: reasons.foreignImage, message }
}

/** Stops an Application that follows a tag of which nothing is known. */
const tagIsKnown: Check<Facts> = ({ followed }) => (followed?.digest === undefined ? followed?.problem : undefined)

/** Stops an Application whose chart does not exist or has no code. Whether the code loads is found out by rendering. */
const chartExists: Check<Facts> = ({ application: { spec }, chart }) => {
  if (chart?.lookup.kind === 'found') return undefined
  const message = chart
    ? `ApplicationChart ${spec.chart}: ${chart.lookup.message}`
    : `there is no ApplicationChart ${spec.chart}: set spec.chart to one that \`kubectl get applicationcharts\` shows`
  return { reason: reasons.chartNotFound, message }
}

/**
 * Stops an Application whose pods could not start, because an AppSecret or a key of it is missing. The running version keeps
 * serving.
 */
const secretsExist: Check<Facts> = ({ application: { spec }, secrets }) => secretProblem(spec, secrets)

/**
 * Stops an Application whose processes depend on an image that cannot be read. The registry may answer again soon; what it said
 * does not change.
 */
const imageIsReadable: Check<Facts> = ({ application: { spec }, contents }) => {
  if (contents.kind !== 'unreadable') return undefined
  const { message, permanent } = contents
  const reason = reasons.imagePullFailed
  if (!permanent) return { reason, message: `spec.image cannot be read from the registry (${message}): it is tried again` }
  return spec.processes === undefined
    ? { reason, message: `the processes of spec.image are not known (${message}): list them in spec.processes` }
    : undefined
}

/** Stops an image with more processes than an Application may have. */
const processesAreFew: Check<Facts> = facts => {
  const { length } = runningIn(facts)
  if (length <= maxProcesses) return undefined
  const message = `spec.image has ${length} processes, and an Application at most ${maxProcesses}: list those that are to run in spec.processes`
  return { reason: reasons.invalidProcesses, message }
}

/** Stops an Application that would run nothing, and look well: the build had the commands of another spec. */
const somethingRuns: Check<Facts> = ({ application: { spec }, contents }) => {
  const found = knownContents(contents)?.processes
  if (spec.processes !== undefined || (spec.cron ?? []).length > 0 || found === undefined || found.length > 0) return undefined
  const message =
    'spec.image has no process: name one with its command in spec.processes, or add a start command to the repository'
  return { reason: reasons.invalidProcesses, message }
}

/**
 * Stops volumes for processes that do not exist. Those of the spec are compared by the schema; those of the image are known
 * only here.
 */
const volumesHaveProcesses: Check<Facts> = facts => {
  const { spec } = facts.application
  const names = runningIn(facts).map(({ name }) => name)
  for (const volume of spec.volumes ?? []) {
    const missing = (volume.processes ?? ['web']).find(name => !names.includes(name))
    if (missing === undefined) continue
    const message = `spec.volumes[${volume.name}].processes: there is no process ${missing}, only ${names.join(', ') || 'none'}: correct the name`
    return { reason: reasons.invalidProcesses, message }
  }
  return undefined
}

/** Stops issuers of the cluster that the platform admin did not allow: they can sign for whoever trusts them. */
const issuerIsAllowed: Check<Facts> = ({ application: { spec }, certificateIssuers }) => {
  const { certManager } = spec.tls ?? {}
  if (certManager === undefined || certManager.kind === 'Issuer' || certificateIssuers.includes(certManager.issuer))
    return undefined
  const allowed = certificateIssuers.length === 0 ? 'none' : certificateIssuers.join(', ')
  const message = `spec.tls.certManager.issuer: the platform does not allow the ClusterIssuer ${certManager.issuer} (allowed: ${allowed}): use one of these, an Issuer of the namespace, or tls.secretName`
  return { reason: reasons.issuerNotAllowed, message }
}

/**
 * In this order: an Application without an image already learns what is wrong with its hosts only later, but it claims none
 * either; a host that belongs to another tenant is refused before a proof for another one is requested (`missingProof`).
 */
const checks: readonly Check<Facts, Refusal>[] = [
  nameIsLabel,
  hasImage,
  imageIsOwn,
  tagIsKnown,
  chartExists,
  secretsExist,
  serviceProblem,
  imageIsReadable,
  processesAreFew,
  somethingRuns,
  volumesHaveProcesses,
  issuerIsAllowed,
  ...hostChecks,
]

/** A certificate that is not the ingress's own. cert-manager writes into a Secret that is named like the Application. */
function certificateOf({ metadata, spec: { tls } }: Facts['application']): Pick<ChartInput, 'certificate'> {
  if (tls?.secretName !== undefined) return { certificate: { secretName: tls.secretName } }
  if (tls?.certManager === undefined) return {}
  const { issuer: name, kind } = tls.certManager
  return { certificate: { secretName: `${metadata.name}-tls`, issuer: { name, kind } } }
}

/** Only what the Application asks for: an input that is equal to an earlier one renders nothing anew. */
function optionalInput({ spec }: Facts['application']): Partial<ChartInput> {
  return {
    ...defined({ commit: spec.commit, volumes: spec.volumes }),
    ...(spec.suspend === true ? { suspend: true } : {}),
    ...(spec.isolated === true ? { isolated: true } : {}),
    ...defined({ envFrom: spec.envFrom }),
  }
}

/** `spec.replicas`, which `kubectl scale` sets, is about the process `web`. */
function scaled(processes: ChartInput['processes'], replicas: number | undefined): ChartInput['processes'] {
  return replicas === undefined
    ? processes
    : processes.map(process => (process.name === 'web' ? { ...process, replicas } : process))
}

/** A change of any of them replaces the pods. */
function podAnnotationsOf({ application: { spec }, secrets, services, tenant }: Facts): Pick<ChartInput, 'podAnnotations'> {
  const runtimeClass = tenant?.status?.runtimeClasses?.[spec.isolated === true ? 'isolated' : 'applications']
  const runtime = runtimeClass === undefined ? {} : { [runtimeClassAnnotation]: runtimeClass }
  const restarted = spec.restartedAt === undefined ? {} : { [restartedAnnotation]: spec.restartedAt }
  const podAnnotations = { ...secretAnnotations(spec, secrets, serviceVersions({ services })), ...restarted, ...runtime }
  return Object.keys(podAnnotations).length === 0 ? {} : { podAnnotations }
}

/**
 * Not the platform's alone where the image is elsewhere: a release job or a sidecar of a chart may have an image of the
 * platform's registry.
 */
function pullSecretsOf(
  { imagePullSecrets = [] }: Facts['application']['spec'],
  { pullSecret }: Facts['registry'],
): Pick<ChartInput, 'imagePullSecrets'> {
  const names = [...(pullSecret === undefined ? [] : [pullSecret]), ...imagePullSecrets]
  return names.length === 0 ? {} : { imagePullSecrets: names }
}

function inputOf(facts: Facts, image: string): ChartInput {
  const { application, contents, ingress, registry } = facts
  const { spec, metadata } = application
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? '',
    image,
    ...optionalInput(application),
    processes: scaled(runningIn(facts), spec.replicas),
    ...(spec.cron === undefined ? {} : { cron: cronOf(spec, knownContents(contents)) }),
    env: environmentOf(facts),
    attributes: spec.attributes ?? {},
    hosts: hostsOf(application, ingress),
    ingressClassName: ingress.className,
    tls: spec.tls !== undefined || ingress.publicUrl.protocol === 'https:',
    ...certificateOf(application),
    ...pullSecretsOf(spec, registry),
    ...podAnnotationsOf(facts),
  }
}

function renderOf(facts: Facts): Render {
  const { application, chart, redirectAnnotations, account, tokens, services, reach } = facts
  const { image } = application.spec
  // The checks exclude this; the compiler does not know it.
  if (chart?.lookup.kind !== 'found' || image === undefined)
    throw new AppError('internal', 'the checks passed without a chart and an image')
  const { source } = chart.lookup
  const redirects = redirectGroups(application, redirectAnnotations)
  const input = literalInput(inputOf(facts, image))
  const bound = services.map(({ use, bindingName }) => boundService(use, bindingName, application.spec))
  return {
    ...{ source, input, redirects },
    ...defined({ account, tokens }),
    ...(bound.length === 0 ? {} : { bound }),
    ...(reach.length === 0 ? {} : { reach }),
    timeoutMilliseconds: chart.timeoutSeconds * 1000,
  }
}

/** The first refusal, or what to render. */
export function decide(facts: Facts): Decision {
  const refusal = firstRefusal(checks, facts)
  if (!refusal) return { kind: 'render', ...renderOf(facts) }
  // The last check: all others hold.
  const proof = refusal.reason === reasons.domainNotProven ? { whenProven: renderOf(facts) } : {}
  return { kind: 'refused', ...refusal, ...proof }
}
