/** In yen. */
export const prices = { tea: 400, sweets: 250 }

export function inYen(amount) {
  return `¥${amount}`
}
