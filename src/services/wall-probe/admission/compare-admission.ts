// Reads the policies, bindings and registrations that stand in the cluster and compares them with what this version ships. Only
// reads.
import {
  mutatingAdmissionPolicies,
  mutatingAdmissionPolicyBindings,
  mutatingWebhookConfigurations,
  namespaces,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
  validatingWebhookConfigurations,
} from '../../../api/builtin/index.ts'
import { admissionWebhook, platformNamespace } from '../../../api/names.ts'
import type { KubeObject, ResourceType } from '../../../api/resource.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import { isKubeError } from '../../../kube/client/errors.ts'
import { messageOf } from '../../../lib/errors.ts'
import type { JsonObject } from '../../../lib/json/json-value.ts'
import type { Finding, Round } from '../finding.ts'
import { type Labels, withoutAddedSelectors } from './added-selectors.ts'
import { decisive, differences } from './compare.ts'
import { type AdmissionKind, type ShippedObject, wallOfKind } from './shipped.ts'

type Reading = Pick<KubeClient, 'get' | 'list'>
/** Undefined: the API server does not serve the kind. */
type Standing = ReadonlyMap<string, KubeObject> | undefined

/** Objects of which only ours are read, by name. */
const registrations: Partial<Record<AdmissionKind, ResourceType>> = {
  ValidatingWebhookConfiguration: validatingWebhookConfigurations,
  MutatingWebhookConfiguration: mutatingWebhookConfigurations,
}
/** In the order of preference: Kubernetes 1.34 and 1.35 serve mutations as v1beta1, later ones as v1. */
const listed: Partial<Record<AdmissionKind, readonly ResourceType[]>> = {
  ValidatingAdmissionPolicy: [validatingAdmissionPolicies],
  ValidatingAdmissionPolicyBinding: [validatingAdmissionPolicyBindings],
  MutatingAdmissionPolicy: mutatingAdmissionPolicies,
  MutatingAdmissionPolicyBinding: mutatingAdmissionPolicyBindings,
}

/** `covered`: the labels of the namespaces that no selector may leave out. Never rejects: what cannot be read is unknown. */
export async function compareAdmission(
  client: Reading,
  shipped: readonly ShippedObject[],
  covered: readonly Labels[],
): Promise<Round> {
  const byKind = [...Map.groupBy(shipped, ({ kind }) => kind)]
  const findings = await Promise.all(byKind.map(([kind, objects]) => compareKind(client, { kind, objects, covered })))
  return { looked: byKind.map(([kind]) => ({ wall: wallOfKind[kind] })), findings: findings.flat() }
}

type Compared = {
  readonly kind: AdmissionKind
  readonly objects: readonly ShippedObject[]
  readonly covered: readonly Labels[]
}

async function compareKind(client: Reading, { kind, objects, covered }: Compared): Promise<readonly Finding[]> {
  const wall = wallOfKind[kind]
  try {
    const standing = await standingOf(client, kind)
    if (standing === undefined) return [{ wall, verdict: 'Off', text: `the API server does not serve ${kind}` }]
    const all = registrations[kind] === undefined ? [] : [...covered, ...(await labelsOfPlatform(client))]
    return objects.flatMap(one => {
      const text = differenceText(one, standing.get(one.name), all)
      return text === undefined ? [] : [{ wall, verdict: 'Off' as const, text }]
    })
  } catch (error) {
    return [{ wall, verdict: 'Unknown', text: messageOf(error) }]
  }
}

async function standingOf(client: Reading, kind: AdmissionKind): Promise<Standing> {
  const registration = registrations[kind]
  if (registration !== undefined) {
    const found = await client.get(registration, { name: admissionWebhook.registration })
    return new Map(found === undefined ? [] : [[found.metadata.name, found]])
  }
  for (const type of listed[kind] ?? []) {
    const items = await listServed(client, type)
    if (items !== undefined) return new Map(items.map(item => [item.metadata.name, item]))
  }
  return undefined
}

function listServed(client: Reading, type: ResourceType): Promise<readonly KubeObject[] | undefined> {
  return client.list(type).catch((error: unknown) => {
    if (isKubeError(error, 404)) return undefined
    throw error
  })
}

async function labelsOfPlatform(client: Reading): Promise<readonly Labels[]> {
  const found = await client.get(namespaces, { name: platformNamespace })
  return found === undefined ? [] : [found.metadata.labels ?? {}]
}

function differenceText(
  { kind, name, decisive: wanted }: ShippedObject,
  found: KubeObject | undefined,
  covered: readonly Labels[],
): string | undefined {
  if (found === undefined) return `${kind} ${name} is not installed`
  if (found.metadata.deletionTimestamp !== undefined) return `${kind} ${name} is being deleted`
  const stands = withoutAddedSelectors(wanted, decisive(found as unknown as JsonObject), covered)
  const paths = differences(wanted, stands)
  return paths.length === 0 ? undefined : `${kind} ${name} differs from what this version ships: ${paths.join(', ')}`
}
