// Deletes what a former version of the platform gave or refused and this version does not: `kubectl apply` deletes nothing,
// so that a binding that was left behind would go on giving rights, and a policy would go on refusing.
import { defined } from '../../../src/lib/json/defined.ts'
import type { Kubectl } from '../kubectl.ts'
import { deleteAll, identityOf, type RenderedObject, renderedObjects } from './rendered.ts'

/** The kinds that decide what somebody may do. */
const deciding = /^((Cluster)?Role(Binding)?|(Validating|Mutating)(AdmissionPolicy(Binding)?|WebhookConfiguration))$/
const ours = ['-l', 'app.kubernetes.io/part-of=sekisho']

/**
 * Call after the folder was applied. Only objects with our label whose names begin with `sekisho`, of the kinds and in the
 * namespaces of the folder, are deleted. Resolves to their kinds and names.
 */
export async function removeStale(kubectl: Kubectl, folder: string): Promise<readonly string[]> {
  const wanted = (await renderedObjects(kubectl, folder)).filter(({ kind }) => deciding.test(kind))
  const kept = new Set(wanted.map(identityOf))
  const namespaces = [...new Set(wanted.map(({ metadata }) => metadata.namespace))]
  const found = await Promise.all(namespaces.map(namespace => labelled(kubectl, wanted, namespace)))
  const stale = found.flat().filter(object => object.metadata.name.startsWith('sekisho') && !kept.has(identityOf(object)))
  await deleteAll(
    kubectl,
    stale.map(({ apiVersion, kind, metadata: { name, namespace } }) => ({
      apiVersion,
      kind,
      metadata: { name, ...defined({ namespace }) },
    })),
  )
  return stale.map(
    ({ kind, metadata: { name, namespace } }) => `${kind} ${name}${namespace === undefined ? '' : ` in ${namespace}`}`,
  )
}

/** What the cluster has of the kinds that `wanted` has in the namespace; without one, of those that are in none. */
async function labelled(
  kubectl: Kubectl,
  wanted: readonly RenderedObject[],
  namespace: string | undefined,
): Promise<readonly RenderedObject[]> {
  const kinds = new Set(wanted.filter(({ metadata }) => metadata.namespace === namespace).map(({ kind }) => kind.toLowerCase()))
  const where = namespace === undefined ? [] : ['-n', namespace]
  const list = (await kubectl.read([[...kinds].join(','), ...where, ...ours])) as
    | { readonly items: readonly RenderedObject[] }
    | undefined
  return list?.items ?? []
}
