// The start command of the process `web`.
// A plain `node file` starts without a shell, so that the program itself receives SIGTERM when its pod stops.
import type { PackageDescription } from './package-description.ts'

const conventionalFiles = ['server.js', 'index.js', 'server.mjs', 'index.mjs', 'server.ts', 'index.ts']

export type StartDecision =
  | { readonly ok: true; readonly command: readonly string[] }
  | { readonly ok: false; readonly problem: string }

/** `exists` takes paths relative to the app. Order: scripts.start, main, a conventional file name. */
export function decideStart({ start, main }: PackageDescription, exists: (path: string) => boolean): StartDecision {
  if (start !== undefined && start.trim() !== '') {
    const words = start.trim().split(/\s+/)
    const plain = words[0] === 'node' && words.length > 1 && words.every(word => /^[\w./:=@-]+$/.test(word))
    return { ok: true, command: plain ? words : ['sh', '-c', start] }
  }
  const file = [...(main === undefined ? [] : [main]), ...conventionalFiles].find(exists)
  if (file !== undefined) return { ok: true, command: ['node', file] }
  return { ok: false, problem: 'no start command found: set scripts.start in package.json, for example "node server.js"' }
}

/** launch.toml (CNB buildpack specification, "launch.toml" of API 0.10); JSON strings are valid TOML basic strings here. */
export function launchDescription(command: readonly string[]): string {
  return `[[processes]]\ntype = "web"\ncommand = ${JSON.stringify(command)}\ndefault = true\n`
}
