// Quantities as the API server stores them: `1024Mi` becomes `1Gi`, `1000m` becomes `1`. An object that is rendered otherwise would differ from
// the stored one for ever, and be applied again at every look.
// Source: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/ (canonical form)
import { k8s } from 'cdk8s-plus-33'

const binary = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi']
const decimal = ['m', '', 'k', 'M', 'G']

/** The number with the largest suffix that leaves it whole. */
export function canonical(text: string): string {
  const [, digits = '', suffix = ''] = /^([0-9]+)(m|Mi|Gi|Ti)?$/.exec(text) ?? []
  if (digits === '') return text
  const [suffixes, base] = binary.includes(suffix) ? [binary, 1024n] : [decimal, 1000n]
  let value = BigInt(digits)
  if (value === 0n) return '0'
  let index = suffixes.indexOf(suffix)
  for (; value % base === 0n && index < suffixes.length - 1; index += 1) value /= base
  return `${value}${suffixes[index]}`
}

export function quantity(text: string): k8s.Quantity {
  return k8s.Quantity.fromString(canonical(text))
}

/** Of `128Mi` or `1Gi`. */
export function mebibytes(text: string): number {
  return Number.parseInt(text, 10) * (text.endsWith('Gi') ? 1024 : 1)
}
