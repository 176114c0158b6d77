// The user ids of tenants on the nodes. The kernel counts what a user has (epoll watches, inotify instances, message queues,
// pending signals) by its id on the node, whatever pod it is in: two tenants with one id could exhaust each other's. So each
// tenant has a range of its own, and ids that a pod names are moved into it. See
// docs/adr/0056-every-tenant-has-user-ids-of-its-own.md.

/** How many ids a range has: as many as an image can name, so that every id of an image has its place in every range. */
export const userRangeSize = 65_536

const firstOfAll = 2 ** 30
const endOfAll = 2 ** 31
/** How many tenants can have a range: ids below 2^30 belong to the node, and ids from 2^31 are negative to some programs. */
export const maxUserRanges = (endOfAll - firstOfAll) / userRangeSize

/** The id in an image whose place a pod gets that names none: the user of buildpack images, which owns their files. */
export const defaultImageUser = 1001

/** The first id of the range with this index, from 0 to `maxUserRanges` - 1. */
export function firstUserOf(index: number): number {
  return firstOfAll + index * userRangeSize
}

/** The index of the range that begins with this id; undefined for anything that no range begins with. */
export function rangeIndexOf(firstUser: number): number | undefined {
  const index = (firstUser - firstOfAll) / userRangeSize
  return Number.isInteger(index) && index >= 0 && index < maxUserRanges ? index : undefined
}

/** The first id of a range, as a label says it; undefined for any other text. */
export function firstUserIn(text: string): number | undefined {
  const first = /^[1-9]\d{0,9}$/.test(text) ? Number(text) : undefined
  return first === undefined || rangeIndexOf(first) === undefined ? undefined : first
}
