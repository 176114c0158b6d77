// Quantities in charts: written as the API server stores them, so that a second look finds no difference.
import { k8s } from 'cdk8s-plus-33'
import { canonicalQuantity, type Quantity } from '../../../lib/text/quantity.ts'

export function quantity(given: Quantity): k8s.Quantity {
  return k8s.Quantity.fromString(canonicalQuantity(given))
}
