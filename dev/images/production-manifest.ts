// Removes everything for development from package.json and package-lock.json.
// `npm ci --omit=dev` first checks the whole lockfile and refuses one with optional packages of other systems (of linters, of
// compilers) that its registry did not have; what runs in production must not depend on those.
type Fields = Readonly<Record<string, unknown>>

export type Manifest = { readonly description: Fields; readonly lock: Fields }

export function productionManifest({ description, lock }: Manifest): Manifest {
  const packages = lock['packages'] as Readonly<Record<string, Fields>> | undefined
  const kept = Object.entries(packages ?? {})
    .filter(([, entry]) => entry['dev'] !== true)
    .map(([path, entry]) => [path, path === '' ? withoutDevelopment(entry) : entry] as const)
  return { description: withoutDevelopment(description), lock: { ...lock, packages: Object.fromEntries(kept) } }
}

function withoutDevelopment(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => name !== 'devDependencies' && name !== 'scripts'))
}
