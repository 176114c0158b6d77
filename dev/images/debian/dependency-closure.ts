// Which packages a program needs, from the output of apt.
// A package that only brings documentation or scripts that no image runs is pruned, with everything that only it needs.

/** Package → its dependencies, from `apt-cache depends --recurse` (an unindented name, then indented relations). */
export function parseDependencies(text: string): ReadonlyMap<string, readonly string[]> {
  const graph = new Map<string, string[]>()
  let current: string[] | undefined
  for (const line of text.split('\n')) {
    if (/^\S/.test(line)) {
      current = []
      graph.set(line.trim(), current)
      continue
    }
    // `|Depends` marks all but the last of several alternatives; `<name>` is a virtual package.
    const relation = /^\s+\|?(?:Pre)?Depends: (\S+)$/.exec(line)?.[1]
    if (relation !== undefined && !relation.startsWith('<')) current?.push(relation)
  }
  return graph
}

/** Everything reachable from `roots` without entering `pruned`, sorted. */
export function dependencyClosure(
  graph: ReadonlyMap<string, readonly string[]>,
  roots: readonly string[],
  pruned: ReadonlySet<string>,
): readonly string[] {
  const seen = new Set<string>()
  const waiting = [...roots]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (seen.has(name) || pruned.has(name)) continue
    seen.add(name)
    waiting.push(...(graph.get(name) ?? []))
  }
  return [...seen].sort()
}

export type PackageFile = { readonly name: string; readonly fileName: string; readonly sha256: string }

/** The lines of `apt-get download --print-uris`: 'URL' FILE SIZE SHA256:HEX. */
export function parsePackageFiles(text: string): readonly PackageFile[] {
  return text.split('\n').flatMap(line => {
    const [, fileName, sha256] = /^'[^']+' (\S+) \d+ SHA256:([0-9a-f]{64})$/.exec(line.trim()) ?? []
    return fileName === undefined || sha256 === undefined ? [] : [{ name: fileName.split('_')[0] ?? fileName, fileName, sha256 }]
  })
}
