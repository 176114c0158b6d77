// Which volume a PersistentVolumeClaim asks for, in TypeScript and in CEL: for claims themselves and for the templates that
// become claims. Sources: https://kubernetes.io/docs/concepts/storage/persistent-volumes/#reserving-a-persistentvolume and, for
// the order in which annotation and field are read, GetPersistentVolumeClaimClass (component-helpers/storage/volume).
import { type JsonObject, objectAt, textAt } from '../../../lib/json/json-value.ts'
import { celText } from '../../rule.ts'

/** Names the class in place of the field; an empty one means volumes without a class here, too. */
const classAnnotation = 'volume.beta.kubernetes.io/storage-class'

/** The fields by which a claim chooses, for messages. */
export const choosingFields = `volumeName, selector, an empty storageClassName (or annotation ${classAnnotation}), or a dataSourceRef to another namespace`

/** `spec.volumeName`; empty when there is none. */
export function namedVolume(claim: JsonObject | undefined): string {
  return textAt(objectAt(claim, 'spec'), 'volumeName') ?? ''
}

/** True for a claim that chooses among volumes of others by something else than their name. */
export function choosesVolume(claim: JsonObject | undefined): boolean {
  const spec = objectAt(claim, 'spec')
  return (
    spec?.['selector'] !== undefined ||
    spec?.['storageClassName'] === '' ||
    objectAt(claim, 'metadata', 'annotations')?.[classAnnotation] === '' ||
    (textAt(objectAt(spec, 'dataSourceRef'), 'namespace') ?? '') !== ''
  )
}

/** The CEL twin of `namedVolume`; `claim` is a dynamic value. */
export function namedVolumeExpression(claim: string): string {
  return `${claim}.?spec.?volumeName.orValue('')`
}

/** The CEL twin of `choosesVolume`; `claim` is a dynamic value. */
export function choosesVolumeExpression(claim: string): string {
  return [
    `${claim}.?spec.?selector.hasValue()`,
    `${claim}.?spec.?storageClassName.orValue('default') == ''`,
    `${claim}.?metadata.?annotations[?${celText(classAnnotation)}].orValue('default') == ''`,
    `${claim}.?spec.?dataSourceRef.?namespace.orValue('') != ''`,
  ].join(' || ')
}
