// The final state that a crashed run is compared by: the objects of the scenario's kinds, and the state of all tokens. Only
// reads.

import { platformNamespace } from '../../../src/api/names.ts'
import type { KubeObject, ResourceType } from '../../../src/api/resource.ts'
import type { Environment } from '../environment/environment.ts'
import { plainObject, plainValue } from './plain.ts'
import { tokenLedger } from './tokens.ts'

/** Keyed by kind, namespace and name; values are compared as text. */
export type FinalState = Readonly<Record<string, string>>

async function objectsOf({ fixture, prefix, namespaces }: Environment, type: ResourceType): Promise<readonly KubeObject[]> {
  if (!type.namespaced) return (await fixture.kube.list(type)).filter(({ metadata }) => metadata.name.startsWith(prefix))
  const lists = await Promise.all(namespaces.map(namespace => fixture.kube.list(type, { namespace })))
  return lists.flat()
}

/** Objects that the cluster itself creates in every namespace. */
function isTheClusters({ kind, metadata }: KubeObject): boolean {
  return metadata.name === 'kube-root-ca.crt' || (kind === 'ServiceAccount' && metadata.name === 'default')
}

export async function finalState(
  environment: Environment,
  compares: readonly ResourceType[],
  more: unknown,
): Promise<FinalState> {
  const [lists, tokens] = await Promise.all([
    Promise.all(compares.map(type => objectsOf(environment, type))),
    tokenLedger(environment),
  ])
  const state = new Map<string, string>()
  const plain = lists
    .flat()
    .filter(object => !isTheClusters(object) && object.metadata.namespace !== platformNamespace)
    .map(object => {
      const name = `${object.kind} ${object.metadata.namespace ?? ''}/${object.metadata.name}`
      return { name: String(plainValue(name, environment.prefix)), text: JSON.stringify(plainObject(object, environment.prefix)) }
    })
    // Sorted by plain names: the real ones contain hashes that differ between runs.
    .sort((a, b) => (`${a.name} ${a.text}` < `${b.name} ${b.text}` ? -1 : 1))
  // Two objects whose names differ only by a hash are two effects: both must appear.
  for (const [name, same] of Map.groupBy(plain, one => one.name))
    for (const [index, { text }] of same.entries()) state.set(index === 0 ? name : `${name} (${index + 1})`, text)
  for (const [name, value] of Object.entries(tokens))
    state.set(`tokens ${name}`, JSON.stringify(plainValue(value, environment.prefix)))
  state.set('more', JSON.stringify(plainValue(more, environment.prefix)))
  return Object.fromEntries(state)
}

/** One line for each difference; empty when the states are equal. */
export function differences(wanted: FinalState, found: FinalState): readonly string[] {
  const names = [...new Set([...Object.keys(wanted), ...Object.keys(found)])].sort()
  return names
    .filter(name => wanted[name] !== found[name])
    .map(name => `${name}\n      undisturbed: ${wanted[name] ?? 'absent'}\n      after crash: ${found[name] ?? 'absent'}`)
}
