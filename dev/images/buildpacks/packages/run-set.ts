// Which of the fetched packages the app needs when it runs. Pure. Headers and compilers are for the build alone; of a package of
// headers (Debian's section libdevel) the libraries that it depends on are needed, because programs were linked with them.

/** Fields of deb-control(5). */
export type PackageFields = {
  readonly name: string
  readonly section: string
  /** As in the fields Depends and Pre-Depends, joined by a comma. */
  readonly depends: string
  readonly provides: string
}

/** The names of packages below `roots` without those of the build. `packages` are those that were fetched. */
export function runSet(packages: readonly PackageFields[], roots: readonly string[]): ReadonlySet<string> {
  const byName = new Map<string, PackageFields>()
  for (const one of packages) for (const name of [...namesIn(one.provides), one.name]) byName.set(name, one)
  const seen = new Set<string>()
  const needed = new Set<string>()
  const waiting = [...roots]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const found = byName.get(name)
    if (found === undefined || seen.has(found.name)) continue
    seen.add(found.name)
    const section = found.section.split('/').at(-1)
    if (section === 'devel') continue
    if (section !== 'libdevel') needed.add(found.name)
    waiting.push(...namesIn(found.depends))
  }
  return needed
}

/** All alternatives: what was not fetched is not in the map. */
function namesIn(relations: string): readonly string[] {
  return relations.split(/[,|]/).flatMap(relation => /^\s*([a-z0-9][a-z0-9+.-]+)/.exec(relation)?.[1] ?? [])
}
