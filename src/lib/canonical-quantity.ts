// Quantities as the API server stores them: `1024Mi` becomes `1Gi`, `1000m` becomes `1`, `2000` becomes `2k`. An object that is written otherwise
// would differ from the stored one for ever, and be applied again at every look. Pure.
// Source: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/ (canonical form)

const binary = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi']
const decimal = ['m', '', 'k', 'M', 'G']

/** The number with the largest suffix that leaves it whole. */
export function canonicalQuantity(text: string): string {
  const [, digits = '', suffix = ''] = /^([0-9]+)(m|Mi|Gi|Ti)?$/.exec(text) ?? []
  if (digits === '') return text
  const [suffixes, base] = binary.includes(suffix) ? [binary, 1024n] : [decimal, 1000n]
  let value = BigInt(digits)
  if (value === 0n) return '0'
  let index = suffixes.indexOf(suffix)
  for (; value % base === 0n && index < suffixes.length - 1; index += 1) value /= base
  return `${value}${suffixes[index]}`
}
