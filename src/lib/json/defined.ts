/** The keys of T whose values may be undefined are optional. */
type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/**
 * The fields that are not undefined, in their order: in objects of Kubernetes and in JSON an absent field and one that is
 * undefined are different.
 *
 * @example
 * const port = { number: 80, ...defined({ name }) }
 */
export function defined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>
}
