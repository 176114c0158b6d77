// The lock files of package managers: whose they are, and which version of the tool wrote them.
import { refuseConflict } from '../../shared/text-file.ts'

export type Lock = {
  readonly file: string
  readonly manager: string
  /** The version of its form, as it is written there; undefined where there is none. */
  readonly version: string | undefined
  readonly text: string
}

const owners = {
  'package-lock.json': 'npm',
  'npm-shrinkwrap.json': 'npm',
  'pnpm-lock.yaml': 'pnpm',
  'yarn.lock': 'yarn',
  'bun.lock': 'bun',
  'bun.lockb': 'bun',
  'deno.lock': 'deno',
} as const

/** Lock files of large workspaces have a few megabytes. */
const maxLockBytes = 67_108_864

const versions: Readonly<Record<string, RegExp>> = {
  npm: /"lockfileVersion"\s*:\s*(\d+)/,
  // https://github.com/pnpm/spec/tree/master/lockfile
  pnpm: /^lockfileVersion:\s*['"]?(\d+(?:\.\d+)?)/m,
  // Of yarn 2 and later; yarn 1 has a comment in its place.
  yarn: /^__metadata:\s*\n(?:\s+.*\n)*?\s+version:\s*['"]?(\d+)/m,
}

/** @throws BuildFailure when one has conflicts of a merge */
export function findLocks(read: (path: string, limit?: number) => string | undefined): readonly Lock[] {
  return Object.entries(owners).flatMap(([file, manager]) => {
    const text = read(file, maxLockBytes)
    if (text === undefined) return []
    refuseConflict(file, text, `resolve it, run "${manager} install" and commit ${file}`)
    return [{ file, manager, version: versions[manager]?.exec(text.replaceAll('\r\n', '\n'))?.[1], text }]
  })
}

/** The value behind a key at the top level of a YAML file, as it is written there, such as a setting of pnpm or yarn. */
export function settingOf(text: string | undefined, key: string): string | undefined {
  const line = new RegExp(`^["']?${key}["']?\\s*:[ \\t]*(.*)$`, 'm').exec(text ?? '')?.[1]
  return line
    ?.replace(/\s+#.*$/, '')
    .trim()
    .replace(/^(['"])(.*)\1$/, '$2')
}
