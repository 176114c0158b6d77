// Turns what a chart rendered into the manifests to apply: checks every object against the closed list and marks it as the
// Application's. Pure: the same Application and the same rendering result in the same manifests. Never drops an object
// silently: all of them, or a reason.
import { hash } from 'node:crypto'
import type { Application } from '../../../api/apps/application.ts'
import { networkPolicies, serviceAccounts } from '../../../api/builtin/index.ts'
import { domain } from '../../../api/kind.ts'
import { labels } from '../../../api/names.ts'
import { isOf, type OwnerReference, type ResourceType } from '../../../api/resource.ts'
import { serviceProxyLabel } from '../../../api/tenancy/service-proxy.ts'
import { ownerReference } from '../../../kube/object/owner.ts'
import { isJsonObject, type JsonObject, objectAt } from '../../../lib/json/json-value.ts'
import type { ChartInput } from '../../../services/charts/chart-input.ts'
import { reachPolicies } from '../services/reach-policies.ts'
import type { Reach } from '../services/service-facts.ts'
import { accountObject, accountPodSpec, brokenAccountRule, type PodAccount } from './account.ts'
import { boundPodSpec, brokenServiceRule, type PodServices } from './bound-pods.ts'
import { type AllowedHosts, brokenIngressRule } from './ingress-rules.ts'
import { brokenIsolationRule, isolatedPodSpec, isolationLabels } from './isolation.ts'
import { brokenPodRule, changedAt, podTemplatePath } from './pod-rules.ts'
import { type AllowedRedirects, redirectIngresses } from './redirect-ingress.ts'
import { appliedKinds, renderableKind, renderableText } from './renderable-kinds.ts'
import { brokenVolumeClaimRule, outlivesApplication } from './volume-claim-rules.ts'

/** What the decision allowed, and what it adds to what was rendered. */
type Allowed = AllowedHosts &
  AllowedRedirects &
  Pick<ChartInput, 'podAnnotations' | 'isolated' | 'envFrom'> &
  Partial<Pick<ChartInput, 'env'>> &
  PodAccount &
  PodServices & { readonly reach?: readonly Reach[] | undefined }

/** A checked object, ready to be applied. */
export type Manifest = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly labels: Readonly<Record<string, string>>
    readonly annotations: Readonly<Record<string, string>>
    /** Absent for what outlives the Application. */
    readonly ownerReferences?: readonly OwnerReference[]
  }
  readonly [field: string]: unknown
}

/** The hash of the rendered object: it differs when anything that was rendered differs. */
export const renderedHashAnnotation = `${domain}/rendered-hash`

/** Of one rendering. */
export const maxObjects = 50

/** All manifests of a rendering, or why none of them may be applied. */
export type Desired =
  | { readonly kind: 'wanted'; readonly manifests: readonly Manifest[] }
  | { readonly kind: 'refused'; readonly message: string }

class Refused extends Error {}

const namePattern = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/

function texts(value: unknown, what: string): Record<string, string> {
  if (value === undefined) return {}
  if (!isJsonObject(value)) throw new Refused(`${what} must be an object`)
  return Object.fromEntries(
    Object.entries(value).map(([key, text]) => {
      if (typeof text !== 'string') throw new Refused(`${what}.${key} must be a string`)
      return [key, text]
    }),
  )
}

type Checked = {
  readonly type: Pick<ResourceType, 'apiVersion' | 'kind'>
  readonly object: JsonObject
  readonly metadata: JsonObject
  readonly name: string
}

function checkObject(object: unknown, application: Application, allowed: Allowed): Checked {
  if (!isJsonObject(object)) throw new Refused('every rendered item must be a Kubernetes object')
  const { apiVersion, kind, metadata } = object
  const type = renderableKind({ apiVersion: String(apiVersion), kind: String(kind) })
  if (!type) throw new Refused(`${String(apiVersion)} ${String(kind)} may not be rendered: only ${renderableText}`)
  const name = isJsonObject(metadata) ? metadata['name'] : undefined
  if (!isJsonObject(metadata) || typeof name !== 'string' || !namePattern.test(name))
    throw new Refused(`a ${type.kind} has no valid metadata.name`)
  const what = `${type.kind} ${name}`
  const { namespace } = metadata
  if (namespace !== undefined && namespace !== application.metadata.namespace)
    throw new Refused(`${what} is in another namespace: a chart renders into the Application's namespace only`)
  if (object['status'] !== undefined) throw new Refused(`${what} has a status: remove it, the cluster writes it`)
  if (type.kind === 'ServiceAccount' && (object['automountServiceAccountToken'] !== false || object['secrets'] !== undefined))
    throw new Refused(`${what} must set automountServiceAccountToken: false and must not set secrets`)
  if (objectAt(metadata, 'labels')?.[serviceProxyLabel] !== undefined)
    throw new Refused(
      `${what} has the label ${serviceProxyLabel}: remove it, only the platform takes a Service away from kube-proxy`,
    )
  const problem =
    brokenAccountRule(object) ??
    brokenServiceRule(object) ??
    brokenPodRule(object) ??
    brokenIngressRule(object, allowed) ??
    brokenVolumeClaimRule(object)
  if (problem !== undefined) throw new Refused(`${what}: ${problem}`)
  return { type, object, metadata, name }
}

/**
 * Pods carry the Application's label, too: by it the rollout finds them. Those of an isolated one are cut off. The template of
 * a Job cannot change, so only Deployments are annotated.
 */
function markPods(
  object: JsonObject,
  applicationLabel: Readonly<Record<string, string>>,
  { podAnnotations, isolated, account, tokens, bound }: Allowed,
): JsonObject {
  const added = object['kind'] === 'Deployment' ? podAnnotations : undefined
  return changedAt(object, podTemplatePath(object), template => {
    const metadata = isJsonObject(template['metadata']) ? template['metadata'] : {}
    // Only the Application says whether it is isolated.
    const { [labels.isolated]: _, ...given } = texts(metadata['labels'], 'spec.template.metadata.labels')
    const annotations = { ...texts(metadata['annotations'], 'spec.template.metadata.annotations'), ...added }
    const annotated = Object.keys(annotations).length === 0 ? {} : { annotations }
    const marked = { ...metadata, ...annotated, labels: { ...given, ...applicationLabel, ...isolationLabels(isolated) } }
    const under = accountPodSpec(object['kind'], objectAt(template, 'spec') ?? {}, { account, tokens })
    const spec = boundPodSpec(object['kind'], under, { bound })
    return { ...template, metadata: marked, spec: isolatedPodSpec(spec, isolated) }
  })
}

function manifestOf(checked: Checked, application: Application, allowed: Allowed): Manifest {
  const { namespace = '', name } = application.metadata
  const applicationLabel = { [labels.application]: name }
  const content = markPods(checked.object, applicationLabel, allowed)
  const owned = outlivesApplication(checked.object)
    ? {}
    : { ownerReferences: [ownerReference(application, { controller: true })] }
  const manifest = {
    ...content,
    apiVersion: checked.type.apiVersion,
    kind: checked.type.kind,
    metadata: {
      name: checked.name,
      namespace,
      labels: { ...texts(checked.metadata['labels'], 'metadata.labels'), ...applicationLabel, [labels.managedBy]: 'sekisho' },
      annotations: texts(checked.metadata['annotations'], 'metadata.annotations'),
      ...owned,
    },
  }
  const rendered = hash('sha256', JSON.stringify(manifest)).slice(0, 32)
  return {
    ...manifest,
    metadata: { ...manifest.metadata, annotations: { ...manifest.metadata.annotations, [renderedHashAnnotation]: rendered } },
  }
}

function checkedAccount(account: string): Checked {
  const object = accountObject(account)
  return { type: serviceAccounts, object, metadata: {}, name: account }
}

function order(manifest: Manifest): number {
  return appliedKinds.findIndex(type => isOf(type, manifest))
}

/** What the platform adds beside the objects of the chart. */
function addedObjects(application: Application, { account, reach, isolated }: Allowed): readonly Checked[] {
  const policies = reachPolicies(application.metadata.name, { reach, isolated }).map(object => {
    const metadata = objectAt(object, 'metadata') ?? {}
    return { type: networkPolicies, object, metadata, name: String(metadata['name']) }
  })
  return [...policies, ...(account === undefined ? [] : [checkedAccount(account)])]
}

/** Stops a chart from giving code that is not trusted what only the tenant's own may have. */
function checkIsolation(objects: readonly unknown[], allowed: Allowed): void {
  if (allowed.isolated !== true) return
  const rendered = objects.filter(isJsonObject)
  for (const object of rendered) {
    const problem = brokenIsolationRule(object, allowed, rendered)
    if (problem !== undefined)
      throw new Refused(`${String(object['kind'])} ${String(objectAt(object, 'metadata')?.['name'])}: ${problem}`)
  }
}

/** In the order in which they are applied. Refuses the whole rendering for one object that may not be applied. */
export function desiredManifests(application: Application, objects: readonly unknown[], allowed: Allowed): Desired {
  if (objects.length > maxObjects)
    return { kind: 'refused', message: `the chart rendered ${objects.length} objects; at most ${maxObjects} are allowed` }
  try {
    const rendered = objects.map(object => checkObject(object, application, allowed))
    const redirecting = redirectIngresses(
      application.metadata.name,
      rendered.map(({ object }) => object),
      allowed,
    )
    const manifests = [...rendered, ...redirecting, ...addedObjects(application, allowed)]
      .map(checked => manifestOf(checked, application, allowed))
      .sort((a, b) => order(a) - order(b))
    checkIsolation(objects, allowed)
    const seen = new Set<string>()
    for (const { kind, metadata } of manifests) {
      if (seen.has(`${kind}/${metadata.name}`)) throw new Refused(`the chart rendered ${kind} ${metadata.name} twice`)
      seen.add(`${kind}/${metadata.name}`)
    }
    return { kind: 'wanted', manifests }
  } catch (error) {
    if (error instanceof Refused) return { kind: 'refused', message: error.message }
    throw error
  }
}
