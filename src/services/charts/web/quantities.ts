// Quantities in charts: written as the API server stores them, so that a second look finds no difference.
import { k8s } from 'cdk8s-plus-33'
import { canonicalQuantity } from '../../../lib/text/quantity.ts'

export function quantity(text: string): k8s.Quantity {
  return k8s.Quantity.fromString(canonicalQuantity(text))
}

/** Of `128Mi` or `1Gi`. */
export function mebibytes(text: string): number {
  return Number.parseInt(text, 10) * (text.endsWith('Gi') ? 1024 : 1)
}
