// Which RuntimeClass a pod of a tenant runs with, in CEL: the labels of the namespace say it, which only the Tenant controller
// writes.
import { isolatedRuntimeTolerationsAnnotation, labels, runtimeTolerationsAnnotation } from '../../../api/names.ts'
import { celText } from '../../rule.ts'

type Variable = { readonly name: string; readonly expression: string }

const ofNamespace = (field: 'labels' | 'annotations', key: string): string =>
  `namespaceObject.metadata.?${field}[?${celText(key)}]`

/**
 * `class` is the class, empty for the nodes' own runtime, and `classTolerations` are the tolerations that Kubernetes adds to
 * its pods, as texts. `metadata` is CEL for the metadata of the pod or of the template.
 */
export function runtimeClassOfPod(metadata: string): readonly Variable[] {
  const chosen = (field: 'labels' | 'annotations', own: string, isolated: string): string =>
    `variables.isolated ? ${ofNamespace(field, isolated)}.orValue(${ofNamespace(field, own)}.orValue('')) : ${ofNamespace(field, own)}.orValue('')`
  return [
    { name: 'isolated', expression: `${celText(labels.isolated)} in ${metadata}.?labels.orValue({})` },
    { name: 'class', expression: chosen('labels', labels.runtimeClass, labels.isolatedRuntimeClass) },
    {
      name: 'classTolerations',
      expression: `(${chosen('annotations', runtimeTolerationsAnnotation, isolatedRuntimeTolerationsAnnotation)}).split(',')`,
    },
  ]
}

/** CEL: the toleration `t` as the Tenant controller writes those of a class (`tolerationText`). */
export const tolerationExpression =
  "t.?key.orValue('') + '|' + (t.?operator.orValue('') == '' ? 'Equal' : t.operator) + '|' + t.?value.orValue('') + '|' + t.?effect.orValue('')"
