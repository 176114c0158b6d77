// Whether an object of one of these kinds controls another. Only the platform sets such owners (reserved-metadata), and
// Kubernetes lets an object have one controlling owner.
import type { KindDefinition } from '../../api/kind.ts'
import { type JsonObject, objectAt, objectsAt, textAt } from '../../lib/json/json-value.ts'
import { celText } from '../rule.ts'

export function isControlledBy(kinds: readonly KindDefinition[], object: JsonObject | undefined): boolean {
  return objectsAt(objectAt(object, 'metadata'), 'ownerReferences').some(
    owner =>
      owner['controller'] === true &&
      kinds.some(
        ({ group, kind }) => textAt(owner, 'kind') === kind && textAt(owner, 'apiVersion')?.startsWith(`${group}/`) === true,
      ),
  )
}

/** The CEL twin of `isControlledBy`. */
export function isControlledByExpression(kinds: readonly KindDefinition[], object: string): string {
  const owners = kinds.map(
    ({ group, kind }) => `(o.kind == ${celText(kind)} && o.apiVersion.startsWith(${celText(`${group}/`)}))`,
  )
  return `${object}.metadata.?ownerReferences.orValue([]).exists(o, o.?controller.orValue(false) && (${owners.join(' || ')}))`
}
