// @peculiar/x509 registers its algorithms with tsyringe, which requires the metadata functions of the old decorator proposal
// (https://rbuckton.github.io/reflect-metadata/). These are the three that it calls, over one weak map. Imported for its side
// effect, before the library and only by certificate-authority.ts. It does not replace functions that exist already.

type Target = object
type MetadataReflect = {
  getMetadata?: (key: string, target: Target) => unknown
  getOwnMetadata?: (key: string, target: Target) => unknown
  defineMetadata?: (key: string, value: unknown, target: Target) => void
}

const reflect: typeof Reflect & MetadataReflect = Reflect
if (reflect.getMetadata === undefined) {
  const kept = new WeakMap<Target, Map<string, unknown>>()
  const own = (key: string, target: Target): unknown => kept.get(target)?.get(key)
  reflect.getOwnMetadata = own
  reflect.getMetadata = (key, target) => {
    for (let at: Target | null = target; at !== null; at = Object.getPrototypeOf(at)) {
      const value = own(key, at)
      if (value !== undefined) return value
    }
    return undefined
  }
  reflect.defineMetadata = (key, value, target) => {
    const values = kept.get(target) ?? new Map<string, unknown>()
    kept.set(target, values.set(key, value))
  }
}
