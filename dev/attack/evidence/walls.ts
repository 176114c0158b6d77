// A defence that was switched off silently: every policy that this version ships stands in the cluster, refuses, and covers
// what it says; every namespace of tenants has its Pod Security and its network policies.
import { neighbourNamespace, tenantNamespace } from '../../demo/context.ts'
import { admissionPath, type ShippedAdmission, shippedAdmission } from '../../up/layers/registrations.ts'
import type { Attack, Attempt } from '../attack.ts'
import { stopped, succeeded, unclear } from '../verdict.ts'
import type { World } from '../world/world.ts'

/** What is left of `wanted` in `found`: the API server adds defaults, and takes nothing away. */
export function contains(found: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted))
    return Array.isArray(found) && found.length === wanted.length && wanted.every((item, index) => contains(found[index], item))
  if (typeof wanted === 'object' && wanted !== null)
    return (
      typeof found === 'object' &&
      found !== null &&
      Object.entries(wanted).every(([key, value]) => contains((found as Record<string, unknown>)[key], value))
    )
  return found === wanted
}

/** Kubernetes 1.34 and 1.35 serve mutating policies as v1beta1 only. */
async function standing({ admin }: World, wanted: ShippedAdmission) {
  const of = (version: string) =>
    admin.request('GET', admissionPath({ ...wanted, apiVersion: `admissionregistration.k8s.io/${version}` }))
  const answer = await of('v1')
  return answer.status === 404 && wanted.kind.startsWith('MutatingAdmissionPolicy') ? of('v1beta1') : answer
}

function stands(world: World, wanted: ShippedAdmission): Attempt {
  return {
    name: `${wanted.kind} ${wanted.metadata.name}`,
    async run() {
      const answer = await standing(world, wanted)
      if (answer.status === 404) return succeeded('it is not installed')
      if (answer.status !== 200) return unclear(`${answer.status}`)
      const found = answer.body as ShippedAdmission
      const same = contains(found.spec, wanted.spec) && contains(found.webhooks, wanted.webhooks)
      return same
        ? stopped('admission', 'it stands as this version ships it')
        : succeeded('it differs from what this version ships')
    },
  }
}

/** What the standard `restricted` refuses for more than one reason. */
const unrestrictedPod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'unrestricted' },
  spec: {
    hostPID: true,
    containers: [{ name: 'shell', image: 'registry.test/shell', securityContext: { privileged: true } }],
  },
}

type DenyingSpec = {
  readonly podSelector: object
  readonly policyTypes?: readonly string[]
  readonly ingress?: readonly unknown[]
  readonly egress?: readonly unknown[]
}

function allowsNothing({ policyTypes, ingress = [], egress = [] }: DenyingSpec, type: string): boolean {
  return policyTypes?.includes(type) === true && (type === 'Ingress' ? ingress : egress).length === 0
}

function namespaceIsWalled({ admin }: World, namespace: string): readonly Attempt[] {
  return [
    {
      name: `namespace ${namespace}: Pod Security`,
      async run() {
        const { metadata } = (await admin.call('GET', `/api/v1/namespaces/${namespace}`)) as {
          metadata: { labels: Record<string, string> }
        }
        const level = metadata.labels['pod-security.kubernetes.io/enforce']
        if (level === 'restricted') return stopped('Pod Security', level)
        // Where Dockerfiles are built, a policy stands in its place (docs/adr/0037).
        const answer = await admin.request('POST', `/api/v1/namespaces/${namespace}/pods?dryRun=All`, unrestrictedPod)
        const refused = answer.status === 403 && JSON.stringify(answer.body).includes('sekisho-build-pods')
        return refused ? stopped('admission', 'sekisho-build-pods') : succeeded(`enforce is ${level}: ${answer.status}`)
      },
    },
    {
      name: `namespace ${namespace}: default deny of the network, both ways`,
      async run() {
        const { items } = (await admin.call('GET', `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies`)) as {
          items: readonly { spec: DenyingSpec }[]
        }
        const selectsAll = items.filter(({ spec }) => Object.keys(spec.podSelector).length === 0)
        const missing = ['Ingress', 'Egress'].filter(type => !selectsAll.some(({ spec }) => allowsNothing(spec, type)))
        return missing.length === 0
          ? stopped('network', `${items.length} policies`)
          : succeeded(`no policy for ${missing.join(' and ')} of all pods`)
      },
    },
  ]
}

export const wallAttacks: readonly Attack[] = [
  {
    name: 'walls/silent',
    as: 'an attacker who waits until a defence is switched off',
    against: 'policies, webhooks, Pod Security and network policies',
    tries: 'Looks for a defence that is missing, or weaker than this version ships it.',
    expected: ['admission', 'Pod Security', 'network'],
    peer: 'Coolify: network policies that were “temporarily disabled” without an alarm',
    attempts: async world => [
      ...(await shippedAdmission(world.settings.repository)).map(wanted => stands(world, wanted)),
      ...[tenantNamespace, `${tenantNamespace}-build`, neighbourNamespace, `${neighbourNamespace}-build`].flatMap(namespace =>
        namespaceIsWalled(world, namespace),
      ),
    ],
  },
]
