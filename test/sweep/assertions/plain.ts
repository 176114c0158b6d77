// Makes two environments comparable: removes from an object what differs between any two runs (uids, versions, times, hashes of
// uids, ids that GitHub assigned, the environment's prefix). Everything else stays, including the generation, which counts the
// changes of the spec. Pure.
import type { KubeObject } from '../../../src/api/resource.ts'

type Json = Readonly<Record<string, unknown>>

const replacements: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>'],
  [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uid>'],
  [/https?:\/\/127\.0\.0\.1:\d+/g, '<url>'],
  [/\/[\w-]{43}\/source\.git/g, '/<secret>/source.git'],
  [/127\.0\.0\.1:\d+\/apps/g, '<registry>'],
  [/sha256:[0-9a-f]{64}/g, '<digest>'],
  [/\b[0-9a-f]{40}\b/g, '<sha>'],
  // Of Services: the API server chooses them.
  [/\b10\.(9[6-9]|10\d|11[01])\.\d{1,3}\.\d{1,3}\b/g, '<cluster ip>'],
  // Of what a Release consists of, which includes the name of the environment's chart.
  [/\b[0-9a-f]{32}\b/g, '<hash>'],
  [/-[0-9a-f]{12}\b/g, '-<hash>'],
  // Of names on a server of tenants.
  [/(?<![a-z\d])[bps]?[a-z2-7]{26}(?![a-z\d])/g, '<hash>'],
  [/\b1\d{5}\b/g, '<id>'],
  // Of a range of user ids: environments have different ones, because they run at once.
  [/\b1\d{9}\b/g, '<user>'],
  [/-----BEGIN [\s\S]+-----END [A-Z ]+-----/g, '<pem>'],
]

/**
 * Annotations whose value is a hash that covers uids, and the last wake: there is none when its webhook came before the object.
 */
const differing = /\/(rendered-hash|desired-hash|wake)$/

function plainText(text: string, prefix: string): string {
  let plain = text.replaceAll(prefix, 'w')
  for (const [pattern, replacement] of replacements) plain = plain.replaceAll(pattern, replacement)
  return plain
}

export function plainValue(value: unknown, prefix: string): unknown {
  if (typeof value === 'string') return plainText(value, prefix)
  if (typeof value === 'number') return value > 20_000 ? '<number>' : value
  if (Array.isArray(value)) return value.map(item => plainValue(item, prefix))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
    .map(([key, item]) => [plainText(key, prefix), plainValue(item, prefix)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries)
}

type Condition = { readonly type: string; readonly status: string; readonly reason?: string }

function plainStatus(status: unknown): unknown {
  if (typeof status !== 'object' || status === null) return status
  // The digest of what a grant was decided from covers uids.
  const { conditions, observedInputs: _, ...rest } = status as Json & { readonly conditions?: readonly Condition[] }
  const { rollout, usage, ...others } = rest as Json & { readonly rollout?: Json; readonly usage?: Json }
  const summaries = (conditions ?? []).map(({ type, status: value, reason }) => `${type}=${value} ${reason ?? ''}`).sort()
  return {
    ...others,
    // What was measured at some time: which one that was differs between any two runs.
    ...(usage === undefined || 'measuredAt' in usage ? {} : { usage }),
    ...(rollout === undefined ? {} : { rollout: withoutDelay(rollout) }),
    ...(conditions === undefined ? {} : { conditions: summaries }),
  }
}

/** Without what it says of the cluster's own Deployment controller: whether that was busy differs between any two runs. */
function withoutDelay({ delayed: _delayed, observedAt: _observedAt, ...rollout }: Json): Json {
  return rollout
}

export function plainObject(object: KubeObject, prefix: string): unknown {
  const { metadata, status, ...content } = object as KubeObject & { readonly status?: unknown }
  const { name, namespace, labels, annotations = {}, finalizers, ownerReferences = [], generation, deletionTimestamp } = metadata
  const kept = {
    name,
    namespace,
    labels,
    annotations: Object.fromEntries(Object.entries(annotations).filter(([key]) => !differing.test(key))),
    finalizers: [...(finalizers ?? [])].sort(),
    owners: ownerReferences.map(owner => `${owner.kind}/${owner.name}`),
    generation,
    deleting: deletionTimestamp !== undefined,
  }
  // The status of built-in kinds is written by the cluster's own controllers, at any time.
  const ours = object.apiVersion.includes('sekisho.dev/')
  return plainValue({ ...content, metadata: kept, ...(ours ? { status: plainStatus(status) } : {}) }, prefix)
}
