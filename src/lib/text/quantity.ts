// Compares and writes the quantities that our kinds have: cores such as `500m` and `2`, bytes such as `512Mi` and `1Gi`,
// counts. Pure.
// Source: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/

/** In the smallest unit of each: thousandths of a core, or mebibytes. Both sides of a comparison must be of the same sort. */
export function amountOf(quantity: string): number {
  const [, digits = '', unit = ''] = /^([0-9]+)(m|Mi|Gi)?$/.exec(quantity) ?? []
  const factor = { m: 1, Mi: 1, Gi: 1024 }[unit] ?? 1000
  return Number(digits) * factor
}

/** Thousandths of a core as a quantity. */
export function coresText(thousandths: number): string {
  return thousandths % 1000 === 0 ? String(thousandths / 1000) : `${thousandths}m`
}

/** Mebibytes as a quantity. */
export function bytesText(mebibytes: number): string {
  return mebibytes > 0 && mebibytes % 1024 === 0 ? `${mebibytes / 1024}Gi` : `${mebibytes}Mi`
}

/** The quantity, or `most` when it is more. */
export function atMost(quantity: string, most: string): string {
  return amountOf(quantity) > amountOf(most) ? most : quantity
}

const binary = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi']
const decimal = ['m', '', 'k', 'M', 'G']

/**
 * As the API server stores it, with the largest suffix that leaves the number whole: `1024Mi` becomes `1Gi`, `1000m` becomes
 * `1`, `2000` becomes `2k`. An object that is written otherwise would differ from the stored one for ever, and be applied again
 * at every look.
 */
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
