// Which files of this repository a file uses: those that it imports, and those that it names to start them as programs. Read
// from the text, because the answer decides what runs and must be there at once; imports of types are left out, because they
// are gone when a test runs.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** Answers for one state of the files; paths are relative to the repository. */
export type Imports = {
  /** The files that a file itself names. */
  readonly direct: (file: string) => readonly string[]
  /**
   * All files that it uses, itself included, each with the number of steps to it. Files of which `ends` is true are in it, but
   * not what they use.
   */
  readonly reach: (file: string, ends?: (file: string) => boolean) => ReadonlyMap<string, number>
}

const typesOnly = /^(?:import|export) type [^']*? from '[^']+'/gm
/** `'./x.ts'` beside the file, `'src/x.ts'` from the root. */
const named = /'((?:\.{1,2}|src|dev|test)\/[^'\n]+\.ts)'/g

/** Programs that a file starts by what a manifest or an image says of them. */
const startedByManifest: Readonly<Record<string, readonly string[]>> = {
  'test/platform/process-plans.ts': [
    'src/standalone.ts',
    'src/admission/main.ts',
    'src/broker/main.ts',
    'src/controllers/main.ts',
    'src/data-services/main.ts',
  ],
}

/** Each file is read once, when somebody asks for it. Files that do not exist use nothing. */
export function createImports(repository: string): Imports {
  const known = new Map<string, readonly string[]>()

  function direct(file: string): readonly string[] {
    const found = known.get(file) ?? read(file)
    known.set(file, found)
    return found
  }

  function read(file: string): readonly string[] {
    const path = join(repository, file)
    if (!existsSync(path)) return []
    const text = readFileSync(path, 'utf8').replaceAll(typesOnly, '')
    const names = [...text.matchAll(named)].flatMap(match => match[1] ?? [])
    const files = names.map(name => (name.startsWith('.') ? normalize(join(dirname(file), name)) : name))
    files.push(...(startedByManifest[file] ?? []))
    return [...new Set(files)].filter(one => one !== file && existsSync(join(repository, one)))
  }

  function reach(file: string, ends: (file: string) => boolean = () => false): ReadonlyMap<string, number> {
    const steps = new Map([[file, 0]])
    // A map's iterator goes on to what is added meanwhile, so this is a search by breadth.
    for (const [one, distance] of steps) {
      if (distance > 0 && ends(one)) continue
      for (const next of direct(one)) if (!steps.has(next)) steps.set(next, distance + 1)
    }
    return steps
  }

  return { direct, reach }
}
