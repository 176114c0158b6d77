// Compares and writes the quantities that our kinds have: cores such as `500m` and `2`, bytes such as `512Mi` and `1Gi`. Pure.
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
