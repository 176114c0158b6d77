// Reads, compares and writes quantities as Kubernetes does: cores such as `500m` and `2`, bytes such as `512Mi`, `1.5Gi` and
// `512M`, counts, exponents such as `1e3`; as a text or as a whole number. Pure.
// Source: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/

/** As it is written in an object. */
export type Quantity = string | number

const binary = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']
const decimal = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E']
/** Of `n`. */
const lowestExponent = -9

/** A quantity that is not negative, as a text; for RE2, too. */
export const quantityPattern = '^([0-9]+[.]?[0-9]*|[.][0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,2})?$'
const parts = /^([0-9]*)[.]?([0-9]*)(.*)$/
const whole = new RegExp(quantityPattern)

/** Thousandths, the finest that Kubernetes keeps of resources, which rounds up. */
type Amount = { readonly thousandths: bigint; readonly isBinary: boolean }

function dividedUp(value: bigint, divisor: bigint): bigint {
  return (value + divisor - 1n) / divisor
}

/** Undefined for what is not a quantity. */
function read(quantity: Quantity): Amount | undefined {
  const text = String(quantity)
  if (!whole.test(text)) return undefined
  const [, integer = '', fraction = '', suffix = ''] = parts.exec(text) ?? []
  const isBinary = suffix.endsWith('i')
  const isExponent = /^[eE]./.test(suffix)
  const exponent = isBinary ? 0 : isExponent ? Number(suffix.slice(1)) : decimal.indexOf(suffix) * 3 + lowestExponent
  const power = exponent - fraction.length + 3
  const digits = BigInt(integer + fraction) * (isBinary ? 1024n ** BigInt(binary.indexOf(suffix)) : 1n)
  const thousandths = power >= 0 ? digits * 10n ** BigInt(power) : dividedUp(digits, 10n ** BigInt(-power))
  return { thousandths, isBinary }
}

/** In thousandths of its unit, a core or a byte; 0 for what is not a quantity. */
export function amountOf(quantity: Quantity): number {
  return Number(read(quantity)?.thousandths ?? 0n)
}

/** Rounded up; 0 for what is not a quantity. */
export function mebibytesOf(quantity: Quantity): number {
  return Number(dividedUp(read(quantity)?.thousandths ?? 0n, 1000n * 1024n ** 2n))
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
export function atMost(quantity: Quantity, most: string): Quantity {
  return amountOf(quantity) > amountOf(most) ? most : quantity
}

/** With the largest suffix that leaves the number whole. */
function written(value: bigint, suffixes: readonly string[], base: bigint): string {
  let [left, index] = [value, 0]
  for (; left % base === 0n && index < suffixes.length - 1; index += 1) left /= base
  return `${left}${suffixes[index]}`
}

/**
 * As the API server stores it: `1024Mi` becomes `1Gi`, `1000m` becomes `1`, `2000` becomes `2k`, `1.5Gi` becomes `1536Mi`. An
 * object that is written otherwise would differ from the stored one for ever, and be applied again at every look.
 */
export function canonicalQuantity(quantity: Quantity): string {
  const amount = read(quantity)
  if (amount === undefined) return String(quantity)
  const { thousandths, isBinary } = amount
  if (thousandths === 0n) return '0'
  // Below 1024, and parts of a byte, the API server counts in tens.
  if (isBinary && thousandths >= 1_024_000n && thousandths % 1000n === 0n) return written(thousandths / 1000n, binary, 1024n)
  return written(thousandths, decimal.slice(decimal.indexOf('m')), 1000n)
}
